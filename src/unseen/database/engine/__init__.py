"""The store's engine in processes of its own, where nothing that a client sends can do harm.

`operations` is what is asked of a store, wherever it is open. `reader` and `writer` are what the processes run: they
import pyoxigraph and little else, and start in a tenth of a second. `child` is how they begin and end, `frames` how
they are spoken to, `process` starts and ends them. `process_triples` is the writer as `Triples`.
"""

"""Graphs in files: `readers.read_graph` takes any of the known formats, `writers.write_graph` makes one."""

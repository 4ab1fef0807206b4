"""Checks a method on a graph: hides some facts and asks several methods for them.

```python
import unseen

found = unseen.check(unseen.load("countries"), methods=["rules", "edge-type"], facts=5)
for row in found.rows:
    print(row.relation, row.tried, row.scores["rules"].hits_at_10, row.best)
```
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from unseen.api import check_memory, default_method, open_method
from unseen.evaluation.graph_check import CheckOptions, GraphCheck
from unseen.logic.stopping import check_stop
from unseen.rules.opening import use_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.evaluation.check_result import CheckResult
    from unseen.evaluation.graph_check import Opener, Progress, SpreadCheck
    from unseen.graph import KnowledgeGraph
    from unseen.logic.method import Method
    from unseen.rules.rule_set import Rules

RULES = "rules"
SMALL = 100_000
"""Triples up to which a graph is mined with 100 samples, however long that takes."""
MINING = 0.3
"""Of the time that is left, how much rules of a large graph are mined."""


def check(
    graph: KnowledgeGraph,
    *,
    methods: Sequence[str] | None = None,
    facts: int = 20,
    seconds: float = 120.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> CheckResult:
    """How well methods find facts of a graph that are hidden from them, relation by relation.

    At most `facts` of each relation are hidden, as far as `seconds` allow. `methods` are
    names as in `ask`; by default the default method, `rules` and `edge-type`. The same seed hides the same facts.
    """
    running = opened_check(graph, methods, CheckOptions(facts, seconds, seed), progress)
    running.run()
    return running.result()


def opened_check(
    graph: KnowledgeGraph,
    methods: Sequence[str] | None = None,
    options: CheckOptions | None = None,
    progress: Progress | None = None,
    spread: SpreadCheck | None = None,
) -> GraphCheck:
    """A check that is ready to run; `result` gives what it has found, also when `run` was interrupted."""
    names = list(dict.fromkeys(methods or default_methods()))
    mining = _Mining()
    openers: dict[str, Opener] = {name: _opener(name, mining) for name in names}
    return GraphCheck(graph, openers, options or CheckOptions(), progress, spread)


def default_methods() -> list[str]:
    """The methods that are compared where none is named."""
    return list(dict.fromkeys([default_method(), RULES, "edge-type"]))


def _opener(name: str, mining: _Mining) -> Opener:
    """How a method is made ready for each graph with hidden facts; one that does not exist is an error now."""
    if name == RULES:
        return mining.method
    return partial(_ready, open_method(name), mining)


def _ready(method: Method, mining: _Mining, graph: KnowledgeGraph, seconds: float) -> Method:
    """A method that takes a graph as it is; one that can use mined rules is given those of this graph."""
    check_memory(method, graph)
    if hasattr(getattr(method, "method", method), "rules_of"):
        use_rules(graph, mining.rules(graph, seconds))
    return method


class _Mining:
    """Rules of the graph without the hidden facts, mined once for all methods that use them."""

    def __init__(self) -> None:
        self._graph: KnowledgeGraph | None = None
        self._rules: Rules | None = None

    def rules(self, graph: KnowledgeGraph, seconds: float) -> Rules:
        """The rules of a graph, independent of those of other graphs."""
        from unseen.rules.mining import mine

        if self._rules is None or self._graph is not graph:
            limit = None if graph.num_triples <= SMALL else max(1.0, MINING * seconds)
            self._rules = mine(graph, seconds=limit, progress=lambda _label, _done, _total: check_stop())
            self._graph = graph
        return self._rules

    def method(self, graph: KnowledgeGraph, seconds: float) -> Method:
        """The method `rules` with these rules."""
        from unseen.methods.mined_rules import MinedRules

        use_rules(graph, self.rules(graph, seconds))
        return MinedRules()

"""unseen: logical questions over knowledge graphs that are incomplete and keep growing.

`load` a graph, `ask` a question, `score` a statement, `check` whether predictions hold, `evaluate` a method,
`connect` to a server.
Everything else is in the subpackages `graph`, `logic`, ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unseen.errors import UnseenError
from unseen.version import __version__

if TYPE_CHECKING:
    from unseen.api import ask, evaluate, load, open_method
    from unseen.asking.answers import Answer, Answers
    from unseen.checking import check
    from unseen.client import connect
    from unseen.graph import KnowledgeGraph
    from unseen.scoring.scores import Score, Scores
    from unseen.scoring.statement_scores import score

__all__ = [
    "Answer",
    "Answers",
    "KnowledgeGraph",
    "Score",
    "Scores",
    "UnseenError",
    "__version__",
    "ask",
    "check",
    "connect",
    "evaluate",
    "load",
    "open_method",
    "score",
]

_HOMES = dict.fromkeys(("ask", "evaluate", "load", "open_method"), "unseen.api") | {
    "Answer": "unseen.asking.answers",
    "Answers": "unseen.asking.answers",
    "KnowledgeGraph": "unseen.graph",
    "check": "unseen.checking",
    "connect": "unseen.client",
    "Score": "unseen.scoring.scores",
    "Scores": "unseen.scoring.scores",
    "score": "unseen.scoring.statement_scores",
}


def __getattr__(name: str) -> Any:
    """Import the short door when it is first used, so that `import unseen` alone costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'unseen' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)

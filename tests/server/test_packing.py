"""What may travel between a server and its replicas."""

from __future__ import annotations

import os
import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest

from unseen.errors import QueryError
from unseen.graph import KnowledgeGraph
from unseen.server.replicas.packing import Failure, packed, unpacked


class Command:
    """Something that runs when it is unpacked by a reader without care."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __reduce__(self) -> Any:
        return self.function, ("true",)


def test_a_graph_becomes_the_one_at_the_other_end() -> None:
    here, there = (KnowledgeGraph.from_triples([("a", "r", "b")]) for _ in range(2))
    content = {"graph": here, "numbers": np.arange(3), "counts": Counter("aab")}
    found = unpacked(packed(content), there)
    assert found["graph"] is there
    assert (found["numbers"].tolist(), found["counts"]) == ([0, 1, 2], {"a": 2, "b": 1})


def test_an_error_says_the_same_at_the_other_end() -> None:
    made = unpacked(packed(Failure.of(QueryError("no such relation")))).error()
    assert (type(made), str(made)) == (QueryError, "no such relation")
    assert "ZeroDivisionError" in str(unpacked(packed(Failure.of(ZeroDivisionError()))).error())


@pytest.mark.parametrize("function", [os.system, eval, getattr, __import__])
def test_nothing_is_run(function: Any) -> None:
    with pytest.raises(pickle.UnpicklingError, match="does not travel"):
        unpacked(pickle.dumps(Command(function)))

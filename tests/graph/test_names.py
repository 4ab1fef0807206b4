"""Names of many ids at once."""

from __future__ import annotations

from unseen.graph.arrow_arrays import text_array
from unseen.graph.names import Names
from unseen.graph.prefixes import Prefixes


def test_many_names_at_once_are_those_of_each() -> None:
    keys = text_array(["http://example.org/a", "plain", "http://example.org/b"])
    for labels in (None, text_array([None, "readable", None])):
        names = Names("entity", keys, labels, Prefixes({"ex": "http://example.org/"}))
        assert names.named([2, 1, 1, 0]) == [(names.name(i), names.key(i)) for i in (2, 1, 1, 0)]
        assert names.named([]) == []

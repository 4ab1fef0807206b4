"""Triples out of long bodies, read one by one, are those that a whole reading gives."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.server import triples_body
from unseen.server.problems import Problem
from unseen.server.triples_body import triples_in

NAMES = st.text(min_size=1, max_size=8)
TRIPLES = st.lists(st.tuples(NAMES, NAMES, NAMES), min_size=1, max_size=5)


@given(TRIPLES, st.booleans(), st.sampled_from([None, 1]))
def test_both_ways_of_reading_agree(triples: list[tuple[str, str, str]], ascii_only: bool, indent: int | None) -> None:
    body = json.dumps({"triples": triples}, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    try:
        whole = triples_in(body, 100)
    except Problem:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(triples_body, "LONGEST_WHOLE", 0)
        assert triples_in(body, 100) == whole == triples


@pytest.mark.parametrize(
    "body",
    [
        "", "{}", "[]", "{", '{"triples": []}', '{"triples": [[]]}', '{"triples": [["a", "b"]]}', '{"triples": 1}',
        '{"triples": [["a", "b", "c"]', '{"triples": [["a", "b", "c"],]}', '{"triples": [["a", "b", ""]]}',
        '{"triples": [["a", "b", 1]]}', '{"triples": [["a", "b", "c"]], "x": 1}', '{"triples": [["a", "b", "\\x"]]}',
        '{"triples": [["a", "b", "c"]]} x', '{"triples": [["a", "b", "c", "d"]]}',
        '{"triples": [["a", "b", "c"], ["a", "b", "c"], ["a", "b", "c"]]}',
    ],
)  # fmt: skip
@pytest.mark.parametrize("whole", [0, 1000])
def test_what_is_no_list_of_triples_is_refused(body: str, whole: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triples_body, "LONGEST_WHOLE", whole)
    with pytest.raises(Problem) as caught:
        triples_in(body.encode(), 2)
    assert caught.value.status == 400

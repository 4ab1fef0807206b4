"""Triples out of a JSON body, `{"triples": [["Atlantis", "borders", "France"], ...]}`, however long it is.

Python's decoder reads a body in one call that nothing can interrupt, and builds whatever is in it. A long body is
therefore read triple by triple, in the one shape that it must have.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from unseen.server.body_check import checked
from unseen.server.problems import Problem, bad_request
from unseen.server.requests import json_in
from unseen.server.schemas import NAME, TRIPLES_REQUEST

if TYPE_CHECKING:
    Triple = tuple[str, str, str]

LONGEST_WHOLE = 256 << 10
"""Bytes that are read in one call."""
_SPACE = r"[ \t\r\n]*+"
_TEXT = r'"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+"'
_BEGIN = re.compile(rf'{_SPACE}\{{{_SPACE}"triples"{_SPACE}:{_SPACE}\[')
_TRIPLE = re.compile(
    rf"{_SPACE}(\[{_SPACE}{_TEXT}{_SPACE},{_SPACE}{_TEXT}{_SPACE},{_SPACE}{_TEXT}{_SPACE}\]){_SPACE}([,\]])"
)
_END = re.compile(rf"{_SPACE}\}}{_SPACE}\Z")


def triples_in(body: bytes, most: int) -> list[Triple]:
    """The triples of a body; an error if there are more than allowed or it has another shape."""
    if len(body) <= LONGEST_WHOLE:
        triples = [tuple(triple) for triple in checked(TRIPLES_REQUEST, json_in(body))["triples"]]
        if len(triples) > most:
            raise _too_many(most)
        return triples
    try:
        return _read(body.decode("utf-8"), most)
    except UnicodeDecodeError:
        raise bad_request("the body is not UTF-8 text") from None


def _read(text: str, most: int) -> list[Triple]:
    begin = _BEGIN.match(text)
    if begin is None:
        raise bad_request('the body must be {"triples": [...]} and nothing else', "bad_json")
    triples: list[Triple] = []
    position, sign = begin.end(), ","
    while sign == ",":
        if len(triples) == most:
            raise _too_many(most)
        match = _TRIPLE.match(text, position)
        if match is None:
            raise _no_triple(len(triples))
        triples.append(_names(match[1], len(triples)))
        position, sign = match.end(), match[2]
    if _END.match(text, position) is None:
        raise bad_request("the body must end after the list of triples", "bad_json")
    return triples


def _names(text: str, index: int) -> Triple:
    try:
        head, relation, tail = json.loads(text)
    except ValueError:  # an escape that JSON does not have
        raise _no_triple(index) from None
    for name in (head, relation, tail):
        if not NAME["minLength"] <= len(name) <= NAME["maxLength"]:
            raise bad_request(f"triples.{index}: a name has 1 to {NAME['maxLength']:,} characters", "bad_json")
    return head, relation, tail


def _no_triple(index: int) -> Problem:
    return bad_request(f"triples.{index}: Input should be a list of three strings", "bad_json")


def _too_many(most: int) -> Problem:
    return bad_request(f"at most {most:,} triples a request; send several")

"""SPARQL Update with a trace: the same update, and in the same transaction a list of the statements it touches.

pyoxigraph does not say what an update has changed. So every operation also writes the statements of the default graph
that it may add or remove into a graph of our own, `TOUCHED`; whoever reads it afterwards looks up which of them are
there now. An operation for which this cannot be done by rewriting its text (CLEAR DEFAULT, blank nodes without a label,
a variable graph, ...) writes that anything may have changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from unseen.errors import QueryRefused
from unseen.logic.sparql.words import Token, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

TOUCHED = "urn:unseen-store:touched"
ANYTHING = "urn:unseen-store:anything"
ANYTHING_CHANGED = f"INSERT DATA {{ GRAPH <{TOUCHED}> {{ <{ANYTHING}> <{ANYTHING}> <{ANYTHING}> }} }}"
"""The operation that says: whatever the update did, look at everything again."""
_SAFE_ON_NAMED = ("CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY")


@dataclass(frozen=True)
class TracedUpdate:
    """An update that traces itself; `names_graphs` says whether it may change other graphs than the default one."""

    text: str
    names_graphs: bool


def traced(text: str, using: Sequence[str] = ()) -> TracedUpdate:
    """The update with its trace; `using` are USING clauses to put before every WHERE."""
    tokens = list(tokens_of(text))
    words = [_word(token) for token in tokens]
    operations = _operations(tokens)
    names_graphs = any(word in ("GRAPH", "WITH", "NAMED", *_SAFE_ON_NAMED) for word in words)
    if _has_variable_graph(tokens) or not all(_Operation(text, part).is_traceable for part in operations):
        whole = _assembled(text, [(part, _Operation(text, part).with_using(using)) for part in operations])
        return TracedUpdate(f"{whole}\n;\n{ANYTHING_CHANGED}" if operations else whole, names_graphs)
    pairs = [(part, _Operation(text, part).rewritten(using)) for part in operations]
    return TracedUpdate(_assembled(text, pairs), names_graphs)


class _Operation:
    """One operation of an update: its tokens, and the blocks among them."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text, self.tokens = text, tokens
        self.words = [_word(token) for token in tokens]
        self.blocks = _blocks(tokens)

    @property
    def is_traceable(self) -> bool:
        """Whether a rewritten text can say what it touches."""
        first = self.words[0]
        if first in _SAFE_ON_NAMED:
            return not {"DEFAULT", "ALL"} & set(self.words)
        if first not in ("INSERT", "DELETE", "WITH"):
            return False
        templates = [self._block_text(name) for name in self.blocks if name != "WHERE"]
        return "<<" not in self.text and not any(sign in text for text in templates for sign in "[(")

    def with_using(self, using: Sequence[str]) -> str:
        """The text with USING clauses before its WHERE."""
        if not using or "WHERE" not in self.blocks or self.words[:2] == ["DELETE", "WHERE"]:
            return self._slice()
        if {"USING", "WITH"} & set(self.words):
            raise QueryRefused("the update has USING or WITH itself, and the request names graphs to use")
        where = self.tokens[self.blocks["WHERE"][0]].position
        if (before := self.tokens[self.blocks["WHERE"][0] - 1]).text.upper() == "WHERE":
            where = before.position
        clauses = " ".join(f"USING {clause}" for clause in using)
        return f"{self.text[self._start : where]} {clauses} {self.text[where : self._end]}"

    def rewritten(self, using: Sequence[str]) -> str:
        """The text that also writes what it touches."""
        if self.words[0] in _SAFE_ON_NAMED or self.words[0] == "WITH":
            return self.with_using(using)
        match self.words[:2]:
            case ["INSERT", "DATA"]:
                return self._with_copy("DATA", self._plain("DATA"))
            case ["DELETE", "DATA"]:
                return f"INSERT DATA {{ {_copy(self._plain('DATA'))} }} ;\n{self._slice()}"
            case ["DELETE", "WHERE"]:
                pattern = self._block_text("WHERE")
                return f"INSERT {{ {_copy(self._plain('WHERE'))} }} WHERE {{ {pattern}\n}} ;\n{self._slice()}"
        return self._modified(using)

    def _modified(self, using: Sequence[str]) -> str:
        """DELETE and INSERT with WHERE: whatever either template makes is copied by the INSERT."""
        touched = " .\n".join(filter(None, (self._plain(name) for name in ("DELETE", "INSERT") if name in self.blocks)))
        if "INSERT" in self.blocks:
            whole = self._with_copy("INSERT", touched)
        else:
            end = self.tokens[self.blocks["DELETE"][1]].position + 1
            whole = f"{self.text[self._start : end]} INSERT {{ {_copy(touched)} }} {self.text[end : self._end]}"
        return _Operation(whole, list(tokens_of(whole))).with_using(using)

    def _with_copy(self, block: str, touched: str) -> str:
        end = self.tokens[self.blocks[block][1]].position
        return f"{self.text[self._start : end]}\n{_copy(touched)} {self.text[end : self._end]}"

    def _plain(self, block: str) -> str:
        """The triples of a block that stand outside of GRAPH, each piece without dots around it."""
        first, last = self.blocks[block]
        pieces: list[list[Token]] = [[]]
        position = first + 1
        while position < last:
            if self.words[position] == "GRAPH":
                position = _closing(self.tokens, position + 2) + 1
                pieces.append([])
            else:
                pieces[-1].append(self.tokens[position])
                position += 1
        return " .\n".join(filter(None, (self._piece(piece) for piece in pieces)))

    def _piece(self, tokens: list[Token]) -> str:
        while tokens and tokens[0].text == ".":
            tokens = tokens[1:]
        while tokens and tokens[-1].text == ".":
            tokens = tokens[:-1]
        if not tokens:
            return ""
        piece = self.text[tokens[0].position : tokens[-1].position + len(tokens[-1].text)]
        return piece.removesuffix(".") if tokens[-1].kind == "number" else piece

    def _block_text(self, block: str) -> str:
        first, last = self.blocks[block]
        return self.text[self.tokens[first].position + 1 : self.tokens[last].position]

    @property
    def _start(self) -> int:
        return self.tokens[0].position

    @property
    def _end(self) -> int:
        return self.tokens[-1].position + len(self.tokens[-1].text)

    def _slice(self) -> str:
        return self.text[self._start : self._end]


def _copy(touched: str) -> str:
    return f"GRAPH <{TOUCHED}> {{ {touched}\n}}"


def _word(token: Token) -> str:
    return token.text.upper() if token.kind == "word" else ""


def _operations(tokens: list[Token]) -> list[list[Token]]:
    """The tokens of each operation, without PREFIX and BASE before it and the semicolon after it."""
    operations: list[list[Token]] = [[]]
    depth = 0
    for token in _without_declarations(tokens):
        depth += {"{": 1, "}": -1}.get(token.text, 0) if token.kind == "bracket" else 0
        if token.text == ";" and depth == 0:
            operations.append([])
        else:
            operations[-1].append(token)
    return [operation for operation in operations if operation]


def _without_declarations(tokens: list[Token]) -> list[Token]:
    kept, depth, position = [], 0, 0
    while position < len(tokens):
        word = _word(tokens[position]) if depth == 0 else ""
        if word in ("PREFIX", "BASE"):
            position += 3 if word == "PREFIX" else 2
            continue
        depth += {"{": 1, "}": -1}.get(tokens[position].text, 0) if tokens[position].kind == "bracket" else 0
        kept.append(tokens[position])
        position += 1
    return kept


def _blocks(tokens: list[Token]) -> dict[str, tuple[int, int]]:
    """Where the outermost { } are, by the word before them; a bare one after the others is the WHERE."""
    blocks: dict[str, tuple[int, int]] = {}
    position = 0
    while position < len(tokens):
        if tokens[position].text == "{" and tokens[position].kind == "bracket":
            last = _closing(tokens, position)
            word = _word(tokens[position - 1]) if position else ""
            blocks[word if word in ("DATA", "DELETE", "INSERT") else "WHERE"] = (position, last)
            position = last
        position += 1
    return blocks


def _closing(tokens: list[Token], position: int) -> int:
    """Where the bracket that opens at `position` is closed."""
    depth = 0
    for index in range(position, len(tokens)):
        if tokens[index].kind == "bracket":
            depth += {"{": 1, "}": -1}.get(tokens[index].text, 0)
            if depth == 0:
                return index
    return len(tokens) - 1


def _has_variable_graph(tokens: list[Token]) -> bool:
    return any(_word(token) == "GRAPH" and following.kind == "variable" for token, following in pairwise(tokens))


def _assembled(text: str, pairs: Sequence[tuple[list[Token], str]]) -> str:
    """The text with every operation replaced, and everything between them as it was."""
    pieces, position = [], 0
    for tokens, replacement in pairs:
        pieces += [text[position : tokens[0].position], replacement]
        position = tokens[-1].position + len(tokens[-1].text)
    return "".join([*pieces, text[position:]])

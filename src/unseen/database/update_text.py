"""SPARQL Update with a trace: the same update, and in the same transaction a list of the statements it touches.

pyoxigraph does not say what an update has changed. So every operation also writes the statements of the default graph
that it may add or remove into a graph of our own, `TOUCHED`; whoever reads it afterwards looks up which of them are
there now. An operation for which this cannot be done by rewriting its text (CLEAR DEFAULT, blank nodes without a label,
a variable graph, ...) writes that anything may have changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from unseen.database.guard import unclear_comparison
from unseen.database.reserved import ANYTHING, RESERVED, STATE, TOUCHED
from unseen.errors import QueryRefused
from unseen.logic.sparql.words import Token, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

ANYTHING_CHANGED = f"INSERT DATA {{ GRAPH <{TOUCHED}> {{ <{ANYTHING}> <{ANYTHING}> <{ANYTHING}> }} }}"
"""The operation that says: whatever the update did, look at everything again."""
_STATE_HIDDEN = f"DROP SILENT GRAPH <{STATE}>"
"""The operation that hides our numbers from the rest of the update, after which they are written again."""
_ALWAYS_FAILS = f"DROP GRAPH <{RESERVED}nothing> ; "
_MANAGEMENT = ("CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY")
_FOLLOWED = re.compile(
    """
    (?:INSERT|DELETE) [ ] DATA [ ] {}
  | DELETE [ ] WHERE [ ] {}
  | (?:WITH [ ] I [ ])? (?:DELETE [ ] {} (?:[ ] INSERT [ ] {})? | INSERT [ ] {})
    (?:[ ] USING (?:[ ] NAMED)? [ ] I)* (?:[ ] WHERE)? [ ] {}
  | (?:CLEAR|DROP|CREATE) (?:[ ] SILENT)? [ ] GRAPH [ ] I
  | (?:ADD|MOVE|COPY) (?:[ ] SILENT)? (?:[ ] GRAPH)? [ ] I [ ] TO (?:[ ] GRAPH)? [ ] I
    """,
    re.VERBOSE,
)
"""Operations that can be followed: their words outside of brackets, `I` for an IRI, `{}` for a group."""
_WORDS_IN_TEMPLATES = {"GRAPH", "A", "TRUE", "FALSE"}
_SIGNS_IN_TEMPLATES = set(".,;^+-")


@dataclass(frozen=True)
class TracedUpdate:
    """An update that traces itself; `names_graphs` says whether it may change other graphs than the default one.

    The text ends with an operation, so that others can follow after a semicolon.
    """

    text: str
    names_graphs: bool

    @property
    def makes_graph_anew(self) -> bool:
        """Whether it may touch anything, so that the graph is rebuilt afterwards (seconds for a million statements)."""
        return ANYTHING_CHANGED in self.text


def traced(text: str, using: Sequence[str] = (), tokens: list[Token] | None = None) -> TracedUpdate:
    """The update with its trace; `using` are USING clauses to put before every WHERE."""
    tokens = list(tokens_of(text)) if tokens is None else tokens
    operations = _operations(tokens)
    is_clear = unclear_comparison(tokens) is None and not _has_variable_graph(tokens)
    if not is_clear or not all(_Operation(text, part).is_traceable for part in operations):
        return untraced(text, using)
    if not operations:
        return TracedUpdate("INSERT DATA {}", names_graphs=False)
    pairs = [(part, _Operation(text, part).rewritten(using)) for part in operations]
    end = operations[-1][-1].position + len(operations[-1][-1].text)
    return TracedUpdate(_assembled(text[:end], pairs), _names_graphs(tokens))


def untraced(text: str, using: Sequence[str] = ()) -> TracedUpdate:
    """The update, and after it the note that anything may have changed."""
    tokens = list(tokens_of(text))
    pairs = [(part, _Operation(text, part).with_using(using)) for part in _operations(tokens)]
    if pairs and "GRAPH" in text.upper():  # a variable graph may be any, but not ours
        pairs[0] = (pairs[0][0], f"{_STATE_HIDDEN} ;\n{pairs[0][1]}")
    whole = _assembled(text, pairs)
    between = "\n" if not tokens or tokens[-1].text == ";" else "\n;\n"
    return TracedUpdate(f"{whole}{between}{ANYTHING_CHANGED}", names_graphs=True)


def failing_first(text: str, tokens: list[Token]) -> str:
    """A text that parses if the update does, and does nothing when it is run."""
    operations = _operations(tokens)
    start = operations[0][0].position if operations else len(text)
    return text[:start] + (_ALWAYS_FAILS if operations else "") + text[start:]


def with_patterns(text: str, tokens: list[Token]) -> str:
    """The operations of an update that look for patterns, without those that are lists of statements or of graphs."""
    operations = [_Operation(text, part) for part in _operations(tokens)]
    chosen = [operation.slice() for operation in operations if "WHERE" in operation.blocks]
    return text[: operations[0].tokens[0].position] + " ;\n".join(chosen) if chosen else ""


class _Operation:
    """One operation of an update: its tokens, and the blocks among them."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text, self.tokens = text, tokens
        self.words = [_word(token) for token in tokens]
        self.blocks = _blocks(tokens)

    @property
    def is_traceable(self) -> bool:
        """Whether a rewritten text can say what it touches."""
        templates = [name for name in self.blocks if name != "WHERE" or self.words[:2] == ["DELETE", "WHERE"]]
        return _FOLLOWED.fullmatch(self._signature()) is not None and all(map(self._is_plain, templates))

    def _signature(self) -> str:
        """The words outside of groups; what is neither a word nor a name is written as itself."""
        inside = {place for first, last in self.blocks.values() for place in range(first + 1, last + 1)}
        outside = [place for place in range(len(self.tokens)) if place not in inside]
        starts = {first for first, _ in self.blocks.values()}
        return " ".join("{}" if place in starts else self._sign(place) for place in outside)

    def _sign(self, place: int) -> str:
        return "I" if self.tokens[place].kind in ("iri", "name") else self.tokens[place].text.upper()

    def _is_plain(self, block: str) -> bool:
        """Whether a template holds triples, and GRAPH with triples, and nothing whose copy means something else."""
        first, last = self.blocks[block]
        return all(self._is_plain_token(place) for place in range(first + 1, last))

    def _is_plain_token(self, place: int) -> bool:
        token = self.tokens[place]
        match token.kind:
            case "word":
                return token.text.upper() in _WORDS_IN_TEMPLATES
            case "sign":
                return token.text in _SIGNS_IN_TEMPLATES
            case "bracket":
                is_graph = self.words[place - 2] == "GRAPH" and self.tokens[place - 1].kind in ("iri", "name")
                return token.text == "}" or (token.text == "{" and is_graph)
            case "name":
                return "GRAPH" not in token.text.partition(":")[0].upper()
        return True

    def with_using(self, using: Sequence[str]) -> str:
        """The text with USING clauses before its WHERE."""
        if not using or "WHERE" not in self.blocks or self.words[:2] == ["DELETE", "WHERE"]:
            return self.slice()
        if {"USING", "WITH"} & set(self.words):
            raise QueryRefused("the update has USING or WITH itself, and the request names graphs to use")
        where = self.tokens[self.blocks["WHERE"][0]].position
        if (before := self.tokens[self.blocks["WHERE"][0] - 1]).text.upper() == "WHERE":
            where = before.position
        clauses = " ".join(f"USING {clause}" for clause in using)
        return f"{self.text[self._start : where]} {clauses} {self.text[where : self._end]}"

    def rewritten(self, using: Sequence[str]) -> str:
        """The text that also writes what it touches."""
        if self.words[0] in _MANAGEMENT or self.words[0] == "WITH":
            return self.with_using(using)
        match self.words[:2]:
            case ["INSERT", "DATA"]:
                return self._with_copy("DATA", self._plain("DATA"))
            case ["DELETE", "DATA"]:
                return f"INSERT DATA {{ {_copy(self._plain('DATA'))} }} ;\n{self.slice()}"
            case ["DELETE", "WHERE"]:
                pattern = self._block_text("WHERE")
                return f"INSERT {{ {_copy(self._plain('WHERE'))} }} WHERE {{ {pattern}\n}} ;\n{self.slice()}"
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

    def slice(self) -> str:
        """The text as it is."""
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


def _names_graphs(tokens: list[Token]) -> bool:
    return any(_word(token) in ("GRAPH", "WITH", "NAMED", *_MANAGEMENT) for token in tokens)


def _has_variable_graph(tokens: list[Token]) -> bool:
    return any(_word(token) == "GRAPH" and following.kind == "variable" for token, following in pairwise(tokens))


def _assembled(text: str, pairs: Sequence[tuple[list[Token], str]]) -> str:
    """The text with every operation replaced, and everything between them as it was."""
    pieces, position = [], 0
    for tokens, replacement in pairs:
        pieces += [text[position : tokens[0].position], replacement]
        position = tokens[-1].position + len(tokens[-1].text)
    return "".join([*pieces, text[position:]])

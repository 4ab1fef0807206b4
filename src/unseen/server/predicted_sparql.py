"""Predicted answers by the same SPARQL: as a result table, and as a SERVICE clause inside of any exact query.

    SELECT ?x ?score ?known WHERE { ... }                                       with /query?infer=true
    SELECT ?x ?score WHERE { SERVICE <urn:unseen:predict> { SELECT ?x { ... } LIMIT 5 } ?x :part_of :Europe }

Beside answer variables there are `?score` (a probability) and `?known` (whether the graph says so itself). A SERVICE
clause is answered first and stands in the query as VALUES; answers that are blank nodes cannot stand there.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from unseen.database.format_versions import SOLUTIONS, results_format
from unseen.database.guard import PREDICT_SERVICE
from unseen.database.triple_forms import statement_of_keys
from unseen.errors import QueryRefused, QuerySyntaxError
from unseen.graph.files.oxigraph import pyoxigraph_module
from unseen.logic.sparql.parse import NAMESPACES
from unseen.logic.sparql.words import MAX_LENGTH, Token, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.asking.answers import Answer, Answers

EXTRA = ("score", "known")
MOST_CLAUSES = 8


@dataclass(frozen=True)
class Clause:
    """One SERVICE clause: its place in the text, and the question inside of it."""

    start: int
    end: int
    question: str


def without_extra_variables(text: str) -> str:
    """The query with blanks in place of `?score` and `?known` among what it selects, unless its pattern uses them."""
    if len(text) > MAX_LENGTH:
        raise QueryRefused(f"it is longer than {MAX_LENGTH:,} characters")
    tokens = list(tokens_of(text))
    words = [token.text.upper() if token.kind == "word" else token.text for token in tokens]
    if "SELECT" not in words:
        return text
    first = words.index("SELECT")
    last = next((i for i in range(first, len(words)) if words[i] in ("{", "WHERE")), len(words))
    used = {token.text[1:] for token in tokens[last:] if token.kind == "variable"}
    selected = [token for token in tokens[first:last] if token.kind == "variable"]
    extra = [token for token in selected if token.text[1:] in EXTRA and token.text[1:] not in used]
    if extra and len(extra) == len(selected):
        reason = f"{extra[0].text} comes with an answer: select the answer variable too"
        raise QueryRefused(reason, text=text, position=extra[0].position)
    blanks = {token.position: " " * len(token.text) for token in extra}
    return _with_pieces(text, [(place, place + len(blank), blank) for place, blank in blanks.items()])


def _with_pieces(text: str, pieces: Sequence[tuple[int, int, str]]) -> str:
    """The text with other text in place of what is between some starts and ends, which follow each other."""
    parts, position = [], 0
    for start, end, replacement in pieces:
        parts += [text[position:start], replacement]
        position = end
    return "".join([*parts, text[position:]])


def check_variable(variable: str) -> None:
    """Refuse an answer variable that would stand for something else in the results."""
    if variable in EXTRA:
        raise QueryRefused(f"?{variable} is what predictions say about an answer: name the answer variable otherwise")


def clauses_of(text: str) -> list[Clause]:
    """The SERVICE clauses that ask for predictions, in one pass over the text."""
    finder = _Finder(text)
    before: tuple[Token, Token, Token] = (_NOTHING, _NOTHING, _NOTHING)
    for token in tokens_of(text):
        finder.see(token, before)
        before = (*before[1:], token)
    return finder.clauses()


def with_values(text: str, clauses: Sequence[Clause], values: Sequence[str]) -> str:
    """The text with VALUES in place of each clause."""
    placed = sorted(zip(clauses, values, strict=True), key=lambda pair: pair[0].start)
    return _with_pieces(text, [(clause.start, clause.end, table) for clause, table in placed])


def values_of(answers: Answers, variables: Sequence[str]) -> str:
    """Answers as VALUES of the answer variables, `?score` and `?known`."""
    found = [(_keys(answer, variables), answer) for answer in answers]
    pairs = [([term_of(keys[name]) if name in keys else "UNDEF" for name in variables], one) for keys, one in found]
    rows = [
        f"({' '.join(terms)} {answer.probability:.6e} {str(answer.known).lower()})"
        for terms, answer in pairs
        if not any(term.startswith("_:") for term in terms)
    ]
    return f"VALUES ({' '.join(f'?{name}' for name in (*variables, *EXTRA))}) {{ {' '.join(rows)} }}"


def _keys(answer: Answer, variables: Sequence[str]) -> dict[str, str]:
    """The key of each answer variable that has a value."""
    if not answer.keys:
        return {variables[0]: answer.key} if answer.key else {}
    return {name: answer.keys[name] for name in variables if name in answer.keys}


def results_of(answers: Answers, variables: Sequence[str], media_type: str) -> bytes:
    """Answers as SPARQL results of a media type."""
    bindings = [_binding(answer, variables) for answer in answers]
    body = json.dumps({"head": {"vars": [*variables, *EXTRA]}, "results": {"bindings": bindings}}).encode()
    if SOLUTIONS[media_type] == "JSON":
        return body
    rdf = pyoxigraph_module()
    parsed = rdf.parse_query_results(body, rdf.QueryResultsFormat.JSON)
    written: bytes = parsed.serialize(format=results_format(media_type))
    return written


def term_of(key: str) -> str:
    """The RDF term of an entity, as N-Triples writes it."""
    return statement_of_keys(("s", "p", key))[2]


def _binding(answer: Answer, variables: Sequence[str]) -> dict[str, Any]:
    xsd = "http://www.w3.org/2001/XMLSchema#"
    return {
        **{name: _json_term(term_of(key)) for name, key in _keys(answer, variables).items()},
        "score": {"type": "literal", "value": f"{answer.probability:.6g}", "datatype": f"{xsd}double"},
        "known": {"type": "literal", "value": str(answer.known).lower(), "datatype": f"{xsd}boolean"},
    }


def _json_term(term: str) -> dict[str, str]:
    if term.startswith("<"):
        return {"type": "uri", "value": term[1:-1]}
    if term.startswith("_:"):
        return {"type": "bnode", "value": term[2:]}
    rdf = pyoxigraph_module()
    (quad,) = rdf.parse(f"<urn:s> <urn:p> {term} .".encode(), rdf.RdfFormat.N_TRIPLES)
    literal = quad.object
    language = {"xml:lang": literal.language} if literal.language else {"datatype": literal.datatype.value}
    return {"type": "literal", "value": literal.value, **language}


_NOTHING = Token("space", "", 0)


@dataclass
class _Group:
    """A `{` that is open: where it is, whether it belongs to a clause of ours, whether one stands in it."""

    place: int
    start: int = 0
    """Where its clause begins, with the word SERVICE."""
    opening: int | None = None
    """The place of the `{`, if it belongs to a clause of ours."""
    is_select: bool = False
    has_clause: bool = False


class _Finder:
    """Finds clauses while it is shown the tokens of a text, each with the three before it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.prefixes = dict(NAMESPACES)
        self.open = [_Group(0)]
        self.found: list[tuple[_Group, int]] = []
        self.count = 0

    def see(self, token: Token, before: tuple[Token, Token, Token]) -> None:
        """Take note of one token."""
        if token.kind == "iri" and before[1].text.upper() == "PREFIX" and before[2].kind == "name":
            self.prefixes[before[2].text[:-1]] = token.text[1:-1]
        elif token.kind == "bracket" and token.text == "{":
            self._opened(token, before)
        elif token.kind == "bracket" and token.text == "}" and len(self.open) > 1:
            group = self.open.pop()
            if group.opening is not None:
                self.found.append((group, token.position))
        elif before[2].text == "{" and self.open[-1].opening == before[2].position:
            self.open[-1].is_select = token.kind == "word" and token.text.upper() == "SELECT"

    def _opened(self, token: Token, before: tuple[Token, Token, Token]) -> None:
        word = before[0] if before[1].text.upper() == "SILENT" else before[1]
        is_service = word.kind == "word" and word.text.upper() == "SERVICE"
        group = _Group(token.position)
        if is_service and self._iri(before[2]) == PREDICT_SERVICE:
            self._refuse_another(word)
            group.start, group.opening = word.position, token.position
        self.open.append(group)

    def _refuse_another(self, word: Token) -> None:
        """Refuse a clause that is one too many."""
        if self.open[-1].has_clause:
            reason = "a group has one SERVICE clause for predictions: two would have to agree on ?score and ?known"
            raise QueryRefused(reason, text=self.text, position=word.position)
        self.open[-1].has_clause = True
        self.count += 1
        if self.count > MOST_CLAUSES:
            reason = f"it has more than {MOST_CLAUSES} SERVICE clauses"
            raise QueryRefused(reason, text=self.text, position=word.position)

    def _iri(self, token: Token) -> str:
        """The IRI that a token stands for, or nothing."""
        if token.kind == "iri":
            return token.text[1:-1]
        prefix, colon, local = token.text.partition(":")
        return self.prefixes.get(prefix, "") + local if token.kind == "name" and colon else ""

    def clauses(self) -> list[Clause]:
        """What was found, in the order of the text."""
        for group in self.open:
            if group.opening is not None:
                raise QuerySyntaxError("this `{` is never closed", text=self.text, position=group.opening)
        declarations = self.text[: _end_of_declarations(self.text)] if self.found else ""
        clauses = [self._clause(group, closing, declarations) for group, closing in self.found]
        return sorted(clauses, key=lambda clause: clause.start)

    def _clause(self, group: _Group, closing: int, declarations: str) -> Clause:
        body = self.text[(group.opening or 0) + 1 : closing]
        question = body if group.is_select else f"SELECT * WHERE {{ {body} }}"
        return Clause(group.start, closing + 1, f"{declarations}\n{question}")


def _end_of_declarations(text: str) -> int:
    """Where PREFIX and BASE end and the query begins."""
    tokens = tokens_of(text)
    for token in tokens:
        word = token.text.upper()
        if word not in ("PREFIX", "BASE"):
            return token.position
        deque(islice(tokens, 2 if word == "PREFIX" else 1), maxlen=0)
    return 0

"""Predicted answers by the same SPARQL: as a result table, and as a SERVICE clause inside of any exact query.

    SELECT ?x ?score ?known WHERE { ... }                                       with /query?infer=true
    SELECT ?x ?score WHERE { SERVICE <urn:unseen:predict> { SELECT ?x { ... } LIMIT 5 } ?x :part_of :Europe }

Beside the answer variable there are `?score` (a probability) and `?known` (whether the graph says so itself). A SERVICE
clause is answered first and stands in the query as VALUES; answers that are blank nodes cannot stand there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unseen.api import prefixes_of
from unseen.database.formats import SOLUTIONS, results_format
from unseen.database.guard import PREDICT_SERVICE
from unseen.database.statements import statement_of_keys
from unseen.errors import QueryRefused, QuerySyntaxError
from unseen.graph.files.oxigraph import pyoxigraph_module
from unseen.logic.sparql import parse_sparql
from unseen.logic.sparql.parse import NAMESPACES
from unseen.logic.sparql.words import Token, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.answers import Answer, Answers
    from unseen.graph import KnowledgeGraph

EXTRA = ("score", "known")
MOST_CLAUSES = 8


@dataclass(frozen=True)
class Clause:
    """One SERVICE clause: where it stands in the text, and the question inside of it."""

    start: int
    end: int
    question: str


def without_extra_variables(text: str) -> str:
    """The query with blanks in place of `?score` and `?known` among what it selects, unless its pattern uses them."""
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
    for token in extra:
        end = token.position + len(token.text)
        text = text[: token.position] + " " * len(token.text) + text[end:]
    return text


def answer_variable(text: str, graph: KnowledgeGraph) -> str:
    """The variable that a question selects."""
    variable = parse_sparql(text, prefixes_of(graph)).variable
    if variable in EXTRA:
        raise QueryRefused(f"?{variable} is what predictions say about an answer: name the answer variable otherwise")
    return variable


def clauses_of(text: str) -> list[Clause]:
    """The SERVICE clauses that ask for predictions."""
    tokens = list(tokens_of(text))
    found: dict[int, Clause] = {}
    for place, token in enumerate(tokens):
        if token.kind == "word" and token.text.upper() == "SERVICE":
            clause = _clause(text, tokens, place)
            if clause is not None:
                group = _group_of(tokens, place)
                if group in found:
                    reason = (
                        "a group has one SERVICE clause for predictions: two would have to agree on ?score and ?known"
                    )
                    raise QueryRefused(reason, text=text, position=clause.start)
                found[group] = clause
    clauses = list(found.values())
    if len(clauses) > MOST_CLAUSES:
        raise QueryRefused(f"it has more than {MOST_CLAUSES} SERVICE clauses", text=text, position=clauses[-1].start)
    return clauses


def with_values(text: str, clauses: Sequence[Clause], values: Sequence[str]) -> str:
    """The text with VALUES in place of each clause."""
    for clause, table in sorted(zip(clauses, values, strict=True), key=lambda pair: -pair[0].start):
        text = text[: clause.start] + table + text[clause.end :]
    return text


def values_of(answers: Answers, variable: str) -> str:
    """Answers as VALUES of the answer variable, `?score` and `?known`."""
    pairs = [(term_of(answer.key), answer) for answer in answers]
    rows = [
        f"({term} {answer.probability:.6e} {str(answer.known).lower()})"
        for term, answer in pairs
        if not term.startswith("_:")
    ]
    return f"VALUES (?{variable} ?score ?known) {{ {' '.join(rows)} }}"


def results_of(answers: Answers, variable: str, media_type: str) -> bytes:
    """Answers as SPARQL results of a media type."""
    bindings = [_binding(answer, variable) for answer in answers]
    body = json.dumps({"head": {"vars": [variable, *EXTRA]}, "results": {"bindings": bindings}}).encode()
    if SOLUTIONS[media_type] == "JSON":
        return body
    rdf = pyoxigraph_module()
    parsed = rdf.parse_query_results(body, rdf.QueryResultsFormat.JSON)
    written: bytes = parsed.serialize(format=results_format(media_type))
    return written


def term_of(key: str) -> str:
    """The RDF term of an entity, as N-Triples writes it."""
    return statement_of_keys(("s", "p", key))[2]


def _binding(answer: Answer, variable: str) -> dict[str, Any]:
    xsd = "http://www.w3.org/2001/XMLSchema#"
    return {
        variable: _json_term(term_of(answer.key)),
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


def _clause(text: str, tokens: list[Token], place: int) -> Clause | None:
    """The clause that begins with the word SERVICE at a place, if it is one of ours."""
    after = place + 1
    if after < len(tokens) and tokens[after].text.upper() == "SILENT":
        after += 1
    if after + 1 >= len(tokens) or _iri(tokens, after) != PREDICT_SERVICE or tokens[after + 1].text != "{":
        return None
    closing = _closing(text, tokens, after + 1)
    body = text[tokens[after + 1].position + 1 : tokens[closing].position]
    first = tokens[after + 2]
    is_select = first.kind == "word" and first.text.upper() == "SELECT"
    question = body if is_select else f"SELECT * WHERE {{ {body} }}"
    declarations = text[: _end_of_declarations(tokens)]
    return Clause(tokens[place].position, tokens[closing].position + 1, f"{declarations}\n{question}")


def _iri(tokens: list[Token], place: int) -> str:
    """The IRI that a token stands for, or nothing."""
    token = tokens[place]
    if token.kind == "iri":
        return token.text[1:-1]
    declared = {
        name.text[:-1]: iri.text[1:-1]
        for word, name, iri in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if word.text.upper() == "PREFIX" and name.kind == "name" and iri.kind == "iri"
    }
    prefix, colon, local = token.text.partition(":")
    return (NAMESPACES | declared).get(prefix, "") + local if token.kind == "name" and colon else ""


def _group_of(tokens: list[Token], place: int) -> int:
    """Where the innermost group around a place begins."""
    opened = [-1]
    for index, token in enumerate(tokens[:place]):
        if token.kind == "bracket" and token.text == "{":
            opened.append(index)
        elif token.kind == "bracket" and token.text == "}" and len(opened) > 1:
            opened.pop()
    return opened[-1]


def _closing(text: str, tokens: list[Token], opening: int) -> int:
    depth = 0
    for place in range(opening, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[place].text, 0) if tokens[place].kind == "bracket" else 0
        if depth == 0:
            return place
    raise QuerySyntaxError("this `{` is never closed", text=text, position=tokens[opening].position)


def _end_of_declarations(tokens: list[Token]) -> int:
    """Where PREFIX and BASE end and the query begins."""
    place = 0
    while place < len(tokens) and tokens[place].text.upper() in ("PREFIX", "BASE"):
        place += 3 if tokens[place].text.upper() == "PREFIX" else 2
    return tokens[place].position if place < len(tokens) else 0

"""Queries and updates that are meant to hurt: every production of the grammar, deep and long, and costly ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle, islice

Made = Callable[[int], str]


def _nested(opening: str, inside: str, closing: str) -> Made:
    return lambda n: opening * n + inside + closing * n


def _chain(first: str, more: str, last: str = "") -> Made:
    return lambda n: first + more * n + last


def _in(before: str, made: Made, after: str) -> Made:
    return lambda n: before + made(n) + after


EXPRESSIONS: dict[str, Made] = {
    "not": _nested("!", "?a", ""),
    "minus": _nested("-", "1", ""),
    "brackets": _nested("(", "?a", ")"),
    "function": _nested("STR(", "?a", ")"),
    "if": _nested("IF(true,1,", "2", ")"),
    "coalesce": _nested("COALESCE(", "1", ")"),
    "in": _nested("1 IN (", "1", ")"),
    "exists": _nested("EXISTS { FILTER(", "true", ") }"),
    "plus": _chain("1", "+1"),
    "minuses": _chain("1", " - 1"),
    "times": _chain("1", "*1"),
    "or": _chain("?a", "||?a"),
    "and": _chain("?a", "&&?a"),
    "list": _chain("1 IN (1", ",1", ")"),
    "concat": _chain("CONCAT('a'", ",'a'", ")"),
    "call": _chain("<urn:f>(1", ",1", ")"),
}
PATHS: dict[str, Made] = {
    "sequence": _chain("a", "/a"),
    "alternative": _chain("a", "|a"),
    "inverse": _nested("^", "a", ""),
    "star": _chain("(a)", "*"),
    "stars": _nested("(", "a", ")*"),
    "bracketed": _nested("(", "a", ")"),
    "negated": _chain("!(a", "|a", ")"),
}
PATTERNS: dict[str, Made] = {
    "groups": _nested("{", "?s ?p ?o", "}"),
    "optional": _nested("OPTIONAL{", "?s ?p ?o", "}"),
    "minus group": _nested("?s ?p ?o MINUS{", "?s ?p ?o", "}"),
    "graph": _nested("GRAPH ?g {", "?s ?p ?o", "}"),
    "subselect": _nested("{SELECT * {", "?s ?p ?o", "}}"),
    "union": _chain("{?s ?p ?o}", "UNION{?s ?p ?o}"),
    "triples": _chain("?s a ?o", ".?s a ?o"),
    "predicates": _chain("?s a ?o", ";a ?o"),
    "objects": _chain("?s a ?o", ",?o"),
    "optionals": _chain("", "OPTIONAL{?s a ?o}"),
    "filters": _chain("?s a ?o", " FILTER(?s=?o)"),
    "binds": lambda n: "".join(f"BIND({i} AS ?b{i})" for i in range(n)),
    "values": _chain("VALUES ?x {", "1 ", "}"),
    "rows": _chain("VALUES (?x ?y) {", "(1 2)", "}"),
    "list": _chain("?s a (", "1 ", ")"),
    "lists": _nested("(", "1", ")"),
    "blank nodes": _nested("[a ", "1", "]"),
    "property lists": _chain("[a 1", ";a 1", "]"),
    "triple terms": _nested("<<", "?s ?p ?o", ">>"),
    "triple terms in brackets": _nested("?s ?p <<( ?s ?p ", "?o", " )>>"),
    "reified": _nested("<< ", "?s ?p ?o", " ?p ?o >>"),
    "services": _chain("", "SERVICE<urn:x>{}"),
}
SOLUTIONS: dict[str, Made] = {
    "select": lambda n: "SELECT " + "?a " * n + "{}",
    "select as": lambda n: "SELECT " + "".join(f"(1 AS ?a{i})" for i in range(n)) + "{}",
    "order by": _chain("SELECT * {?s ?p ?o} ORDER BY", " ?s"),
    "group by": _chain("SELECT (COUNT(*) AS ?n) {?s ?p ?o} GROUP BY", " ?s"),
    "having": _chain("SELECT (COUNT(*) AS ?n) {?s ?p ?o} GROUP BY ?s HAVING", "(1=1)"),
    "from": _chain("SELECT *", " FROM <urn:g>", "{?s ?p ?o}"),
    "prefix": lambda n: "".join(f"PREFIX p{i}: <urn:p>" for i in range(n)) + "ASK{}",
    "base": _chain("", "BASE <urn:b>", "ASK{}"),
    "describe": _chain("DESCRIBE", " <urn:x>"),
    "construct": _chain("CONSTRUCT {", "?s ?p ?o.", "} {?s ?p ?o}"),
    "quotes": _chain('ASK{FILTER("', '\\"'),
    "long quotes": _chain('ASK{FILTER("""', '""a'),
    "comments": _chain("ASK{", "#\n", "}"),
    "name": _chain("ASK{?s ?p :", "a.", "a}"),
    "dots": _chain("ASK{?s ?p :a", ".", "}"),
    "iri": _chain("ASK{?s ?p <urn:", "a", ">}"),
    "digits": _chain("ASK{?s ?p ", "1", "}"),
    "less": _chain("ASK{FILTER(?a", "<?a", ")}"),
}
UPDATES: dict[str, Made] = {
    "operations": _chain("", "INSERT DATA{};"),
    "data": _chain("INSERT DATA {<urn:s> <urn:p> <urn:o>", ".<urn:s> <urn:p> <urn:o>", "}"),
    "template": _chain("INSERT {?s ?p ?o", ".?s ?p ?o", "} WHERE {?s ?p ?o FILTER(false)}"),
    "delete": _chain("DELETE WHERE {?s <urn:none> ?o", ".?s <urn:none> ?o", "}"),
    "triple terms": _in("INSERT DATA {<urn:s> <urn:p> ", _nested("<<( <urn:s> <urn:p> ", "1", " )>>"), "}"),
    "graphs": _chain("INSERT DATA {", "GRAPH <urn:g> {}", "}"),
    "using": _chain("INSERT {} ", "USING <urn:g> ", "WHERE {}"),
    "clears": _chain("", "CLEAR SILENT GRAPH <urn:none>;"),
}
CROSS = "?a ?b ?c. ?d ?e ?f. ?g ?h ?i"
COSTLY = [
    f"SELECT * {{{CROSS}}} ORDER BY ?a ?d LIMIT 1",
    f"SELECT (COUNT(*) AS ?n) {{{CROSS}. ?j ?k ?l}}",
    f"SELECT DISTINCT * {{{CROSS}}}",
    f"SELECT (GROUP_CONCAT(CONCAT(STR(?a),STR(?d))) AS ?n) {{{CROSS}}}",
    f"SELECT ?a (COUNT(*) AS ?n) {{{CROSS}}} GROUP BY ?a ?d ?g",
    f"CONSTRUCT {{{CROSS}}} WHERE {{{CROSS}}}",
    f"SELECT * {{{CROSS}}}",
    "SELECT (COUNT(*) AS ?n) {?x (:a|!:a)* ?y. ?y (:a|!:a)* ?z}",
    "SELECT * {?x (!:a)*/(!:a)* ?y}",
    "SELECT * {{?x ?y ?z} MINUS {?d ?e ?f. ?g ?h ?z}}",
    "SELECT * {?a ?b ?c OPTIONAL {?d ?e ?f OPTIONAL {?g ?h ?i OPTIONAL {?j ?k ?l}}}} ORDER BY ?l",
    f"SELECT (STRLEN(REPLACE('{'a' * 300_000}', 'a', '{'b' * 300_000}')) AS ?n) {{}}",
    "SELECT (REPLACE(?s, '(a*)*b', 'x') AS ?n) {VALUES ?s {'" + "a" * 5000 + "'}}",
    f"DESCRIBE ?a ?d ?g {{{CROSS}}}",
]
COSTLY_UPDATES = [
    f"INSERT {{?a ?e ?i}} WHERE {{{CROSS}}}",
    f"INSERT {{GRAPH <urn:g> {{?a ?e ?i}}}} WHERE {{{CROSS}}}",
    f"DELETE {{?a ?b ?none}} WHERE {{{CROSS} OPTIONAL {{?a <urn:none> ?none}}}}",
    f"INSERT {{?a <urn:x> ?n}} WHERE {{SELECT ?a (SUM(STRLEN(STR(?i))) AS ?n) {{{CROSS}}} GROUP BY ?a}}",
]
SIZES = (60, 700, 4_800, 9_600, 13_000)
"""Depths and lengths; the first is one that people may write."""


def _productions() -> Iterator[tuple[str, str, Made]]:
    """Route, name and text of everything that can be made deep or long."""
    for name, made in EXPRESSIONS.items():
        yield "/query", f"expression {name}", _in("ASK{FILTER(", made, ")}")
    for name, made in PATHS.items():
        yield "/query", f"path {name}", _in("ASK{?s ", made, " ?o}")
    for name, made in PATTERNS.items():
        yield "/query", f"pattern {name}", _in("ASK{", made, "}")
    for name, made in SOLUTIONS.items():
        yield "/query", f"solution {name}", made
    for name, made in UPDATES.items():
        yield "/update", f"update {name}", made
    for name, made in EXPRESSIONS.items():
        yield "/update", f"update with {name}", _in("INSERT {} WHERE {FILTER(", made, ")}")
    for name, made in PATTERNS.items():
        yield "/update", f"update with {name}", _in("DELETE {} WHERE {", made, "}")


def hostile_queries(count: int) -> list[tuple[str, str, str]]:
    """So many of route, name and text: costly ones first, then each production at each size in turn."""
    costly = [("/query", f"costly {i}", text) for i, text in enumerate(COSTLY)]
    costly += [("/update", f"costly update {i}", text) for i, text in enumerate(COSTLY_UPDATES)]
    productions = list(_productions())
    sized = [
        (route, f"{name} x {size}", made(size))
        for turn in range(len(SIZES))
        for (route, name, made), size in zip(productions, islice(cycle(SIZES), turn, None), strict=False)
    ]
    step = max(1, len(sized) // max(1, count - len(costly)))
    return [*costly, *sized[::step]][:count]

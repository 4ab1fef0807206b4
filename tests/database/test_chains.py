"""Texts with thousands of operators, triples or groups are refused at once; long lists of constants are not."""

from __future__ import annotations

import pytest

from unseen.database import Database
from unseen.database.exact_sparql import query, update
from unseen.errors import QueryRefused


def exact(database: Database, text: str) -> set[str]:
    return {str(solution[0].value) for solution in query(database, text).found}


@pytest.mark.parametrize("text", ["{" * 200 + "}" * 200, "SELECT * { " + " UNION ".join(["{?s ?p ?o}"] * 3000) + " }"])
def test_absurdly_large_queries_are_refused(database: Database, text: str) -> None:
    with pytest.raises(QueryRefused, match=r"nested deeper|more than 2,000 groups"):
        query(database, text)


@pytest.mark.parametrize("chain", ["1+", "?a||", "?a && "])
def test_chains_of_thousands_of_operators_are_refused(database: Database, chain: str) -> None:
    with pytest.raises(QueryRefused, match="more than 2,000 operators and triples"):
        query(database, f"ASK {{ FILTER({chain * 3000}1) }}")


@pytest.mark.parametrize("triples", ["?s ?p ?o . " * 3000, "?s a ?o " + ";a ?o" * 3000, f"?s {'a/' * 3000}a ?o"])
def test_patterns_of_thousands_of_triples_are_refused(database: Database, triples: str) -> None:
    with pytest.raises(QueryRefused, match="more than 2,000 operators and triples"):
        query(database, f"ASK {{ {triples} }}")


def test_thousands_of_values_are_no_chain(database: Database) -> None:
    assert exact(database, f"SELECT ?x {{ VALUES ?x {{ {'-1 +2.5 ' * 3000} }} }}")
    assert exact(database, f"SELECT ?x {{ VALUES (?x ?y) {{ {'(-1 true) ' * 3000} }} }}")


CHAINS = {
    "plus": f"FILTER(1{'+1' * 3000})",
    "numbers with signs": f"FILTER(1{' +1' * 3000})",
    "or": f"FILTER(?a{'||?a' * 3000})",
    "path": f"?s a{'/a' * 3000} ?o",
    "alternatives": f"?s a{'|a' * 3000} ?o",
    "semicolons": f"?s a ?o{';a ?o' * 3000}",
    "triples": "?s a ?o." * 3000,
    "groups": "{}" + "UNION{}" * 3000,
    "not VALUES": "VALUES ?x { 1 } { " + "?s a ?o." * 3000 + " }",
}


@pytest.mark.parametrize("kind", CHAINS)
def test_chains_in_updates_are_refused(database: Database, kind: str) -> None:
    for text in (f"INSERT {{ :a :b :c }} WHERE {{ {CHAINS[kind]} }}", f"DELETE WHERE {{ {CHAINS[kind]} }}"):
        with pytest.raises(QueryRefused, match="more than 2,000"):
            update(database, text)
        with pytest.raises(QueryRefused, match="more than 2,000"):
            update(database, f"INSERT DATA {{ :a :b :c }} ; {text}")


def test_updates_may_have_many_statements_values_and_operations(database: Database) -> None:
    update(database, f"INSERT DATA {{ {' '.join(f':n{i} :in :data .' for i in range(3000))} }}")
    update(database, " ; ".join(f"INSERT DATA {{ :n{i} :in :operation }}" for i in range(2100)))
    rows = " ".join(f"(:n{i} -1)" for i in range(3000))
    update(database, f"DELETE {{ ?n :in :data }} WHERE {{ VALUES (?n ?x) {{ {rows} }} ?n :in :data }}")
    assert len(exact(database, "SELECT ?n { ?n :in :operation }")) == 2100
    assert exact(database, "SELECT ?n { ?n :in :data }") == set()

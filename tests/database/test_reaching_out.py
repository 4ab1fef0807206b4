"""No text makes the store fetch anything, however its keywords are written."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from unseen.database import Database
from unseen.database.exact_sparql import query, update
from unseen.errors import UnseenError


class Sink:
    """A socket of this machine that counts who comes."""

    def __init__(self) -> None:
        self.hits = 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                visitor, _ = self.socket.accept()
            except OSError:
                return
            self.hits += 1
            visitor.close()


@pytest.fixture
def sink() -> Iterator[Sink]:
    made = Sink()
    yield made
    made.socket.close()


GROUP = "{ ?s ?p ?o }"
QUERIES = [
    f"SELECT * {{ SERVICE <URL> {GROUP} }}",
    f"SELECT * {{ SERVICESILENT <URL> {GROUP} }}",
    f"SELECT * {{ sErViCesilent<URL>{GROUP} }}",
    f"PREFIX : <URL> SELECT * {{ SERVICE:c {GROUP} }}",
    f"PREFIX x: <URL> SELECT * {{ SERVICEx:c {GROUP} }}",
    f"PREFIX x: <URL> SELECT * {{ SERVICESILENTx:c {GROUP} }}",
    f"PREFIX : <URL> SELECT * {{ FILTER(?a<'>')SERVICE:c{GROUP}FILTER(?b<'>') }}",
    f"PREFIX : <URL> SELECT * {{ FILTER(?a<?b#>'''\n)SERVICE:c{GROUP}\n#'''\n }}",
    f"PREFIX : <URL> SELECT * {{ FILTER(?a<?b)SERVICE:c#>\n{GROUP} }}",
    f"PREFIX : <URL> SELECT * {{ FILTER(EXISTS{{?a ?b ?c}}<'>')SERVICE:c{GROUP}FILTER(?b<'>') }}",
    f"SELECT * {{ ?x <urn:\\u0041#> ?y . SERVICE <URL> {GROUP} }}",
    f"SELECT * {{ {{ SELECT * {{ SERVICESILENT<URL>{GROUP} }} }} }}",
    f"PREFIX : <URL> SELECT * {{ VALUES ?u {{ :c }} SERVICE?u {GROUP} }}",
    f"ASK {{ FILTER EXISTS {{ SERVICESILENT<URL>{GROUP} }} }}",
    f"CONSTRUCT {GROUP} {{ SERVICESILENT<URL>{GROUP} }}",
]
UPDATES = [
    "LOAD <URL>",
    "LOADSILENT <URL>",
    "PREFIX : <URL> LOAD:i",
    "PREFIX x: <URL> loadx:i",
    "INSERT DATA { :a :b :c };LOADSILENT<URL>INTOGRAPH<urn:g>",
    f"INSERT {GROUP} WHERE {{ SERVICESILENT<URL>{GROUP} }}",
    f"PREFIX : <URL> INSERT {GROUP} WHERE {{ SERVICE:c{GROUP} }}",
    f"PREFIX : <URL> INSERT {GROUP} WHERE {{ FILTER(?a<'>')SERVICE:c{GROUP}FILTER(?b<'>') }}",
    "PREFIX : <URL> INSERT { :a :b :c } WHERE { FILTER(1<'>') } ; LOAD:i ; INSERT { :a :b :c } WHERE { FILTER(1<'>') }",
    "INSERT DATA { :a :b <urn:\\u0041#> } ; LOAD <URL>",
]


@pytest.mark.parametrize("text", QUERIES)
def test_no_query_reaches_out(database: Database, sink: Sink, text: str) -> None:
    with pytest.raises(UnseenError):
        list(query(database, text.replace("URL", f"http://127.0.0.1:{sink.port}/")).found)
    assert sink.hits == 0


@pytest.mark.parametrize("text", UPDATES)
def test_no_update_reaches_out(database: Database, sink: Sink, text: str) -> None:
    with pytest.raises(UnseenError):
        update(database, text.replace("URL", f"http://127.0.0.1:{sink.port}/"))
    assert sink.hits == 0


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?s { ?s :likes ?o FILTER(1<2) }",
        "SELECT ?s { ?s :likes ?o FILTER(STR(?o)<'zzz') # SERVICE <x>\n }",
        "SELECT ?s { ?s :likes :Go ; ?p ?o FILTER(?o != <http://x.org/service(a)>) }",
        "SELECT ?s { ?s :likes :Go FILTER('SERVICE' != 'LOAD') }",
    ],
)
def test_comparisons_and_other_uses_of_the_letters_stay(database: Database, text: str) -> None:
    assert list(query(database, text).found)

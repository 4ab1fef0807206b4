"""RDF made to crash, hold or fill a parser is refused with one error; what only looks so is read."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.graph.files import file_of
from unseen.database.documents import statements_in
from unseen.errors import GraphError
from unseen.graph.files.brackets import DEEPEST_BRACKET
from unseen.graph.files.depth import DEEPEST
from unseen.graph.files.nesting import TooDeep, check_json
from unseen.graph.files.readers import read_graph
from unseen.graph.files.xml_limits import DEEPEST_ELEMENT

if TYPE_CHECKING:
    from pathlib import Path

DEEP = 100_000
RDF = "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:e='http://e/'"


def triple_term(depth: int, before: str = "") -> str:
    """A statement whose object nests triple terms; `before` stands before each of them."""
    return (
        "<http://e/a> <http://e/p> " + f"{before}<<(<http://e/a> <http://e/p> " * depth + "1" + ")>>" * depth + " .\n"
    )


DISGUISES = {
    "plain": "",
    "comments": "# )>>\n",
    "comments that end in a carriage return": "#)>>\r",
}


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("suffix", [".ttl", ".trig"])
def test_deep_triple_terms_are_refused_whatever_stands_between_them(tmp_path: Path, suffix: str, disguise: str) -> None:
    path = file_of(tmp_path, f"deep{suffix}", triple_term(DEEP, DISGUISES[disguise]))
    finished = subprocess.run(
        [sys.executable, "-m", "unseen", "info", str(path)], capture_output=True, text=True, check=False, timeout=120
    )
    assert finished.returncode == 2, finished
    assert "nested more than 100 levels deep" in finished.stderr


def brackets(opening: str, closing: str, depth: int) -> str:
    return f"<http://e/a> <http://e/p> {opening * depth} 1 {closing * depth} .\n"


DEEP_BRACKETS = {
    "blank nodes": ("[ <http://e/p> ", "]"),
    "closings in texts": ("[ <http://e/q> ']' , '''']'''' ; <http://e/p> ".replace("''''", "'''"), "]"),
    "closings in comments": ("[ # ]]\n<http://e/p> ", "]"),
    "closings in names": ("[ <http://e/)> ", "]"),
    "lists": ("(", ")"),
    "reified": ("<< <http://e/a> <http://e/p> ", " >>"),
    "annotated": ("1 {| <http://e/p> ", "|}"),
}


@pytest.mark.parametrize("kind", DEEP_BRACKETS)
def test_deep_brackets_are_refused_at_once(tmp_path: Path, kind: str) -> None:
    document = brackets(*DEEP_BRACKETS[kind], 200_000)
    for suffix, media_type in ((".ttl", "text/turtle"), (".trig", "application/trig")):
        with pytest.raises(GraphError, match="brackets are nested more than 1,000 levels deep"):
            read_graph(file_of(tmp_path, f"deep{suffix}", document))
        with pytest.raises(GraphError, match="brackets are nested more than 1,000 levels deep"):
            list(statements_in(document.encode(), media_type))


def test_brackets_may_nest_as_people_write_them_and_texts_hold_any(tmp_path: Path) -> None:
    texts = "<http://e/a> <http://e/p> '''[['(''' , \"((\" , '', \"\" , <http://e/b> . # [[\n" * 500
    nested = brackets("[ <http://e/p> ", "]", DEEPEST_BRACKET - 1)
    document = texts + nested + "<http://e/a> <http://e/p> (1 [] ()) .\n" * 900
    assert len(list(statements_in(document.encode(), "text/turtle"))) == 500 * 5 + DEEPEST_BRACKET + 900 * 7
    assert read_graph(file_of(tmp_path, "nested.ttl", document)).graph.num_entities > DEEPEST_BRACKET


@pytest.mark.parametrize("closing", ['""")>>"""', "')>>'", '"\\")>>"'])
def test_closings_in_texts_do_not_hide_depth(closing: str) -> None:
    listed = f"<http://e/x> <http://e/y> {closing} .\n" * 200
    with pytest.raises(GraphError, match="nested more than 100 levels deep"):
        list(statements_in((listed + triple_term(DEEP)).encode(), "text/turtle"))


def test_a_document_sent_to_a_server_is_looked_at_the_same_way() -> None:
    for media_type in ("text/turtle", "application/trig", "application/n-triples", "application/n-quads"):
        with pytest.raises(GraphError, match="the document is not valid: is nested more than 100 levels deep"):
            list(statements_in(triple_term(DEEP).replace(" 1)", ' "1")').encode(), media_type))


def test_many_shallow_triple_terms_are_read() -> None:
    document = triple_term(2) * 3 * DEEPEST
    assert len(list(statements_in(document.encode(), "text/turtle"))) == 3 * DEEPEST


def test_openings_in_texts_and_comments_are_no_nesting(tmp_path: Path) -> None:
    lines = '<http://e/a> <http://e/p> <http://e/b> . # <<(\n<http://e/a> <http://e/q> "cout <<(x)" .\n' * 3 * DEEPEST
    for suffix in (".ttl", ".trig", ".nt", ".nq"):
        assert read_graph(file_of(tmp_path, f"code{suffix}", lines)).graph.num_triples == 1


def test_an_opening_is_counted_where_two_reads_meet(tmp_path: Path) -> None:
    for shift in range(16):
        path = file_of(tmp_path, "cut.ttl", "#" * shift + "\n" + triple_term(DEEP // 2, "#)>>\n"))
        with pytest.raises(GraphError, match="nested more than 100 levels deep"):
            read_graph(path)


def test_the_depth_of_json_is_that_of_a_json_parser() -> None:
    import json

    chance = random.Random(1)
    for _ in range(3000):
        text = "".join(chance.choices(['"', "\\", "[", "]", "{", "}", ":", ",", "1", "x", "\\\\", '\\"'], k=12))
        document = f"{'[' * DEEPEST}{text}"
        try:
            json.loads(text)
        except ValueError as error:
            valid = text[: getattr(error, "pos", 0)]
            is_deep = '"' not in valid and ("[" in valid or "{" in valid)
        else:
            is_deep = False
        if is_deep:
            with pytest.raises(TooDeep):
                check_json(document.encode())


def test_a_text_that_never_ends_takes_no_quadratic_time() -> None:
    started = time.monotonic()
    check_json(b'"' + b'\\"' * 1_000_000)
    assert time.monotonic() - started < 30


def xml(content: str, prolog: str = "") -> str:
    return f"<?xml version='1.0'?>\n{prolog}<rdf:RDF {RDF}>{content}</rdf:RDF>"


HOSTILE_XML = {
    "deep": (xml("<e:A><e:p>" * 8000 + "</e:p></e:A>" * 8000), "nested more than 500 levels deep"),
    "one entity a million times": (
        xml(f"<e:A><e:p>{'&a;' * 1_000_000}</e:p></e:A>", f"<!DOCTYPE x [<!ENTITY a '{'y' * 490}'>]>"),
        "its entities could make it",
    ),
    "entities of entities": (
        xml("<e:A><e:p>&b;</e:p></e:A>", "<!DOCTYPE x [<!ENTITY a 'aa'><!ENTITY b '&a;&a;'>]>"),
        "more than a list of entities",
    ),
    "declared twice": (
        xml("<e:A><e:p>&a;</e:p></e:A>", f"<!DOCTYPE x [<!ENTITY a 'a'><!ENTITY a \"{'b' * 490}\">]>"),
        "is declared twice",
    ),
    "hidden in a comment": (
        xml("<e:A/>", "<!DOCTYPE x [<!-- ]> <e:A><e:A> -->]>"),
        "more than a list of entities",
    ),
    "a parameter entity": (
        xml("<e:A/>", "<!DOCTYPE x [<!ENTITY % a 'x'>]>"),
        "more than a list of entities",
    ),
    "a long entity": (xml("<e:A/>", f"<!DOCTYPE x [<!ENTITY a '{'x' * 1000}'>]>"), "longer than 500 bytes"),
    "a long attribute": (
        xml(f"<e:A e:p='{'&a;' * 500_000}'/>", f"<!DOCTYPE x [<!ENTITY a '{'y' * 490}'>]>"),
        "its ent",
    ),
    "no element": ("<!-- " + "x" * 600_000 + " -->", "has no element among its first"),
}


@pytest.mark.parametrize("kind", HOSTILE_XML)
def test_hostile_xml_is_refused(tmp_path: Path, kind: str) -> None:
    document, complaint = HOSTILE_XML[kind]
    with pytest.raises(GraphError, match=complaint):
        read_graph(file_of(tmp_path, "hostile.owl", document))
    with pytest.raises(GraphError, match=complaint):
        list(statements_in(document.encode(), "application/rdf+xml"))


def test_names_for_namespaces_are_read_as_ontologies_have_them(tmp_path: Path) -> None:
    prolog = """<!-- An ontology's licence -->
<!DOCTYPE rdf:RDF [
    <!-- namespaces -->
    <!ENTITY owl "http://www.w3.org/2002/07/owl#" >
    <!ENTITY e "http://e/">
]>
"""
    things = "".join(f"<e:A rdf:about='&e;{i}'><e:p rdf:resource='&owl;Thing'/></e:A>" for i in range(5000))
    graph = read_graph(file_of(tmp_path, "named.owl", xml(things, prolog))).graph
    assert graph.num_triples == 10_000
    assert "http://www.w3.org/2002/07/owl#Thing" in graph.vocabulary.entities.keys.to_pylist()


def test_a_public_document_type_is_read(tmp_path: Path) -> None:
    prolog = '<!DOCTYPE rdf:RDF PUBLIC "-//DUBLIN CORE//DCMES DTD 2002/07/31//EN" "http://dublincore.org/dcmes.dtd">'
    document = xml("<e:A rdf:about='http://e/a'/>", prolog)
    assert read_graph(file_of(tmp_path, "dc.rdf", document)).graph.num_triples == 1


def test_xml_may_nest_as_deep_as_people_write_it(tmp_path: Path) -> None:
    depth = DEEPEST_ELEMENT // 2 - 2
    document = xml("<e:A><e:p>" * depth + "<e:B/>" + "</e:p></e:A>" * depth)
    assert read_graph(file_of(tmp_path, "deep.rdf", document)).graph.num_triples == 2 * depth + 1

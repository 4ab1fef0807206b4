"""Whatever is wrong: one clear message, exit code 2, no traceback, no half-written file."""

from __future__ import annotations

import gzip
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import unseen.api
from tests.documents import blocks

if TYPE_CHECKING:
    from tests.cli.command import Command, Result

QUESTION = "?x : parent(Ada, x)"
GOOD = b"a\tr\tb\nb\tr\tc\n"
LONG_LINE = 10 * 1024 * 1024


def assert_one_error(result: Result, *parts: str) -> None:
    """Exit code 2, nothing on standard output, and one message; of a question also its place and what was meant."""
    assert (result.code, result.output) == (2, "")
    assert "Traceback" not in result.errors
    assert result.errors.startswith("error: ")
    assert len(result.lines) in {1, 3, 4}
    assert all(part in result.errors for part in parts)
    assert max(map(len, result.lines)) < 1000


BAD_FILES: dict[str, tuple[str, bytes, list[str]]] = {
    "an empty file": ("bad.tsv", b"", ["bad.tsv: ", "empty"]),
    "a file of nothing but line ends": ("bad.tsv", b"\n\n\n", ["bad.tsv: ", "no triples"]),
    "a file of comments": ("bad.nt", b"# nothing\n", ["bad.nt: ", "no triples"]),
    "a header and no triple": ("bad.csv", b"head,relation,tail\n", ["bad.csv: ", "no triples"]),
    "too few columns": ("bad.tsv", b"a\tr\tb\na\tr\n", ["bad.tsv: line 2: "]),
    "too many columns": ("bad.tsv", b"a\tr\tb\nx\tr\ty\tz\n", ["bad.tsv: line 2: "]),
    "not UTF-8": ("bad.tsv", b"a\tr\tb\nx\tr\tM\xfcnchen\n", ["bad.tsv: line 2: ", "UTF-8"]),
    "UTF-16": ("bad.tsv", "a\tr\tb\n".encode("utf-16"), ["bad.tsv: ", "UTF-16"]),
    "NUL bytes": ("bad.tsv", b"a\tr\tb\nc\0\tr\td\n", ["bad.tsv: line 2: ", "NUL"]),
    "a line of ten megabytes": ("bad.tsv", b"a\tr\tb\n" + b"x" * LONG_LINE + b"\n", ["bad.tsv: line 2: "]),
    "a name of ten megabytes": ("bad.tsv", b"a\tr\tb\nc\tr\t" + b"x" * LONG_LINE + b"\n", ["bad.tsv: line 2: "]),
    "a truncated gzip": ("bad.tsv.gz", gzip.compress(GOOD * 1000)[:-20], ["bad.tsv.gz: ", "truncated"]),
    "a damaged gzip": ("bad.tsv.gz", gzip.compress(GOOD)[:12] + b"garbage garbage", ["bad.tsv.gz: ", "gzip"]),
    "gz that is no gzip": ("bad.tsv.gz", GOOD, ["bad.tsv.gz: ", "not compressed"]),
    "gzip that says it is none": ("bad.tsv", gzip.compress(GOOD), ["bad.tsv: ", ".gz"]),
    "a broken statement": ("bad.nt", b"<urn:a> <urn:r> <urn:b> .\n<urn:a> <urn:r>\n", ["bad.nt: line 2: "]),
    "broken Turtle": ("bad.ttl", b"@prefix a: <urn:a> .\na:b a:c ; .", ["bad.ttl: "]),
    "broken XML": ("bad.rdf", b"<rdf:RDF", ["bad.rdf: "]),
    "broken JSON": ("bad.jsonld", b'{"@id": ', ["bad.jsonld: "]),
    "Parquet that is none": ("bad.parquet", b"PAR1 but no more", ["bad.parquet: "]),
    "an unknown ending": ("bad.docx", GOOD, ["bad.docx: ", "must end in one of", ".tsv"]),
    "no ending": ("bad", GOOD, ["bad: ", "must end in one of"]),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_is_one_clear_line(command: Command, folder: Path, kind: str) -> None:
    name, content, parts = BAD_FILES[kind]
    (folder / name).write_bytes(content)
    assert_one_error(command("info", name), *parts)
    assert_one_error(command("ask", name, QUESTION), *parts)


@pytest.mark.parametrize("kind", BAD_FILES)
@pytest.mark.parametrize("target", ["out.tsv", "out.nt.gz", "out.parquet"])
def test_converting_a_bad_file_leaves_nothing_behind(command: Command, folder: Path, kind: str, target: str) -> None:
    name, content, parts = BAD_FILES[kind]
    (folder / name).write_bytes(content)
    assert_one_error(command("convert", name, target), *parts)
    assert [path.name for path in folder.iterdir()] == [name]


def test_a_failed_conversion_leaves_an_older_file_as_it_was(command: Command, folder: Path) -> None:
    (folder / "bad.tsv").write_bytes(b"a\tr\n")
    (folder / "out.tsv").write_bytes(GOOD)
    assert command("convert", "bad.tsv", "out.tsv").code == 2
    assert (folder / "out.tsv").read_bytes() == GOOD


@pytest.mark.parametrize("words", [["info"], ["ask", "?"], ["convert", "out.tsv"]])
def test_a_missing_file_is_one_clear_line(command: Command, folder: Path, words: list[str]) -> None:
    name, *after = words
    assert_one_error(command(name, "nowhere.tsv", *after), "nowhere.tsv: there is no such file")
    assert list(folder.iterdir()) == []


def test_a_directory_is_one_clear_line(command: Command, folder: Path) -> None:
    (folder / "graphs.tsv").mkdir()
    assert_one_error(command("info", "graphs.tsv"), "graphs.tsv: is a directory")


def test_a_file_that_may_not_be_read_is_one_clear_line(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "secret.tsv").write_bytes(GOOD)

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", forbidden)
    assert_one_error(command("info", "secret.tsv"), "secret.tsv: may not be read: permission denied")


def test_the_second_of_two_files_is_named_when_it_is_bad(command: Command, folder: Path) -> None:
    (folder / "good.tsv").write_bytes(GOOD)
    (folder / "bad.tsv").write_bytes(b"a\tr\tb\nx\ty\n")
    assert_one_error(command("ask", "good.tsv", "bad.tsv", QUESTION), "bad.tsv: line 2: ")


@pytest.mark.parametrize(
    ("target", "parts"),
    [
        ("out.ttl", ["out.ttl: ", "must end in one of"]),
        ("out", ["out: ", "must end in one of"]),
        ("nowhere/out.tsv", ["nowhere"]),
        ("folder.tsv", ["folder.tsv"]),
    ],
)
def test_a_target_that_cannot_be_written_is_one_clear_line(
    command: Command, folder: Path, family_file: str, target: str, parts: list[str]
) -> None:
    (folder / "folder.tsv").mkdir()
    assert_one_error(command("convert", family_file, target), *parts)
    assert {path.name for path in folder.iterdir()} == {family_file, "folder.tsv"}


BAD_QUESTIONS = {
    "an unknown entity": ("?x : parent(Adda, x)", ["unknown entity 'Adda'; closest: Ada"]),
    "an unknown relation": ("?x : parents(Ada, x)", ["unknown relation 'parents'; closest: parent"]),
    "an unknown name of a megabyte": (f"?x : parent({'Ada' * 300_000}, x)", ["unknown entity 'AdaAda", "…"]),
    "a syntax error": ("?x : parent(Ada x)", ["syntax error at position 17: ", "\n  ?x : parent(Ada x)\n", " ^"]),
    "no question": ("", ["syntax error at position 1: "]),
    "a file in place of a question": ("family.tsv", ["syntax error at position 1: a question starts with"]),
    "no connection": ("?x, y : parent(Ada, x) & likes(Ben, y)", ["?y has no connection with ?x", " ^"]),
    "unbound negation": ("?x : !parent(Ada, x)", ["negation must be bound", " ^"]),
    "a query nested 10,000 deep": (
        "?x : " + "(" * 10_000 + "parent(Ada, x)" + ")" * 10_000,
        ["nested deeper than 100"],
    ),
    "10,000 negations": ("?x : parent(Ada, x) & " + "!" * 10_000 + "likes(x, Go)", ["nested deeper than 100"]),
    "not Unicode": ("?x : parent(\udcff, x)", ["not valid Unicode"]),
    "a NUL": ("?x : parent(\0, x)", ["unknown entity"]),
}


@pytest.mark.parametrize("kind", BAD_QUESTIONS)
def test_a_bad_question_is_one_clear_message(command: Command, family_file: str, kind: str) -> None:
    question, parts = BAD_QUESTIONS[kind]
    assert_one_error(command("ask", family_file, question), *parts)
    assert_one_error(command("ask", family_file, question, "--json"), *parts)


@pytest.mark.parametrize(
    "question",
    [
        "SELECT ?x WHERE { :Ada :parent ?x",
        "SELECT ?x ?y WHERE { :Ada :parent ?x . :Ben :likes ?y }",
        "SELECT ?x WHERE { :Ada :parent ?x FILTER(?x > 3) }",
        "CONSTRUCT { :Ada :parent ?x } WHERE { :Ada :parent ?x }",
        "SELECT ?x WHERE { :Adda :parent ?x }",
        "SELECT ?x WHERE " + "{" * 10_000 + " :Ada :parent ?x " + "}" * 10_000,
    ],
    ids=["syntax", "no connection", "filter", "construct", "unknown name", "nested 10,000 deep"],
)
def test_a_bad_sparql_question_is_one_clear_message(command: Command, family_file: str, question: str) -> None:
    result = command("ask", family_file, question)
    assert (result.code, result.output) == (2, "")
    assert result.errors.startswith("error: ")
    assert "Traceback" not in result.errors
    assert max(map(len, result.lines)) < 1000


def test_an_ask_is_answered_as_a_statement(command: Command, family_file: str) -> None:
    result = command("ask", family_file, "ASK { :Ada :parent :Ben }", "--method", "edge-type")
    assert result.code == 0, result.errors
    assert "known" in result.output
    assert result.output == command("score", family_file, "ASK { :Ada :parent :Ben }", "--method", "edge-type").output


def test_the_errors_that_the_page_of_the_language_shows_are_printed(command: Command) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "questions.md"
    shown = [block.text.splitlines() for block in blocks(page) if "\nerror: " in block.text]
    assert len(shown) >= 2
    for first, *expected in shown:
        result = command(*shlex.split(first)[2:])
        assert result.lines == expected


def test_the_five_closest_names_are_offered(command: Command) -> None:
    result = command("ask", "countries", "?x : borders(Frnace, x)")
    assert_one_error(result, "unknown entity 'Frnace'; closest: ", "France")
    assert len(result.lines[0].split("closest: ")[1].split(", ")) == 5


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["ask", "family.tsv"], "give at least one graph, then the question"),
        (["convert", "family.tsv"], "give the graphs to read, then the file to write"),
        (["info"], "Missing argument"),
        (["ask", "family.tsv", QUESTION, "--top", "many"], "Invalid value for '--top'"),
        (["ask", "family.tsv", QUESTION, "--unheard-of"], "No such option"),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)
def test_a_wrong_call_says_how_it_is_done(command: Command, family_file: str, words: list[str], part: str) -> None:
    result = command(*words)
    assert (result.code, result.output) == (2, "")
    assert part in " ".join(result.errors.split())
    assert "Traceback" not in result.errors


def test_no_answer_at_all_cannot_be_asked_for(command: Command, family_file: str) -> None:
    assert_one_error(command("ask", family_file, QUESTION, "--top", "0"), "at least 1, not 0")


def test_an_unknown_method_lists_the_known_ones(command: Command, family_file: str) -> None:
    assert_one_error(
        command("ask", family_file, QUESTION, "--method", "oracle"), "there is no method 'oracle'", "edge-type"
    )


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, ""),
        (MemoryError(), 2, "error: this needs more memory than the machine has\n"),
        (ZeroDivisionError("oops"), 1, "error: internal error: ZeroDivisionError: oops (UNSEEN_DEBUG=1 shows where)\n"),
    ],
)
def test_what_nobody_expected_ends_in_one_line_at_most(
    command: Command, family_file: str, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(unseen.api, "ask_prepared", fail)
    result = command("ask", family_file, QUESTION)
    assert (result.code, result.errors) == (code, message)


def test_the_place_of_an_internal_error_is_shown_when_asked_for(
    command: Command, family_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unseen.api, "ask_prepared", lambda *_, **__: 1 / 0)
    monkeypatch.setenv("UNSEEN_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        command("ask", family_file, QUESTION)

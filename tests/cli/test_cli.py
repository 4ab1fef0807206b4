"""What the command writes, held against golden files, and what it does to files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import GOLDEN, Command, assert_golden
from tests.conftest import FAMILY
from tests.reasons.tree import TREE
from unseen.asking.answers import Answer
from unseen.cli.shown_answers import shown_probabilities
from unseen.version import __version__

HEAVY = ("torch", "pyarrow", "numba", "rdflib", "pyoxigraph", "numpy", "rich.progress", "matplotlib", "starlette")
GRANDCHILDREN = "?u : exists child . parent(Ada, child) & parent(child, u)"
NEIGHBOURS = "?x : borders(France, x) & !speaks(x, German)"
HEURISTIC = ("--method", "edge-type")
"""What gives the same digits on every machine; sums of a network do not."""


def test_flags_have_no_type_in_help(command: Command) -> None:
    for words in (["ask"], ["models"], ["train", "gnn-qe"], ["db", "load"], ["dataset", "stats"], []):
        page = command(*words, "--help").output
        assert "<bool>" not in page
        assert "--help" in page


def test_names_of_models_are_not_broken_where_there_is_no_terminal(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    listed = command("models").output.splitlines()
    assert [line.split("  ")[0] for line in listed] == ["name", "default (default)", "without-fb15k-237"]


def test_decimal_points_of_probabilities_stand_below_each_other(command: Command) -> None:
    for words in ([NEIGHBOURS, "--top", "12"], ["?x : borders(France, x)", "--top", "40"]):
        lines = command("ask", "countries", *words, *HEURISTIC).output.splitlines()[1:-1]
        points = {re.search(r"\d([.e])[-\d.e]*$", line).start(1) for line in lines}
        assert len(points) == 1, lines
    answers = [Answer(1, "a", True, value) for value in (1.0, 0.5, 0.04, 0.00123, 1e-5, 3.21e-7)]
    assert shown_probabilities(answers) == ["1.000  ", "0.500  ", "0.040  ", "0.0012 ", "1.0e-05", "3.2e-07"]


class TestGoldenOutput:
    """Each command's output is kept beside this file."""

    @pytest.mark.parametrize("page", ["ask", "info", "convert", "demo", "check"])
    def test_help(self, command: Command, page: str) -> None:
        result = command(page, "--help")
        assert (result.code, result.errors) == (0, "")
        assert_golden(f"help-{page}.txt", result.output.replace("python -m pytest.unseen", "unseen"))

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("ask", [NEIGHBOURS, "--top", "6", *HEURISTIC]),
            ("ask-predicted", [NEIGHBOURS, "--top", "3", "--predicted", *HEURISTIC]),
            ("ask-exact", ["?x : speaks(x, French)", "--method", "exact", "--top", "4"]),
            (
                "ask-explain",
                ["?l : exists v . borders(France, v) & speaks(v, l)", "--top", "15", "--explain", *HEURISTIC],
            ),
            ("ask-sparql", ["SELECT ?x WHERE { :France :borders/:speaks ?x } LIMIT 4", *HEURISTIC]),
            ("ask-nothing", ["?x : borders(France, x) & borders(x, Japan)", "--method", "exact"]),
        ],
    )
    def test_a_table_of_answers(self, command: Command, name: str, words: list[str]) -> None:
        result = command("ask", "countries", *words)
        assert (result.code, result.errors) == (0, "")
        assert_golden(f"{name}.txt", result.output)

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("ask", [*HEURISTIC]),
            ("ask-explain", ["--explain", *HEURISTIC]),
            ("ask-exact", ["--method", "exact", "--top", "1"]),
        ],
    )
    def test_answers_as_json(self, command: Command, family_file: str, name: str, words: list[str]) -> None:
        result = command("ask", family_file, GRANDCHILDREN, "--json", *words)
        assert (result.code, result.errors) == (0, "")
        more = [] if "exact" in words else ["expected"]
        assert list(json.loads(result.output)) == ["query", "method", "graph", "known", "answers", *more]
        assert_golden(f"{name}.json", result.output)

    def test_reasons_stand_below_what_is_predicted(self, command: Command, folder: Path) -> None:
        (folder / "tree.tsv").write_text("".join("\t".join(triple) + "\n" for triple in TREE), encoding="utf-8")
        question = "?x : grandparent_of(Ann0, x) & !lives_in(x, Graz)"
        result = command("ask", "tree.tsv", question, "--explain", "--top", "1", *HEURISTIC)
        assert (result.code, result.errors) == (0, "")
        assert_golden("ask-reasons.txt", result.output)

    def test_info(self, command: Command) -> None:
        result = command("info", "countries")
        assert (result.code, result.errors) == (0, "")
        assert_golden("info.txt", result.output)

    def test_info_as_json(self, command: Command, family_file: str) -> None:
        result = command("info", family_file, "--json", "--top", "1")
        assert (result.code, result.errors) == (0, "")
        assert_golden("info.json", result.output)

    @pytest.mark.parametrize("target", ["out.tsv", "out.nt", "out.csv"])
    def test_convert(self, command: Command, folder: Path, family_file: str, target: str) -> None:
        result = command("convert", family_file, target)
        assert (result.code, result.output) == (0, "")
        assert result.errors == f"wrote 8 triples to {target}\n"
        assert_golden(f"convert-{target}", (folder / target).read_text(encoding="utf-8"))

    def test_no_golden_file_is_left_over(self) -> None:
        source = Path(__file__).read_text(encoding="utf-8")
        stems = {path.name.removesuffix(path.suffix) for path in GOLDEN.iterdir()}
        assert all(f'"{stem.removeprefix("help-").removeprefix("convert-")}' in source for stem in stems)


def test_unlikely_predictions_are_counted_not_shown(command: Command) -> None:
    words = ("ask", "countries", "?x : capital(France, x)", *HEURISTIC)
    result = command(*words)
    assert "predicted  " not in result.output
    assert re.search(
        r"^9 unlikely predictions are hidden, the likeliest .* with \S+; --all shows them$", result.output, re.M
    )
    assert "hidden" not in command(*words, "--all").output
    assert len(json.loads(command(*words, "--json").output)["answers"]) == 10


def test_the_first_page_lists_every_command(command: Command) -> None:
    result = command("--help")
    assert result.code == 0
    assert all(f" {name} " in result.output for name in ("ask", "info", "convert", "demo"))
    assert "Logical questions over knowledge graphs" in result.output


def test_the_version_is_told(command: Command) -> None:
    assert command("--version").output == f"unseen {__version__}\n"


def test_the_package_can_be_run_where_the_command_is_not_on_the_path() -> None:
    words = [sys.executable, "-m", "unseen", "--version"]
    ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stdout) == (0, f"unseen {__version__}\n")


def test_the_same_words_help_in_short(command: Command) -> None:
    assert command("ask", "-h").output == command("ask", "--help").output


@pytest.mark.parametrize("target", ["out.tsv", "out.csv", "out.nt", "out.parquet", "out.nt.gz", "out.tsv.gz"])
def test_a_converted_file_holds_the_same_graph(command: Command, family_file: str, target: str) -> None:
    import unseen

    assert command("convert", family_file, target).code == 0
    assert list(unseen.load(target).triples()) == FAMILY


def test_several_files_are_converted_into_one(command: Command, folder: Path, family_file: str) -> None:
    (folder / "more.tsv").write_text("Emil\tparent\tFay\nAda\tparent\tBen\n")
    assert command("convert", family_file, "more.tsv", "all.tsv").errors == "wrote 9 triples to all.tsv\n"


def test_readable_names_are_written_when_asked_for(command: Command, folder: Path) -> None:
    (folder / "a.nt").write_text("<http://ex.org/a> <http://ex.org/r> <http://ex.org/b> .\n")
    command("convert", "a.nt", "keys.tsv")
    command("convert", "a.nt", "names.tsv", "--readable")
    assert (folder / "keys.tsv").read_text() == "http://ex.org/a\thttp://ex.org/r\thttp://ex.org/b\n"
    assert (folder / "names.tsv").read_text() == "ex:a\tex:r\tex:b\n"


def test_skipped_lines_are_counted_and_the_first_is_shown(command: Command, folder: Path) -> None:
    (folder / "bad.tsv").write_text("a\tr\tb\nonly two\tparts\nc\tr\td\none\n")
    result = command("info", "bad.tsv", "--skip-errors", "--json")
    assert result.code == 0
    assert json.loads(result.output)["triples"] == 2
    assert result.errors.startswith("2 malformed lines were left out, the first: bad.tsv: line 2: ")


def test_literals_are_values_or_entities(command: Command, folder: Path) -> None:
    (folder / "a.nt").write_text('<urn:a> <urn:r> <urn:b> .\n<urn:a> <urn:age> "7" .\n')
    left_out, kept = command("info", "a.nt", "--json"), command("info", "a.nt", "--json", "--literals")
    assert [json.loads(result.output)["triples"] for result in (left_out, kept)] == [1, 2]
    assert left_out.errors == "1 literals are values of their subjects; --literals makes entities of them\n"
    assert kept.errors == ""


NASTY_NAMES = ["[/bold]", "[red]x[/red]", ":smile:", "a:car:b", "new\\nline", "日本", "[", "%s", "{x}"]


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_names_are_shown_as_they_are(command: Command, folder: Path, name: str) -> None:
    (folder / "nasty.tsv").write_text(f"Ada\t{name}\t{name}\n", encoding="utf-8")
    quoted = '"' + name.replace("\\", "\\\\") + '"'
    asked = command("ask", "nasty.tsv", f"?x : {quoted}(Ada, x)", "--explain")
    assert (asked.code, asked.errors) == (0, "")
    assert f"{name}(Ada, {name})" in asked.output
    info = command("info", "nasty.tsv")
    assert (info.code, info.errors) == (0, "")
    assert name in info.output


def test_the_shipped_model_answers_where_no_method_is_named(command: Command) -> None:
    result = command("ask", "countries", NEIGHBOURS, "--top", "8", "--json")
    assert (result.code, result.errors) == (0, "")
    told = json.loads(result.output)
    assert told["method"] == "default"
    assert {answer["entity"] for answer in told["answers"][:3]} == {"Andorra", "Spain", "Monaco"}
    assert [answer["known"] for answer in told["answers"]] == [True] * 3 + [False] * 5
    probabilities = [answer["probability"] for answer in told["answers"]]
    assert min(probabilities[:3]) > max(probabilities[3:])
    assert "method default;" in command("ask", "countries", NEIGHBOURS).output


def test_the_demo_tells_its_story(command: Command) -> None:
    result = command("demo")
    assert (result.code, result.errors) == (0, "")
    assert all(f"\n{number}. " in result.output for number in (1, 2, 3, 4))
    assert "Atlantis" in result.output
    assert "the hidden truth" in result.output
    (everything,) = (line for line in result.output.splitlines() if line.startswith("all facts"))
    model, rules, heuristic = (int(share) for share in re.findall(r"/(\d+)", everything))
    assert min(model, rules) > 2 * heuristic


def _python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)


@pytest.mark.parametrize("words", [["--help"], ["ask", "--help"], ["--version"], ["no-such-command"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    code = (
        f"import sys; sys.argv = ['unseen', *{words!r}]\n"
        "from unseen.cli.main import run\n"
        "try: run()\n"
        "except SystemExit: pass\n"
        f"sys.exit(' '.join(name for name in {HEAVY!r} if name in sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert not set(ended.stderr.split()) & set(HEAVY)


def test_importing_the_package_imports_nothing_heavy() -> None:
    loaded = _python(f"import sys, unseen; print([name for name in {HEAVY!r} if name in sys.modules])").stdout
    assert loaded.strip() == "[]"


def test_threads_of_one_question_sleep_while_they_wait(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", "")
    monkeypatch.delenv("OMP_WAIT_POLICY")  # put back at the end, whatever the command sets
    assert command("ask", "countries", NEIGHBOURS, "--method", "exact").code == 0
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"


def test_the_exact_method_does_without_torch() -> None:
    code = "import sys, unseen; unseen.ask(unseen.load('countries'), '?x : borders(France, x)', method='exact')"
    assert _python(code + "; print('torch' in sys.modules)").stdout.strip() == "False"


def test_a_reader_that_stops_early_is_no_error() -> None:
    unseen_command = Path(sys.executable).with_name("unseen")
    if not unseen_command.exists():
        pytest.skip("the command is not installed beside Python")
    question = "?x : exists v . located_in(x, v) & is_a(v, Country)"
    ask = f"{unseen_command} ask countries '{question}' --method exact --json --top 3000"
    script = f"{ask} | head -1; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "{\n", "")

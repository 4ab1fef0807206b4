"""README and docs cannot go stale: their Python runs, their commands succeed and print what is shown."""

from __future__ import annotations

import importlib.util
import re
import shlex
import tomllib
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

from experiments.grid_document import page as grid_page
from experiments.grid_document import with_tables
from tests.cli.command import Command, command_in
from tests.documents import (
    Block,
    ShellLine,
    blocks,
    examples,
    headings,
    links,
    same_output,
    shell_lines,
    site_pages,
)

ROOT = Path(__file__).resolve().parents[1]
SITE = sorted((ROOT / "docs").rglob("*.md"))
DOCUMENTS = [ROOT / "README.md", *SITE]
EXPERIMENTS = [ROOT / "experiments" / name for name in ("history.md", "grid.md", "results/README.md")]
"""Pages whose links are followed, and whose commands are not run."""
SECTIONS = ("tutorial", "how-to", "reference", "explanation")
SHELL = {"console", "bash", "sh", "shell"}


def is_example(block: Block) -> bool:
    return bool(block.file) or block.language == "python" or (block.language in SHELL and bool(shell_lines(block.text)))


EXAMPLES = [
    example
    for path in DOCUMENTS
    for example in ([block for block in group if is_example(block)] for group in examples(path))
    if example
]


def name_of(example: list[Block]) -> str:
    return f"{example[0].path.name}:{example[0].line}"


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_examples_run_and_print_what_is_shown(
    example: list[Block], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UNSEEN_FIT", "1")  # as a reader has it
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    command = command_in(monkeypatch, capsys)
    for block in example:
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            exec(compile("\n" * block.line + block.text, str(block.path), "exec"), {"__name__": "example"})
        else:
            run_commands(block, command)


def run_commands(block: Block, command: Command) -> None:
    for line in shell_lines(block.text):
        result = command(*shlex.split(line.words, comments=True)[1:])
        assert result.code == 0, f"{line.words}\n{result.errors}"
        shown = [text for text in line.output if text]
        if shown and "..." not in shown and "…" not in shown:
            printed = result.output.splitlines()
            assert same_output(printed, shown), "\n".join(printed)


def test_the_page_of_the_command_line_is_what_the_tool_writes() -> None:
    page, tool = ROOT / "docs" / "reference" / "cli.md", ROOT / "tools" / "cli_reference.py"
    assert page.read_text(encoding="utf-8") == opened(tool).reference(), "run .venv/bin/python tools/cli_reference.py"


def test_the_page_of_the_grid_is_what_the_tool_makes_of_the_result_files(tmp_path: Path) -> None:
    page = ROOT / "experiments" / "grid.md"
    shown = re.sub(r"!\[[^\n]*\n\n", "", page.read_text(encoding="utf-8"))
    assert shown == grid_page(tmp_path, figures=False), "run .venv/bin/python -m experiments.grid_document"


def test_the_tables_of_the_results_are_what_the_tool_makes_of_the_result_files() -> None:
    page = (ROOT / "docs" / "explanation" / "results.md").read_text(encoding="utf-8")
    assert page == with_tables(page), "run .venv/bin/python -m experiments.grid_document"
    assert page.count("<!-- table: ") >= 7
    assert len(page.splitlines()) <= 250


def opened(tool: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(tool.stem, tool)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", [*DOCUMENTS, *EXPERIMENTS, ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_links_lead_to_files_and_headings_that_exist(path: Path) -> None:
    for file, heading in links(path):
        target = path.parent / file if file else path
        assert target.exists(), f"{path.name}: {file}"
        assert not heading or heading in headings(target), f"{path.name}: {file}#{heading}"


def test_every_page_is_in_the_navigation_once_and_in_one_of_the_four_parts() -> None:
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in SITE]
    assert sorted(site_pages(ROOT / "mkdocs.yml")) == sorted(pages)
    assert {page for page in pages if page.split("/")[0] not in SECTIONS} == {"index.md"}


def test_nothing_is_nested_below_a_page_in_the_navigation() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    entries = re.findall(r"^( *)- (.*)$", text[text.index("\nnav:") : text.index("\nvalidation:")], re.MULTILINE)
    for (outer, entry), (inner, _) in pairwise(entries):
        assert len(inner) <= len(outer) or entry.endswith(":"), entry


def test_the_index_leads_to_every_page() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / file).resolve() for file, _ in links(index)}
    assert linked >= set(SITE) - {index}


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_pages_do_not_depend_on_files_outside_the_repository() -> None:
    for path in [*DOCUMENTS, ROOT / "CONTRIBUTING.md"]:
        assert "shared/" not in path.read_text(encoding="utf-8"), path.name


MARKDOWN = """
# Title

```python
x = 1
```

<!-- not run: needs a file -->
```console
$ unseen info facts.tsv
```

```console
$ unseen ask countries "?x : r(a, x)" \\
    --top 1
rank  entity
$ ls
facts.tsv
$ unseen info countries
```

```bash
unseen info countries
cd somewhere
```

```python
y = 2  # not run
```
"""


def test_examples_are_found_in_markdown(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(MARKDOWN)
    found = blocks(path)
    assert [(block.language, block.is_run) for block in found] == [
        ("python", True),
        ("console", False),
        ("console", True),
        ("bash", True),
        ("python", False),
    ]
    assert found[0].line == 4
    assert shell_lines(found[2].text) == [
        ShellLine('unseen ask countries "?x : r(a, x)"  --top 1', ["rank  entity"]),
        ShellLine("unseen info countries", []),
    ]
    assert shell_lines(found[3].text) == [ShellLine("unseen info countries")]


def test_only_the_last_digits_of_what_is_shown_may_differ() -> None:
    shown = ["rank  entity   probability", "   1  Spain   known  0.986", "3 known, 1,234 triples"]
    assert same_output(["rank entity probability", "1 Spain known 0.985", "", "3 known, 1,234 triples"], shown)
    assert not same_output(["rank entity probability", "1 Spain known 0.785", "3 known, 1,234 triples"], shown)
    assert not same_output(["rank entity probability", "2 Spain known 0.986", "3 known, 1,234 triples"], shown)
    assert not same_output(["rank entity probability", "1 Spain known 0.986", "3 known, 1,235 triples"], shown)
    assert not same_output(shown[:2], shown)


def test_installing_is_described_as_it_works_from_a_clone() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sources = [*DOCUMENTS, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "src").rglob("*.py"))]
    for path in sources:
        text = path.read_text(encoding="utf-8")
        for line in re.findall(r"pip install[^`\n]*", text):
            assert "unseen[" not in line, f"{path.name}: {line}: there is no such package on an index"
            extras = re.findall(r"'\.\[([a-z]+)\]'", line)
            assert set(extras) <= set(project["optional-dependencies"]), f"{path.name}: {line}"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pins a small torch" not in readme
    assert "PyTorch's CPU index" in readme

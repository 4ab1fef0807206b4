"""README and docs cannot go stale: their Python runs, their commands succeed and print what is shown."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType

import pytest

from experiments.grid_document import page as grid_page
from experiments.grid_document import with_tables
from tests.cli.command import command_in
from tests.documents import Block, ShellLine, blocks, same_output, shell_lines

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXPERIMENTS = [ROOT / "experiments" / "history.md", ROOT / "experiments" / "results" / "README.md"]
"""Pages whose links are followed, and whose commands are not run."""
EXAMPLES = [block for path in DOCUMENTS for block in blocks(path) if block.is_run]
SHELL = {"console", "bash", "sh", "shell"}


def name_of(value: object) -> str:
    return f"{value.path.name}:{value.line}" if isinstance(value, Block) else ""


@pytest.mark.parametrize("block", [block for block in EXAMPLES if block.language == "python"], ids=name_of)
def test_python_examples_run(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = compile("\n" * block.line + block.text, str(block.path), "exec")
    exec(code, {"__name__": "example"})


@pytest.mark.parametrize(
    "block", [block for block in EXAMPLES if block.language in SHELL and shell_lines(block.text)], ids=name_of
)
def test_commands_succeed_and_print_what_is_shown(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = command_in(monkeypatch, capsys)
    for line in shell_lines(block.text):
        result = command(*shlex.split(line.words)[1:])
        assert result.code == 0, f"{line.words}\n{result.errors}"
        shown = [text for text in line.output if text]
        if shown and "..." not in shown and "…" not in shown:
            printed = result.output.splitlines()
            assert same_output(printed, shown), "\n".join(printed)


def test_the_page_of_the_command_line_is_what_the_tool_writes() -> None:
    page, tool = ROOT / "docs" / "cli.md", ROOT / "tools" / "cli_reference.py"
    assert page.read_text(encoding="utf-8") == opened(tool).reference(), "run .venv/bin/python tools/cli_reference.py"


def test_the_page_of_the_grid_is_what_the_tool_makes_of_the_result_files(tmp_path: Path) -> None:
    page = ROOT / "docs" / "grid.md"
    shown = re.sub(r"!\[[^\n]*\n\n", "", page.read_text(encoding="utf-8"))
    assert shown == grid_page(tmp_path, figures=False), "run .venv/bin/python -m experiments.grid_document"


def test_the_tables_of_the_results_are_what_the_tool_makes_of_the_result_files() -> None:
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
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


def test_links_between_documents_lead_somewhere() -> None:
    links = [
        (path, target)
        for path in [*DOCUMENTS, *EXPERIMENTS]
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
        if "://" not in target and not target.startswith("mailto:")
    ]
    broken = [f"{path.name}: {target}" for path, target in links if not (path.parent / target).exists()]
    assert not broken


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
    sources = [*DOCUMENTS, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "src").rglob("*.py"))]
    for path in sources:
        text = path.read_text(encoding="utf-8")
        for line in re.findall(r"pip install[^`\n]*", text):
            assert "unseen[" not in line, f"{path.name}: {line}: there is no such package on an index"
            extras = re.findall(r"'\.\[([a-z]+)\]'", line)
            assert set(extras) <= {"rdf", "server", "mcp", "plot", "dev"}, f"{path.name}: {line}"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pins a small torch" not in readme
    assert "PyTorch's CPU index" in readme

"""The examples of the documents: blocks of Markdown that can be run."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_FENCE = re.compile(r"^( *)```(\w*)([^\n]*)\n(.*?)^\1```[ \t]*$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')
_TOGETHER = "<!-- examples build on each other -->"
_NOT_RUN = re.compile(r"<!--\s*not run[^>]*-->\s*\Z")


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text and the line where it starts."""

    path: Path
    line: int
    language: str
    text: str
    is_run: bool
    file: str = ""
    """The file that the reader saves it as, if the block has such a title."""


@dataclass(frozen=True)
class ShellLine:
    """One command and the output shown below it, if any."""

    words: str
    output: list[str] = field(default_factory=list)


def blocks(path: Path) -> list[Block]:
    """The fenced blocks of a document, in order."""
    text = path.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        title, body = _TITLE.search(match.group(3)), match.group(4)
        is_run = _NOT_RUN.search(text[: match.start()]) is None and "# not run" not in body
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(path, line, match.group(2).lower(), body, is_run, title.group(1) if title else ""))
    return found


def examples(path: Path) -> list[list[Block]]:
    """The blocks of a document that are run: each alone in an empty folder, or all in one if the page says so."""
    found = [block for block in blocks(path) if block.is_run]
    return [found] if _TOGETHER in path.read_text(encoding="utf-8") else [[block] for block in found]


def site_pages(settings: Path) -> list[str]:
    """The pages that the navigation of the site names, in order."""
    text = settings.read_text(encoding="utf-8")
    navigation = text[text.index("\nnav:") : text.index("\nvalidation:")]
    return re.findall(r"^ *- [^:\n]+: (\S+\.md)$", navigation, re.MULTILINE)


def links(path: Path) -> list[tuple[str, str]]:
    """The file and the heading of every link in a document that leads to a file or to a heading of its own."""
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    found = re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", text)
    return [(file, heading) for file, heading in found if "://" not in file and not file.startswith("mailto:")]


def headings(path: Path) -> set[str]:
    """How links name the headings of a document: lower case, without signs, dashes for blanks."""
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def shell_lines(text: str) -> list[ShellLine]:
    """The `unseen` commands of a block, after `$ ` or alone; what follows a `$` line until the next is its output."""
    joined = re.sub(r"\\\n\s*(?:>\s)?", " ", text)
    has_prompts = any(line.startswith("$ ") for line in joined.splitlines())
    found: list[ShellLine] = []
    for line in joined.splitlines():
        command = line.removeprefix("$ ")
        if line.startswith("$ ") or (not has_prompts and command.startswith("unseen ")):
            found.append(ShellLine(command))
        elif has_prompts and found:
            found[-1].output.append(line.rstrip())
    return [line for line in found if line.words.startswith("unseen ")]


def same_output(printed: list[str], shown: list[str]) -> bool:
    """Whether lines say the same, word by word; the last digits of a fraction may differ between processors."""
    words = [[line.split() for line in lines if line.strip()] for lines in (printed, shown)]
    if [len(line) for line in words[0]] != [len(line) for line in words[1]]:
        return False
    return all(_same_word(*pair) for lines in zip(*words, strict=True) for pair in zip(*lines, strict=True))


def _same_word(printed: str, shown: str) -> bool:
    if printed == shown:
        return True
    fractions = [re.fullmatch(r"\d+\.\d+(e-\d+)?|\de-\d+", word) for word in (printed, shown)]
    return all(fractions) and math.isclose(float(printed), float(shown), rel_tol=0.1)

"""The examples of the documents: blocks of Markdown that can be run."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```[ \t]*$", re.MULTILINE | re.DOTALL)
_NOT_RUN = re.compile(r"<!--\s*not run[^>]*-->\s*\Z")


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text and the line where it starts."""

    path: Path
    line: int
    language: str
    text: str
    is_run: bool


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
        body = match.group(3)
        is_run = _NOT_RUN.search(text[: match.start()]) is None and "# not run" not in body
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(path, line, match.group(2).lower(), body, is_run))
    return found


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

"""Draws docs/figures/answers.svg: the answers to one question after a fact was hidden from the graph, with bars.

Run: .venv/bin/python tools/answer_picture.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import unseen

if TYPE_CHECKING:
    from unseen import Answer, KnowledgeGraph

TARGET = Path(__file__).parents[1] / "docs" / "figures" / "answers.svg"
QUESTION = "?x : part_of(x, Europe) & speaks(x, Italian)"
HIDDEN = ("Italy", "part_of", "Europe")
TOP, ROW, WIDTH, BARS = 9, 26, 680, 360
COLOURS = {True: "#2b6cb0", False: "#dd8a2e"}
STYLE = "text{font:14px sans-serif;fill:#24292f}.quiet{fill:#57606a}.code{font:14px monospace}"


def without(graph: KnowledgeGraph, triple: tuple[str, str, str]) -> KnowledgeGraph:
    """The graph without one fact."""
    kept = np.array([fact != triple for fact in graph.triples()])
    if kept.all():
        raise SystemExit(f"the graph has no fact {triple}")
    return graph.restricted_to(kept)


def row(answer: Answer, top: int) -> list[str]:
    """One answer: name, bar, status, probability."""
    middle, length = top + 17, max(2, round(BARS * answer.probability))
    status = "known" if answer.known else "predicted"
    mark = " ← the hidden fact" if answer.entity == HIDDEN[0] else ""
    return [
        f'<text x="120" y="{middle}" text-anchor="end">{escape(answer.entity)}</text>',
        f'<rect x="130" y="{top + 4}" width="{length}" height="{ROW - 8}" rx="2" fill="{COLOURS[answer.known]}"/>',
        f'<text class="quiet" x="{140 + length}" y="{middle}">{answer.probability:.2f} {status}{mark}</text>',
    ]


def picture() -> str:
    """The drawing as SVG."""
    graph = without(unseen.load("countries"), HIDDEN)
    answers = unseen.ask(graph, QUESTION, top=TOP)
    height = 60 + ROW * len(answers) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
        f'<style>{STYLE}</style><rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text class="code" x="16" y="26">{escape(QUESTION)}</text>',
        f'<text class="quiet" x="16" y="48">Asked after {HIDDEN[1]}({HIDDEN[0]}, {HIDDEN[2]}) was removed.</text>',
    ]
    for place, answer in enumerate(answers):
        parts += row(answer, 60 + ROW * place)
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
    print(f"wrote {TARGET}")

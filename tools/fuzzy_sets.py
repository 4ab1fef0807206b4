"""Draw the fuzzy sets of one question: every sub-question with its likeliest members, known and predicted.

python tools/fuzzy_sets.py RUN GRAPH "?x : exists y. borders(France, y) & speaks(y, x)" -o docs/figures/fuzzy-sets.png
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import torch

import unseen
from unseen.asking.preparing import parse
from unseen.evaluation.figure_style import SETTINGS, new_figure
from unseen.logic.algebra import Anchor, Not, Project, Query, bind
from unseen.logic.traverse import Traversal
from unseen.models.run_folder import open_method

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from unseen.graph import KnowledgeGraph
    from unseen.logic.execute import Execution

MEMBERS = 5
"""Shown of each kind."""
KNOWN, PREDICTED = "#35618e", "#e0953f"


def stages(query: Query) -> list[Query]:
    """The sub-questions in the order in which they are answered, anchors and complements left out."""
    found: list[Query] = []

    def visit(node: Query) -> None:
        for child in node.children:
            visit(child)
        if not isinstance(node, Anchor | Not) and node not in found:
            found.append(node)

    visit(query)
    return found


def draw(axes: Axes, graph: KnowledgeGraph, execution: Execution, node: Query, title: str) -> None:
    """The likeliest known members of one set, then the likeliest predicted ones, as bars."""
    memberships = execution.memberships(node)
    known = torch.zeros(len(memberships), dtype=torch.bool)
    known[torch.from_numpy(Traversal(graph).members(node).astype("int64"))] = True
    shown = [(float(v), int(e), KNOWN) for v, e in zip(*torch.topk(memberships * known, MEMBERS), strict=True) if v > 0]
    shown += [(float(v), int(e), PREDICTED) for v, e in zip(*torch.topk(memberships * ~known, MEMBERS), strict=True)]
    values, entities, colours = zip(*shown, strict=True)
    axes.barh(range(len(shown)), values, color=colours, height=0.72)
    axes.set_yticks(range(len(shown)), [_short(graph.vocabulary.entity_name(entity)) for entity in entities])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.02)
    axes.grid(axis="y", visible=False)
    axes.set_title(title, loc="left")
    axes.set_xlabel(f"membership; {int(known.sum())} members known")


def _short(name: str, longest: int = 22) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"


def title_of(graph: KnowledgeGraph, node: Query, numbers: dict[Query, int]) -> str:
    """What a stage does to the stages before it."""

    def name(part: Query) -> str:
        if isinstance(part, Anchor):
            return graph.vocabulary.entity_name(int(part.entity))
        if isinstance(part, Not):
            return f"not {name(part.part)}"
        return f"({numbers[part]})"

    if isinstance(node, Project):
        relation, backwards = graph.vocabulary.relation_name(int(node.relation))
        return f"({numbers[node]})  {name(node.source)} {'←' if backwards else '→'} {relation}"
    word = " and " if type(node).__name__ == "And" else " or "
    return f"({numbers[node]})  " + word.join(name(part) for part in node.children)


def main() -> None:
    """Draw what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("graph")
    parser.add_argument("question")
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    graph = unseen.load(options.graph)
    query = bind(parse(options.question, graph)[0], graph.vocabulary.entity_id, graph.vocabulary.relation_id)
    method = open_method(options.run, device="cpu")
    execution = getattr(method, "method", method).estimate(graph, [query])
    order = stages(query)
    numbers = {node: place + 1 for place, node in enumerate(order)}
    with mpl.rc_context(SETTINGS):
        figure = new_figure(3.1 * len(order), 2.9)
        for place, node in zip(figure.subplots(1, len(order), squeeze=False)[0], order, strict=True):
            draw(place, graph, execution, node, title_of(graph, node, numbers))
        figure.savefig(options.output, dpi=160)


if __name__ == "__main__":
    main()

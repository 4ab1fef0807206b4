"""An explanation as a picture (SVG): entities as nodes, known links solid, predicted ones dashed, absent ones dotted.

The answer stands on the right; every other node stands as many columns to the left as it is links away from it.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from unseen.errors import UnseenError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from unseen.reasons.reason import Edge, Reason

COLUMN, ROW, WIDTH, HEIGHT, MARGIN = 250, 90, 140, 44, 30
LONGEST_SHOWN = 20
"""Characters of a name in a node."""
LinkKind = Literal["known", "predicted", "absent"]
DASHES = {"known": "", "predicted": "7 4", "absent": "2 4"}
COLOURS = {"known": "rgb(40,120,200)", "predicted": "rgb(230,130,30)", "absent": "rgb(140,140,140)"}
_MEANINGS: dict[LinkKind, str] = {
    "known": "solid: the graph says so",
    "predicted": "dashed: predicted",
    "absent": "dotted: the graph does not say so",
}
_LINK_KINDS: dict[str, LinkKind] = {"known": "known", "absent": "absent", "rule": "predicted", "network": "predicted"}
Place = tuple[float, float]
"""The middle of a node."""


class DrawnLink(NamedTuple):
    """One link of the picture."""

    edge: Edge
    kind: LinkKind


@dataclass(frozen=True)
class Picture:
    """A picture that shows itself in a notebook."""

    svg: str

    def _repr_html_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the picture as an SVG file."""
        Path(path).write_text(self.svg, encoding="utf-8")


def drawn(
    answer: str,
    bindings: Mapping[str, str],
    edges: Sequence[Edge],
    reasons: Sequence[Reason],
    values: Mapping[str, str] | None = None,
) -> Picture:
    """The picture of one answer; `edges` are its proof, `reasons` what speaks for its links.

    `values` are those of several answer variables; empty, for a statement, no node is the answer.
    """
    links = list(_links(edges, reasons))
    if not links:
        raise UnseenError("there is no explanation to draw; ask with explain=True")
    met = {name for (head, _, tail), _ in links for name in (head, tail)}
    answers = {answer: "answer"} if values is None else {value: name for name, value in values.items() if value in met}
    places = _places(next(iter(answers), links[-1].edge[2]), links)
    key = "; ".join(text for kind, text in _MEANINGS.items() if any(link.kind == kind for link in links))
    width = max(*(x + WIDTH / 2 for x, _ in places.values()), MARGIN + 5.6 * len(key)) + MARGIN
    height = max(y for _, y in places.values()) + HEIGHT / 2 + MARGIN + 20
    variables = {value: variable for variable, value in bindings.items()} | answers
    nodes = (_node(name, places[name], variables.get(name, ""), is_answer=name in answers) for name in places)
    parts = [*_edges(links, places), *nodes, _key(key, height)]
    title = f"Why {answer}" if values == {} else f"Why {answer} is an answer"
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="sans-serif" font-size="13">'
        f"<title>{_shown(title, 200)}</title>{''.join(parts)}</svg>"
    )


def _links(edges: Iterable[Edge], reasons: Iterable[Reason]) -> Iterator[DrawnLink]:
    """Every link once: the proof, then what reasons speak for, or what is absent."""
    kinds: dict[Edge, LinkKind] = dict.fromkeys(edges, "known")
    for reason in reasons:
        if reason.head is not None:
            kinds.setdefault(reason.head, _LINK_KINDS[reason.kind])
    return (DrawnLink(edge, kind) for edge, kind in kinds.items())


def _places(answer: str, links: Sequence[DrawnLink]) -> dict[str, Place]:
    """Where each node stands: columns by distance from the answer, rows in order of appearance."""
    distance = _distances(answer, links)
    last = max(distance.values())
    columns = Counter(distance.values())
    tallest, used = max(columns.values()), Counter[int]()
    places = {}
    for name, steps in distance.items():
        row = used[steps] + (tallest - columns[steps]) / 2
        used[steps] += 1
        places[name] = (MARGIN + WIDTH / 2 + COLUMN * (last - steps), MARGIN + HEIGHT / 2 + ROW * row)
    return places


def _distances(answer: str, links: Sequence[DrawnLink]) -> dict[str, int]:
    """Links between each node and the answer, in either direction; nodes of other components come last."""
    beside: dict[str, list[str]] = {answer: []}
    for (head, _, tail), _ in links:
        beside.setdefault(head, []).append(tail)
        beside.setdefault(tail, []).append(head)
    found: dict[str, int] = {}
    for start in beside:
        if start not in found:
            found[start] = max(found.values(), default=-1) + 1
            waiting = deque([start])
            while waiting:
                name = waiting.popleft()
                new = [other for other in dict.fromkeys(beside[name]) if other not in found]
                found.update(dict.fromkeys(new, found[name] + 1))
                waiting.extend(new)
    return found


def _edges(links: Sequence[DrawnLink], places: Mapping[str, Place]) -> Iterator[str]:
    """All links; those between the same two nodes bend apart."""
    met: Counter[frozenset[str]] = Counter()
    for (head, relation, tail), kind in links:
        ends = frozenset((head, tail))
        yield _edge(relation, kind, places[head], places[tail], met[ends])
        met[ends] += 1


def _edge(relation: str, kind: str, start: Place, end: Place, number: int) -> str:
    """One link: a curve from border to border, with its arrow and its name."""
    path, middle, tip = _curve(start, end, number)
    dashes = f' stroke-dasharray="{DASHES[kind]}"' if DASHES[kind] else ""
    name = f"no {relation}" if kind == "absent" else relation
    return (
        f'<path d="{path}" fill="none" stroke="{COLOURS[kind]}" stroke-width="2"{dashes}/>'
        f'<path d="{tip}" fill="{COLOURS[kind]}"/>'
        f'<text x="{middle[0]:.0f}" y="{middle[1]:.0f}" text-anchor="middle" fill="currentColor">{_shown(name)}</text>'
    )


def _curve(start: Place, end: Place, number: int) -> tuple[str, Place, str]:
    """The path of a link, where its name stands, and its arrow head."""
    (x, y), (other_x, other_y) = start, end
    if x == other_x:  # one column, or one node: around the right side
        side, bend = x + WIDTH / 2, x + WIDTH / 2 + 30 + 20 * number
        shift = 10 if start == end else 0
        path = f"M{side:.0f},{y - shift:.0f} C{bend:.0f},{y - shift:.0f} {bend:.0f},{other_y + shift:.0f} "
        middle = (bend, (y + other_y) / 2)
        return path + f"{side:.0f},{other_y + shift:.0f}", middle, _tip(side, other_y + shift, -1)
    way = 1 if other_x > x else -1
    left, right = x + way * WIDTH / 2, other_x - way * WIDTH / 2
    centre, bend = (left + right) / 2, -26 * number
    path = (
        f"M{left:.0f},{y:.0f} C{centre:.0f},{y + bend:.0f} {centre:.0f},{other_y + bend:.0f} {right:.0f},{other_y:.0f}"
    )
    return path, (centre, (y + other_y) / 2 + 0.75 * bend - 6), _tip(right, other_y, way)


def _tip(x: float, y: float, way: int) -> str:
    back = x - 9 * way
    return f"M{x:.0f},{y:.0f} L{back:.0f},{y - 5:.0f} L{back:.0f},{y + 5:.0f} Z"


def _node(name: str, place: Place, above: str, *, is_answer: bool) -> str:
    """A box with a name, and the variable whose value it is."""
    x, y = place
    stroke = 3 if is_answer else 1
    at = f'x="{x:.0f}" text-anchor="middle" fill="currentColor"'
    label = f'<text {at} y="{y - HEIGHT / 2 - 5:.0f}">{_shown(above)}</text>'
    return (
        f'<rect x="{x - WIDTH / 2:.0f}" y="{y - HEIGHT / 2:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="8"'
        f' fill="rgba(128,128,128,.12)" stroke="currentColor" stroke-width="{stroke}"/>{label if above else ""}'
        f'<text {at} y="{y + 5:.0f}"><title>{_shown(name, 200)}</title>{_shown(name)}</text>'
    )


def _key(text: str, height: float) -> str:
    """What the lines of the picture mean."""
    return f'<text x="{MARGIN}" y="{height - 10:.0f}" font-size="11" fill="currentColor">{text}</text>'


def _shown(text: str, limit: int = LONGEST_SHOWN) -> str:
    return escape(shorten(text, limit))

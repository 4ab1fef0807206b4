"""HTML of objects that show themselves in a notebook: tables, bars and notes, without scripts.

Every text is escaped here, so a name can never become markup. Colours are inherited or half transparent: they read
well on light and on dark ground.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from unseen.errors import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_ROWS = 100
LONGEST_TEXT = 200
"""Characters of a text that are shown."""

_CELL = "padding:2px 10px;text-align:left;vertical-align:top;border:0"
_RULE = "border-bottom:1px solid rgba(128,128,128,.5)"
_WELL = "display:inline-block;width:90px;height:.7em;margin-right:6px;background:rgba(128,128,128,.2)"
_FILL = "display:block;height:100%;box-sizing:border-box"
_KNOWN = "background:rgba(40,120,200,.85)"
_PREDICTED = "background:rgba(230,130,30,.45);border:1px dashed rgb(230,130,30)"


class Markup(str):
    """A text that is HTML already; any other text is escaped when it is shown."""

    __slots__ = ()


def shown(text: object) -> Markup:
    """A text as HTML: escaped and shortened."""
    return text if isinstance(text, Markup) else Markup(escape(shorten(str(text), LONGEST_TEXT)))


def bar(share: float | None, *, is_known: bool = False) -> Markup:
    """A share between 0 and 1 as a bar and a number; known things are full, predicted ones dashed."""
    if share is None:
        return Markup("–")
    width = 100 * min(1.0, max(0.0, share))
    fill = f"{_FILL};width:{width:.1f}%;{_KNOWN if is_known else _PREDICTED}"
    return Markup(
        f'<span style="white-space:nowrap"><span style="{_WELL}"><span style="{fill}"></span></span>{share:.3f}</span>'
    )


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> Markup:
    """A table; rows beyond the first hundred are counted."""
    heads = "".join(f'<th scope="col" style="{_CELL};{_RULE}">{shown(text)}</th>' for text in header)
    lines = "".join(_row(row) for row in rows[:MOST_ROWS])
    content = f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody>"
    found = f'<table style="border-collapse:collapse;color:inherit">{content}</table>'
    more = len(rows) - MOST_ROWS
    return Markup(found + (note(f"… and {more:,} more") if more > 0 else ""))


def note(text: object) -> Markup:
    """A line of text beside a table."""
    return Markup(f'<div style="margin:4px 0">{shown(text)}</div>')


def heading(text: object) -> Markup:
    """The line that says what is shown."""
    return Markup(f'<div style="margin:4px 0;font-weight:bold">{shown(text)}</div>')


def block(*parts: Markup) -> str:
    """The whole of what an object shows."""
    content = "".join(parts)
    return f'<div style="color:inherit">{content}</div>'


def _row(cells: Sequence[object]) -> str:
    shown_cells = "".join(f'<td style="{_CELL}">{shown(cell)}</td>' for cell in cells)
    return f"<tr>{shown_cells}</tr>"

"""Questions in the spelling of other languages, as this one writes them: numbers, comparisons, counts, sets, SQL.

Only the text is looked at. Whether the other spelling works is tried by `repairs.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

_NUMBER = r"-?\d[\d,._]*(?:\s*(?:million|billion|thousand|[kKmM](?![a-z]))\b)?"
_DAY = r"\d{4}-\d\d(?:-\d\d)?"
_VALUE = rf"['\"]?(?:{_DAY}|{_NUMBER})['\"]?"
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}
_SIZES = {"k": 1e3, "t": 1e3, "m": 1e6, "b": 1e9}


def respelled(text: str, *, is_sparql: bool = False) -> str:
    """A question with everything that is written otherwise here; the same text if there is nothing."""
    for pattern, replacement in _IN_SPARQL if is_sparql else _SPELLINGS:
        text = pattern.sub(replacement, text)
    return text


def _plain(value: str) -> str:
    """A number or a day as this language writes it."""
    value = value.strip("'\" ")
    if re.fullmatch(_DAY, value):
        return value
    digits, size = re.fullmatch(r"([-\d,._]+)\s*(\w*)", value).groups()  # type: ignore[union-attr]
    if re.fullmatch(r"-?\d+,\d{1,2}", digits):
        digits = digits.replace(",", ".")
    try:
        number = float(re.sub("[,_]", "", digits))
    except ValueError:  # a day with full stops, say
        return value
    return f"{number * _SIZES.get(size[:1].lower(), 1):.15g}"


def _between(match: re.Match[str]) -> str:
    one, low, high = match.groups()
    return f"{one} >= {_plain(low)} & {one} <= {_plain(high)}"


def _turned(match: re.Match[str]) -> str:
    """`20 < population(x) < 80`, or one of the two."""
    low, sign, one, other, high = match.groups()
    first = f"{one} {_TURNED[sign]} {_plain(low)}"
    return f"{first} & {one} {other} {_plain(high)}" if high else first


def _compared(match: re.Match[str]) -> str:
    return f"{match[1]} {match[2]} {_plain(match[3])}"


def _without_commas(match: re.Match[str]) -> str:
    return match.group().replace(",", "")


def _in_pairs(match: re.Match[str]) -> str:
    """A SELECT without the brackets that are closed and not opened, or with those that it needs around everything."""
    head, body, tail = match.groups()
    inside, depth = re.sub(r"\"[^\"]*\"|<[^>\s]*>", "", body), 0
    for sign in inside:
        depth += {"{": 1, "}": -1}.get(sign, 0)
    body = body.rstrip()
    while depth < 0 and body.endswith("}"):
        body, depth = body[:-1].rstrip(), depth + 1
    is_whole = body.startswith("{") and not re.match(
        r"\{[^{}]*\}\s*(?:UNION|MINUS|OPTIONAL|FILTER)", body, re.IGNORECASE
    )
    return f"{head}{body if is_whole else f'{{ {body} }}'}{' ' + tail if tail else ''}"


_Replacement: TypeAlias = "str | Callable[[re.Match[str]], str]"
_IN_SPARQL: tuple[tuple[re.Pattern[str], _Replacement], ...] = (
    (re.compile(r"SELECT\s+(?:DISTINCT\s+)?\?\w+(?:\s*,\s*\?\w+)+", re.IGNORECASE), _without_commas),
    (re.compile(r"(\?\w+)\s+LIKE\s+(['\"])%?([^%'\"]*)%?\2", re.IGNORECASE), r'CONTAINS(\1, "\3")'),
    (re.compile(r"\s+AND\s+"), " && "),
    (re.compile(r"\s+OR\s+"), " || "),
    (re.compile(r"FILTER\s*\(\s*(:\w+)\(\s*(\?\w+)\s*\)", re.IGNORECASE), r"\2 \1 ?value FILTER(?value"),
    (re.compile(r"(\s:\w+)\s*(<=|>=|[<>])\s*([\d.]+)"), r"\1 ?value FILTER(?value \2 \3)"),
    (
        re.compile(
            r"^(\s*SELECT\b[^{]*?\bWHERE\s+|[^{?]*\bSELECT\b(?:\s+\?\w+)+\s*(?={))(.*?)"
            r"((?:\bGROUP|\bORDER|\bLIMIT|\bOFFSET)\b[^{}]*)?$",
            re.IGNORECASE | re.DOTALL,
        ),
        _in_pairs,
    ),
)
_SPELLINGS: tuple[tuple[re.Pattern[str], _Replacement], ...] = (
    (re.compile(r"^\s*\{\s*(.*?)\s*\|\s*(.*)\}\s*$", re.DOTALL), r"\1 : \2"),
    (re.compile(r"^\s*(?:how many|number of)\s+", re.IGNORECASE), "count "),
    (re.compile(r"^\s*count\s*\(\s*\??(\w+)\s*\)\s*:", re.IGNORECASE), r"count \1 :"),
    (re.compile(r"(:)-\s*"), r"\1 "),
    (re.compile(r"(\bexists?\s+\w+(?:\s*,\s*\w+)*)\s*:\s*", re.IGNORECASE), r"\1 . "),
    (re.compile(r"\s+(?:order\s+by|sort(?:ed)?\s+by|limit|top)\s+[\w\s,]+$", re.IGNORECASE), ""),
    (re.compile(r"\)\s*\.\s*$"), ")"),
    (re.compile(r"(?<![\w(])([^\W\d]\w*)\s+(\??[a-z]\d?)\s*(?=(?:<=|>=|!=|[<>=])\s*[\d'\"-])"), r"\1(\2) "),
    (re.compile(rf"(\w+\([^()]*\))\s+between\s+({_VALUE})\s+(?:and|&)\s+({_VALUE})", re.IGNORECASE), _between),
    (re.compile(rf"({_VALUE})\s*(<=|>=|[<>=])\s*(\w+\([^()]*\))(?:\s*(<=|>=|[<>])\s*({_VALUE}))?"), _turned),
    (re.compile(rf"(\w+\([^()]*\))\s*(<=|>=|!=|[<>=])\s*({_VALUE})"), _compared),
)

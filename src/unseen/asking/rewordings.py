"""Other wordings of a question that does not parse or cannot be answered, the likeliest first.

Each looks only at the text and at where the error is. Whether one works is tried by `repairs.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from unseen.asking.respelling import respelled
from unseen.errors import QueryRefused, QuerySyntaxError
from unseen.logic.text import BARE_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Unknown = Callable[[str], bool]
    """Whether a name is one that the graph does not have."""

_HEAD = re.compile(
    r"\s*(?:\?\w+\s*,\s*)*(?:count\s+)?\?\w+(?:\s*,\s*\??\w+)*\s*:\s*|\s*count\s+\??\w+\s*:\s*", re.IGNORECASE
)
_ARGUMENT = re.compile(r"[(,]\s*\??([^\W\d]\w*)\s*(?=[,)])")
_WORD_SIGNS = (
    (re.compile(r"(?:and|but)\b|,|;|\^|/\\", re.IGNORECASE), "&"),
    (re.compile(r"or\b|\\/", re.IGNORECASE), "|"),
)
_SOME = re.compile(r"(?:there\s+)?(?:exists?|is|some|any)\s+(?:an?\s+)?", re.IGNORECASE)
_INFIX = re.compile(r"(\??[\w:.-]+)\s+([\w:.-]+)\s+(\??[\w:.-]+)\s*\??")


class Spot(NamedTuple):
    """Where the error of a text is: what stands before it and behind it."""

    text: str
    before: str
    rest: str
    unknown: Unknown


def rewordings(text: str, error: QuerySyntaxError | QueryRefused, unknown: Unknown) -> Iterator[str]:
    """Texts that may have been meant, formulas and SPARQL alike."""
    position = error.position
    if position is None:
        return
    problem = error.problem if isinstance(error, QuerySyntaxError) else error.reason
    is_sparql = re.match(r"\s*(PREFIX|BASE|SELECT|ASK)\b", text, re.IGNORECASE) is not None
    if isinstance(error, QuerySyntaxError) or "is no function" in problem:
        yield respelled(text, is_sparql=is_sparql)
    before, rest = text[:position].rstrip(), text[position:]
    for sign, edit in _EDITS.items():
        if sign in problem:
            yield from edit(Spot(text, before, rest, unknown))


def undeclared(text: str, unknown: Unknown) -> list[str]:
    """The arguments of a formula that look like variables: those without a name, short ones before others."""
    names = [name for name in dict.fromkeys(_ARGUMENT.findall(text)) if unknown(name)]
    return [name for name in names if is_like_variable(name)] or names


def is_like_variable(name: str) -> bool:
    """Whether a name is what people call variables: a small letter, perhaps with a number."""
    return re.fullmatch(r"[a-z]\d?", name) is not None


def with_inner(text: str, name: str) -> str:
    """A question with one more inner variable."""
    head = _HEAD.match(text)
    return "" if head is None else f"{head.group().rstrip()} exists {name} . {text[head.end() :]}"


def _without_head(spot: Spot) -> Iterator[str]:
    if not _is_count(spot.text) and re.match(r"\s*[^\W\d]\w*(\s*,\s*[^\W\d]\w*)*\s*:\s", spot.text):
        yield f"?{spot.text.lstrip()}"
    if counted := re.match(r"\s*count\s+\??([^\W\d]\w*)\s+(?=[\w\"(!<])", spot.text, re.IGNORECASE):
        yield f"count {counted.group(1)} : {spot.text[counted.end() :]}"
    body = (
        re.sub(r"\s*(?:count\b\s*:?\s*|:\s*)", "", spot.text, count=1, flags=re.IGNORECASE)
        if _is_count(spot.text)
        else spot.text
    )
    if infix := _INFIX.fullmatch(spot.text.strip()):
        body = f"{infix.group(2)}({infix.group(1)}, {infix.group(3)})"
    if "(" not in body:
        return
    names = undeclared(body, spot.unknown)
    if names:
        yield f"count {names[0]} : {body}" if _is_count(spot.text) else f"?{', '.join(names)} : {body.strip()}"
    elif "?" in body:
        yield body.strip()


def _is_count(text: str) -> bool:
    return re.match(r"\s*count\b", text, re.IGNORECASE) is not None


def _variable_expected(spot: Spot) -> Iterator[str]:
    yield re.sub(r"\?\s+(?=\w)", "?", spot.text, count=1)


def _colon(spot: Spot) -> Iterator[str]:
    if re.match(r"\w+\s*[,:]", spot.rest):
        yield f"{spot.before}, {spot.rest}"
    yield f"{spot.before} : " + re.sub(r"^(?:where\b|such that\b|:-|->|[|.;])\s*", "", spot.rest, flags=re.IGNORECASE)


def _full_stop(spot: Spot) -> Iterator[str]:
    """A relation right behind the variables of `exists`."""
    if word := re.search(r"\w+$", spot.before):
        yield f"{spot.before[: word.start()].rstrip()} . {word.group()}{spot.rest}"


def _second_end(spot: Spot) -> Iterator[str]:
    start = max(spot.before.rfind("("), spot.before.rfind(",")) + 1
    words = re.split(r"[,)]", spot.text[start:], maxsplit=1)[0]
    argument = words.strip()
    if " " in argument and '"' not in argument:
        yield f'{spot.text[:start]}{" " * words.startswith(" ")}"{argument}"{spot.text[start + len(words) :]}'
    yield f"{spot.before}, {spot.rest.lstrip(';')}"


def _closing(spot: Spot) -> Iterator[str]:
    yield from _second_end(spot) if "," in spot.before and re.match(r"[\w-]", spot.rest) else ()
    yield f"{spot.before}){' ' * bool(spot.rest)}{spot.rest}"


def _sign(spot: Spot) -> Iterator[str]:
    for pattern, sign in _WORD_SIGNS:
        if match := pattern.match(spot.rest):
            yield f"{spot.before} {sign} {spot.rest[match.end() :].lstrip()}"
    yield f"{spot.before}{spot.rest[1:]}" if spot.rest[:1] in ")." else f"{spot.before} & {spot.rest}"


def _relation(spot: Spot) -> Iterator[str]:
    yield (
        re.sub(r"[\s&|∧∨]+$", "", spot.text)
        if not spot.rest
        else f"{spot.before} {re.sub(r'^[&|∧∨]+ *', '', spot.rest)}"
    )


def _opening(spot: Spot) -> Iterator[str]:
    """Where a word stands for a relation that has no ends."""
    words = list(BARE_NAME.finditer(spot.before))
    if not words:
        return
    start, word = words[-1].start(), words[-1].group()
    front, back = spot.text[:start], spot.text[start:]
    if word.lower() in ("not", "no"):
        yield f"{front}!{spot.rest}"
    if some := _SOME.match(back):
        yield f"{front}exists {back[some.end() :]}"
    if spot.rest[:1] in "<>=!~" and (head := re.match(r"\s*\?(\w+)", spot.text)):
        yield f"{front}{word}({head.group(1)}) {spot.rest}"
    if infix := _INFIX.match(back):
        one, relation, other = (part.lstrip("?") for part in infix.groups())
        yield f"{front}{relation}({one}, {other}){' ' * (infix.end() < len(back))}{back[infix.end() :]}"
    if (end := back.find("(")) > 0:
        yield f'{front}"{back[:end].strip()}"{back[end:]}'


def _name_expected(spot: Spot) -> Iterator[str]:
    if single := re.match(r"'([^'\"]*)'", spot.rest):
        yield f'{spot.text[: len(spot.text) - len(spot.rest)]}"{single.group(1)}"{spot.rest[single.end() :]}'


def _quotation(spot: Spot) -> Iterator[str]:
    if name := re.match(r'"([^",)]+)', spot.rest):
        yield f'{spot.text[: len(spot.text) - len(spot.rest)]}"{name.group(1).strip()}"{spot.rest[name.end() :]}'


def _undeclared(spot: Spot) -> Iterator[str]:
    if name := re.match(r"\?(\w+)", spot.rest):
        yield with_inner(spot.text, name.group(1))


def _comparison(spot: Spot) -> Iterator[str]:
    """One argument and nothing that it is compared with: something must be at the other end."""
    name = next(name for name in ("y", "z", "w", "other") if not re.search(rf"\b{name}\b", spot.text))
    if spot.before.endswith(")"):
        yield with_inner(f"{spot.before[:-1]}, {name}){' ' * bool(spot.rest)}{spot.rest}", name)


def _value(spot: Spot) -> Iterator[str]:
    front = spot.text[: len(spot.text) - len(spot.rest)]
    if number := re.match(r"(\d+(?:[,_]\d{3})*(?:\.\d+)?)\s?([kKM]\b)?", spot.rest):
        plain = float(re.sub("[,_]", "", number[1])) * {"k": 1e3, "K": 1e3, "M": 1e6}.get(number[2], 1)
        yield f"{front}{plain:.15g}{spot.rest[number.end() :]}"
        return
    yield front + re.sub(r"^=?\s*'?([^\s&|()',]+)'?", r'"\1"', spot.rest)


def _sparql_word(spot: Spot) -> Iterator[str]:
    front = spot.text[: len(spot.text) - len(spot.rest)]
    if (first := re.search(r":(\w+)$", spot.before)) and (more := re.match(r"\w+(?: \w+)*", spot.rest)):
        yield f'{spot.before[: first.start()]}"{first[1]} {more[0]}"{spot.rest[more.end() :]}'
    signs = "?" if "{" not in front else "?:" if spot.unknown((re.match(r"\w+", spot.rest) or [""])[0]) else ":?"
    for sign in signs:
        yield f"{front}{sign}{spot.rest}"


def _unselected(spot: Spot) -> Iterator[str]:
    """A selected variable that no pattern binds: without it, or the one that is bound in its place."""
    name = (re.match(r"\?\w+", spot.rest) or [""])[0]
    front, back = spot.text[: len(spot.text) - len(spot.rest)], spot.rest[len(name) :].lstrip()
    if re.search(r"\?\w+\s*$", front) or back.startswith("?"):
        yield f"{front.rstrip()} {back}"
    yield from (f"{front}{other} {back}" for other in dict.fromkeys(re.findall(r"\?\w+", back)) if other != name)


def _aggregate(spot: Spot) -> Iterator[str]:
    """An aggregate that is selected without a name."""
    named = re.sub(
        r"^(\w+)\s*(\([^()]*\))(?:\s+AS\s+(\?\w+))?", lambda m: f"({m[1]}{m[2]} AS {m[3] or '?n'})", spot.rest
    )
    yield f"{spot.before} {named}"


def _brace(spot: Spot) -> Iterator[str]:
    yield f"{spot.text.rstrip()} }}"


def _other_answer(spot: Spot) -> Iterator[str]:
    """An answer variable that does not occur: the undeclared one is meant."""
    head = _HEAD.match(spot.text)
    names = undeclared(spot.text, spot.unknown)
    if head and names:
        yield f"?{', '.join(names)} : {spot.text[head.end() :]}"


def _bound(spot: Spot) -> Iterator[str]:
    """A negation alone: of all that the relation leads to, or comes from."""
    negated = re.match(r"[!~¬]\s*([^\s(]+)\(\s*([^,()]+?)\s*,\s*([^,()]+?)\s*\)", spot.rest)
    head = re.match(r"\s*\?(\w+)\s*:", spot.text)
    if negated and head:
        relation, one, other = negated.groups()
        name = next(name for name in ("y", "z", "w", "other") if not re.search(rf"\b{name}\b", spot.text))
        ends = f"{name}, {other}" if other.lstrip("?") == head.group(1) else f"{one}, {name}"
        yield f"{head.group()} exists {name} . {relation}({ends}) & {spot.text[head.end() :].strip()}"


_EDITS: dict[str, Callable[[Spot], Iterator[str]]] = {
    "starts with its answer variable": _without_head,
    "expected a variable, or `.`": _full_stop,
    "expected a variable": _variable_expected,
    "expected `:` after": _colon,
    "expected `,` between": _second_end,
    "expected `)`": _closing,
    "expected `&`, `|` or the end": _sign,
    "expected a relation like": _relation,
    "after the relation": _opening,
    "expected a variable or the name": _name_expected,
    "quotation mark is never closed": _quotation,
    "is not declared: write": _undeclared,
    "expected a comparison like": _comparison,
    "expected a value": _value,
    "a pattern in quotation marks": _value,
    "is not a word of SPARQL": _sparql_word,
    "is never closed": _brace,
    "an aggregate is selected": _aggregate,
    "is not bound: say what it is": _unselected,
    "does not occur in it": _other_answer,
    "not only what it is not": _bound,
}
"""What is tried, by a piece of what the parser says."""

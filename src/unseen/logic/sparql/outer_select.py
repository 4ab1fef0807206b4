"""From a SELECT that is more than a pattern to its core and what is computed around it.

The core's text is the text of the question with blanks in place of everything else, so errors show the right place.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from unseen.errors import QueryRefused
from unseen.logic.counting_text import constant_of
from unseen.logic.formula import Equal, Place, Variable
from unseen.logic.outer_form import Count, CountComparison, Grouping, Order, OuterForm
from unseen.logic.sparql.meaning import pattern_of
from unseen.logic.sparql.parse import group_of
from unseen.logic.sparql.patterns import Fact, Group, bound_by, values_in
from unseen.logic.sparql.select_parts import AGGREGATES, Piece, SelectParts, refuse, select_parts
from unseen.logic.sparql.words import plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from unseen.graph.names import Names
    from unseen.logic.algebra import Query
    from unseen.logic.pattern import Pattern
    from unseen.logic.sparql.reader import GraphNames
    from unseen.logic.sparql.words import Token

OUTER = ("OPTIONAL", "BIND", "SUBQUERY")
_EXTRA = ("score", "known")
_SUFFIXES = ("", "_expected", "_low", "_high")


@dataclass(frozen=True)
class SparqlCore:
    """The core of a SELECT."""

    group: Group
    text: str

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that every solution binds."""
        return tuple(sorted(variable.name for variable in bound_by(self.group).always))

    @property
    def value_names(self) -> frozenset[str]:
        """Those of its variables that stand for values."""
        return frozenset(variable.name for variable in values_in(self.group))

    def question(self, answers: Sequence[str], values: Mapping[str, str]) -> Query | Pattern:
        """The question for some variables, where others are certain entities, given by key."""
        fixed = tuple(Fact(Equal(Variable(name), constant_of(key), Place())) for name, key in values.items())
        group = Group((*self.group.parts, *fixed), self.group.place) if fixed else self.group
        return pattern_of(group, [Variable(name) for name in answers], self.text)


def outer_select(
    text: str, prefixes: Mapping[str, str], entity: Callable[[str], str], names: GraphNames | None = None
) -> OuterForm | None:
    """The form of a SELECT; None if the text is none. `entity` writes an entity, given by readable name, as a term.

    `names` are those of the attributes and relations of the graph: they tell which variables stand for values.
    """
    plain = plain_text(text)
    parts = select_parts(plain)
    return None if parts is None else _Outer(parts, prefixes, entity, names).form()


class _Outer:
    """One SELECT, taken apart."""

    def __init__(
        self,
        parts: SelectParts,
        prefixes: Mapping[str, str],
        entity: Callable[[str], str],
        names: GraphNames | None = None,
    ) -> None:
        self.parts, self.prefixes, self.entity, self.names = parts, prefixes, entity, names
        self.text = parts.text
        for part in parts.parts:
            if part.kind in ("SERVICE", "GRAPH"):
                refuse(self.text, f"{part.kind} does not go with predictions of the whole question", part.tokens[0])
        self.bindings = {part: core for part in parts.parts if (core := _constant(part))}
        self.outer = [p for p in parts.parts if (p.kind in OUTER or p.has("UNDEF")) and p not in self.bindings]
        self.core = self._core()

    def form(self) -> OuterForm:
        parts, modifiers = self.parts, self.parts.modifiers
        parts_inside = [part for part in parts.parts if part not in self.outer]
        grouping = self._grouping()
        columns = self._columns()
        self._check_bound(grouping)
        later = [*self.outer, *parts.items, *(modifiers[word] for word in modifiers)]
        used = frozenset().union(*(piece.variables for piece in later))
        self._check_alternatives(used)
        is_whole = not parts.items or (grouping is not None and not self._counts_distinct(grouping))
        needed = [name for name in self.core.variables if is_whole or name in used] or list(self.core.variables)
        order = "" if grouping else self._shown(modifiers.get("ORDER"))
        return OuterForm(
            text=self.text,
            core=self.core,
            columns=columns,
            needed=tuple(needed),
            grouping=grouping,
            is_distinct=parts.is_distinct,
            limit=parts.number("LIMIT"),
            offset=parts.number("OFFSET") or 0,
            prologue=parts.prologue,
            select=" ".join(item.of(self.text) for item in parts.items) or "*",
            aggregates=" ".join(item.of(self.text) for item in parts.items if item.has(*AGGREGATES)),
            outer=" ".join(part.of(self.text) for part in self.outer),
            order=order or self._shown(modifiers.get("ORDER")),
            group=with_entities(parts, parts_inside, self.entity, self.names and self.names[0]),
            group_by=self._shown(modifiers.get("GROUP")),
            having=_having_text(grouping),
            is_filtered=bool(order) or any(part.kind != "OPTIONAL" for part in self.outer),
        )

    def _check_bound(self, grouping: Grouping | None) -> None:
        """Refuse to select what nothing binds."""
        there = frozenset(variable.name for variable in bound_by(self.core.group).sometimes)
        there = there.union(_EXTRA, *(part.variables for part in self.outer if part.kind != "FILTER"))
        there |= {f"{one.name}{suffix}" for one in (grouping.counts if grouping else ()) for suffix in _SUFFIXES}
        wanted = [item.tokens[0] for item in self.parts.items if item.kind == "VARIABLE"]
        there |= {item.tokens[-2].text[1:] for item in self.parts.items if item.kind != "VARIABLE"}
        if order := self.parts.modifiers.get("ORDER"):
            wanted += [token for token in order.tokens if token.kind == "variable"]
        for token in wanted:
            if token.text[1:] not in there:
                refuse(self.text, f"{token.text} is not bound: say what it is by a pattern outside of FILTER", token)

    def _check_alternatives(self, used: frozenset[str]) -> None:
        """Refuse to use what only some alternatives of UNION bind: what is predicted has a value for all variables."""
        found = frozenset(variable.name for variable in bound_by(self.core.group).sometimes)
        doubtful = found - frozenset(self.core.variables)
        for name in sorted(doubtful & used if self.parts.items else doubtful):
            refuse(self.text, f"?{name} is not bound in every alternative of UNION", self.parts.select)

    def _shown(self, piece: Piece | None) -> str:
        return "" if piece is None else piece.of(self.text)

    def _columns(self) -> tuple[str, ...]:
        if not self.parts.items:
            names: Iterable[str] = [*self.core.variables, *(v for part in self.outer for v in sorted(part.variables))]
        else:
            names = [item.tokens[0 if item.kind == "VARIABLE" else -2].text[1:] for item in self.parts.items]
        return tuple(name for name in dict.fromkeys(names) if name not in _EXTRA)

    def _core(self) -> SparqlCore:
        """The largest pattern that can be predicted; a FILTER that it cannot have stands around it."""
        tests = [part for part in self.parts.parts if part.kind == "FILTER"]
        inner = [p for p in self.parts.parts if p not in self.outer and p not in tests]
        if not any(part.kind in ("TRIPLES", "GROUP", "VALUES") for part in inner):
            place = self.parts.group.tokens[0]
            refuse(
                self.text, "it has no pattern of its own to predict: subqueries are taken as the graph has them", place
            )
        self._check_order(inner)
        group = self._read(inner)
        names = frozenset(variable.name for variable in bound_by(group).sometimes)
        kept = []
        for test in tests:
            if test.variables <= names and self._can_be_read([*inner, test]):
                kept.append(test)
            else:
                self._check_functions(test)
                self.outer.append(test)
        return SparqlCore(self._read([*inner, *kept]), self.text)

    def _check_functions(self, test: Piece) -> None:
        """Refuse an attribute that is written as a function."""
        for token, after in pairwise(test.tokens):
            if after.text == "(" and _is_name(token, self.names and self.names[0]):
                reason = f"`{token.text}` is no function: write `?x {token.text} ?value` and compare ?value"
                refuse(self.text, reason, token)

    def _check_order(self, inner: Sequence[Piece]) -> None:
        """Refuse a pattern after an OPTIONAL or BIND whose variable it uses: it would be read in another order.

        Subqueries and VALUES are joined, in whatever order.
        """
        for part in (one for one in self.outer if one.kind in ("OPTIONAL", "BIND")):
            before = frozenset().union(*(p.variables for p in inner if p.start < part.start))
            for later in (p for p in inner if p.start > part.start):
                if clash := (part.variables - before) & later.variables:
                    reason = f"put {part.kind} after all patterns that use ?{min(clash)}"
                    refuse(self.text, reason, part.tokens[0])

    def _can_be_read(self, pieces: Sequence[Piece]) -> bool:
        try:
            self._read(pieces)
        except QueryRefused:
            return False
        return True

    def _read(self, pieces: Sequence[Piece]) -> Group:
        """The group of some parts: the text with blanks for everything else."""
        letters = [" "] * len(self.text)
        kept = [(piece.start, self.bindings.get(piece) or piece.of(self.text)) for piece in pieces]
        group, first = self.parts.group, self.parts.select.position
        kept += [(0, self.parts.prologue), (first, "SELECT*"), (group.start, "{"), (group.end - 1, "}")]
        if values := self.parts.modifiers.get("VALUES"):
            kept.append((values.start, values.of(self.text)))
        for start, shown in kept:
            letters[start : start + len(shown)] = shown
        return group_of("".join(letters), self.prefixes, self.names)

    def _counts_distinct(self, grouping: Grouping) -> bool:
        return not grouping.others and all(one.is_distinct for one in grouping.counts)

    def _grouping(self) -> Grouping | None:
        """What is counted; None if nothing is."""
        items, modifiers = self.parts.items, self.parts.modifiers
        group_by = modifiers.get("GROUP")
        counts, others = [], []
        for item in items:
            if item.kind == "AS" and item.has(*AGGREGATES):
                count = _count(item.tokens[1:-3], item.tokens[-2].text[1:])
                counts.append(count) if count else others.append(item.tokens[-2].text[1:])
            elif item.kind == "AS" and (group_by or counts):
                refuse(
                    self.text, "beside counts only variables can be selected: name the value by BIND", item.tokens[0]
                )
        if not (group_by or counts or others or "HAVING" in modifiers):
            return None
        if group_by and any(t.kind != "variable" for t in group_by.tokens[2:]):
            refuse(self.text, "GROUP BY takes variables: name an expression by BIND first", group_by.tokens[2])
        keys = tuple(token.text[1:] for token in group_by.tokens[2:]) if group_by else ()
        found = tuple(counts)
        return Grouping(keys, found, tuple(others), self._having(found), self._order(found, (*keys, *others)))

    def _having(self, counts: Sequence[Count]) -> CountComparison | None:
        piece = self.parts.modifiers.get("HAVING")
        if piece is None:
            return None
        tokens = list(piece.tokens[1:])
        while tokens and tokens[0].text == "(" and tokens[-1].text == ")":
            tokens = tokens[1:-1]
        if len(tokens) > 2 and tokens[-1].kind == "number":
            signs = 2 if tokens[-2].text == "=" and tokens[-3].text in "<>!" else 1
            sign = "".join(token.text for token in tokens[-1 - signs : -1])
            count = _named_count(tokens[: -1 - signs], counts)
            if count and sign in ("<", ">", "=", "<=", ">=", "!="):
                return CountComparison(count, sign, float(tokens[-1].text))
        return refuse(
            self.text, "HAVING compares one count with a number, like HAVING (COUNT(?x) > 3)", piece.tokens[0]
        )

    def _order(self, counts: Sequence[Count], others: Sequence[str]) -> tuple[Order, ...]:
        piece = self.parts.modifiers.get("ORDER")
        if piece is None:
            return ()
        names = {*others, *_EXTRA, *(f"{one.name}{suffix}" for one in counts for suffix in _SUFFIXES)}
        found, tokens, place = [], piece.tokens[2:], 0
        while place < len(tokens):
            end, is_falling = place + 1, tokens[place].text.upper() == "DESC"
            if tokens[place].text.upper() in ("ASC", "DESC", "("):
                depth, end = 0, place
                while end < len(tokens):
                    depth += {"(": 1, ")": -1}.get(tokens[end].text, 0)
                    end += 1
                    if depth == 0 and tokens[end - 1].text == ")":
                        break
            inner = [t for t in tokens[place:end] if t.text.upper() not in ("ASC", "DESC")]
            while len(inner) > 1 and inner[0].text == "(":
                inner = inner[1:-1]
            count = _named_count(inner, counts)
            name = count.name if count else inner[0].text[1:] if len(inner) == 1 else ""
            if name not in names:
                refuse(
                    self.text,
                    f"groups are ordered by one of {', '.join(f'?{n}' for n in sorted(names))}",
                    tokens[place],
                )
            found.append(Order(name, is_falling))
            place = end
        return tuple(found)


def with_entities(
    parts: SelectParts, inside: Sequence[Piece], entity: Callable[[str], str], attributes: Names | None
) -> str:
    """The whole pattern as an exact engine needs it: terms in place of the readable names of entities.

    Only those in some of the parts; texts that are values of attributes stay.
    """
    pieces, place = [], parts.group.start
    for part in sorted(inside, key=lambda one: one.start):
        if part.kind not in ("TRIPLES", "GROUP", "MINUS", "EXISTS"):
            continue
        afterwards = [*part.tokens[2:], part.tokens[-1]]
        for before, token, after in zip(part.tokens, part.tokens[1:], afterwards, strict=False):
            if token.kind != "string" or after.text == "^" or after.kind == "language" or _is_name(before, attributes):
                continue
            name = token.text[3:-3] if token.text[:3] in ('"""', "'''") else token.text[1:-1]
            pieces += [parts.text[place : token.position], entity(name) or token.text]
            place = token.position + len(token.text)
    return "".join([*pieces, parts.text[place : parts.group.end]])


def _is_name(token: Token, names: Names | None) -> bool:
    """Whether a word is one of some names."""
    if names is None or not len(names) or token.kind not in ("iri", "name"):
        return False
    name = token.text[1:-1] if token.kind == "iri" else token.text.removeprefix(":")
    return bool(names.find_all([name])[0] >= 0)


def _constant(part: Piece) -> str:
    """BIND of a name as VALUES, which is no longer; nothing for other parts."""
    tokens = part.tokens
    if part.kind == "BIND" and len(tokens) == 6 and tokens[2].kind in ("iri", "name") and tokens[4].kind == "variable":
        return f"VALUES {tokens[4].text}{{{tokens[2].text}}}"
    return ""


def _count(tokens: Sequence[Token], name: str) -> Count | None:
    """COUNT(*), COUNT(?x) or COUNT(DISTINCT ?x)."""
    texts = [token.text for token in tokens]
    if len(texts) < 4 or texts[0].upper() != "COUNT" or texts[1] != "(" or texts[-1] != ")":
        return None
    inner = texts[2:-1]
    is_distinct = inner[0].upper() == "DISTINCT"
    inner = inner[is_distinct:]
    if len(inner) != 1 or (inner[0] != "*" and inner[0][0] not in "?$"):
        return None
    return Count(name, None if inner[0] == "*" else inner[0][1:], is_distinct)


def _named_count(tokens: Sequence[Token], counts: Sequence[Count]) -> Count | None:
    """The count that some words stand for: its name, or the same COUNT again."""
    texts = [token.text for token in tokens]
    if len(texts) == 1 and texts[0][:1] in "?$":
        return next((one for one in counts if one.name == texts[0][1:]), None)
    count = _count(tokens, "")
    return next((one for one in counts if count and one[1:] == count[1:]), None) or (count and count._replace(name=""))


def _having_text(grouping: Grouping | None) -> str:
    """HAVING for an exact engine, with the COUNT itself where the question has its name."""
    having = grouping.having if grouping else None
    return f"HAVING ({having.counted.text} {having.sign} {having.number:.17g})" if having else ""

"""One reason for an answer, as data and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Edge = tuple[str, str, str]
"""Head, relation and tail, by readable name."""
Kind = Literal["rule", "network", "known", "absent"]
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True)
class Effect:
    """The effect of one fact on the model's probability of a link."""

    edge: Edge
    without: float
    """The probability that the model gives the link if the graph lacks this fact."""

    def as_json(self) -> dict[str, Any]:
        """The effect as plain data."""
        return {"edge": list(self.edge), "without": round(self.without, 6)}


@dataclass(frozen=True)
class Reason:
    """Why a link of an answer is believed; all names are readable ones.

    | kind | says |
    | --- | --- |
    | `rule` | a rule of the graph concludes the link; `body` are the edges that ground it |
    | `network` | what the model gives the link by itself, and which facts change that most |
    | `known` | the graph says so; `body` are the edges |
    | `absent` | something that is excluded is not in the graph |
    """

    kind: Kind
    text: str
    """The reason in words, without the link itself."""
    head: Edge | None = None
    """The link that it speaks for; None for a whole proof, and for what is absent and no single link."""
    body: tuple[Edge, ...] = ()
    """Edges of this graph."""
    rule: str = ""
    """The rule in general, as `unseen rules` writes it."""
    confidence: float | None = None
    """Of the rule, smoothed: no probability of the answer."""
    support: float | None = None
    """For how many other pairs or entities body and head of the rule hold."""
    pairs: float | None = None
    """For how many the body holds."""
    probability: float | None = None
    """What the model gives the link, without any rules."""
    share: float | None = None
    """`probability` as a part of the one that the whole method gives; 1 for a method without rules."""
    effects: tuple[Effect, ...] = ()
    """The facts that change `probability` most when they are left out, the largest change first."""

    def __str__(self) -> str:
        if self.head is None or self.kind in ("known", "absent"):
            return self.text
        head, relation, tail = self.head
        return f"{relation}({head}, {tail}){':' if self.kind == 'network' else ''} {self.text}"

    def as_json(self) -> dict[str, Any]:
        """The reason as plain data; what does not apply to its kind is left out."""
        plain: dict[str, Any] = {"kind": self.kind, "text": self.text}
        if self.head is not None:
            plain["head"] = list(self.head)
        if self.body:
            plain["body"] = [list(edge) for edge in self.body]
        if self.rule:
            plain["rule"] = self.rule
        for name, digits in (("confidence", 4), ("support", 1), ("pairs", 1), ("probability", 6), ("share", 4)):
            value = getattr(self, name)
            if value is not None:
                plain[name] = round(value, digits)
        if self.effects:
            plain["effects"] = [effect.as_json() for effect in self.effects]
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Reason:
        """The reason of `as_json`; what lacks a part of it raises LookupError, TypeError or ValueError."""
        kind = plain["kind"]
        if kind not in KINDS:
            raise ValueError(f"there is no reason of the kind {kind!r}")
        head = plain.get("head")
        effects = tuple(Effect(_edge(one["edge"]), float(one["without"])) for one in plain.get("effects") or ())
        numbers = {name: plain.get(name) for name in ("confidence", "support", "pairs", "probability", "share")}
        body = tuple(_edge(one) for one in plain.get("body") or ())
        link = None if head is None else _edge(head)
        return cls(kind, str(plain["text"]), link, body, plain.get("rule") or "", effects=effects, **numbers)


def _edge(parts: Iterable[str]) -> Edge:
    head, relation, tail = parts
    return head, relation, tail

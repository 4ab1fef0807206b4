"""Reasons in plain sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.reasons.reason import Edge, Effect

FEW = 20
"""Below so many, counts say more than a percentage."""


def atom(edge: Edge) -> str:
    """An edge as it is written in questions."""
    return f"{edge[1]}({edge[0]}, {edge[2]})"


def together(edges: Sequence[Edge]) -> str:
    """Edges one after the other: a, b and c."""
    texts = [atom(edge) for edge in edges]
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def of_pairs(body: Sequence[Edge], support: float, pairs: float) -> str:
    """A rule over a path: because of its edges; how often such pairs have the head."""
    return f"because {together(body)}; holds for {share(support, pairs)} such pairs"


def of_entities(body: Sequence[Edge], condition: Edge, conclusion: Edge, support: float, pairs: float) -> str:
    """A rule with constants: because of a property; how many others with it have the head."""
    others = f"{share(support, pairs)} other x with {atom(condition)} have {atom(conclusion)}"
    return f"because {together(body)}; {others}" if body else f"because {others}"


def by_network(method: str, probability: float, effects: Sequence[Effect], *, is_alone: bool, is_tried: bool) -> str:
    """The model's own opinion, and the facts that it depends on."""
    beginning = "no rule leads here" if is_alone else "the rules explain little of this"
    own = f"{beginning}; the model ({method}) by itself gives it {chance(probability)}"
    if not effects:
        return f"{own}; no single fact nearby changes that much" if is_tried else own
    verbs = [" it would be", *[""] * len(effects)]
    changes = (
        f"without {atom(one.edge)}{verb} {chance(one.without)}" for one, verb in zip(effects, verbs, strict=False)
    )
    return f"{own}; {', '.join(changes)}"


def by_method(method: str, probability: float) -> str:
    """The sentence for a method without a model."""
    return f"no rule that holds twice leads here; the method ({method}) gives it {chance(probability)}"


def share(support: float, pairs: float) -> str:
    """How many of how many: in per cent unless they are few; `about` where they were estimated from a sample."""
    about = "" if float(support).is_integer() and float(pairs).is_integer() else "about "
    if pairs < FEW:
        return f"{about}{support:,.0f} of {pairs:,.0f}"
    return f"{per_cent(support / pairs)} of {about}{rounded(pairs) if about else f'{pairs:,.0f}'}"


def rounded(count: float) -> str:
    """A count to three digits: more would claim to know what a sample does not say."""
    digits = max(0, len(str(int(count))) - 3)
    return f"{round(count, -digits):,.0f}"


def per_cent(part: float) -> str:
    """A share in words; only a share of 1 is called 100 %."""
    if part >= 1:
        return "100 %"
    if part > 0.99:
        return "over 99 %"
    return f"{100 * part:.0f} %" if part >= 0.0995 else f"{100 * part:.2g} %"


def chance(probability: float) -> str:
    """A probability as tables show it."""
    return f"{probability:.3f}" if probability >= 0.0995 else f"{probability:#.2g}"

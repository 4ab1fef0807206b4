"""Rules as a notebook shows them: a table with a bar of confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.displays import bar, block, heading, note, table
from unseen.graph.arrow_arrays import text_array
from unseen.graph.names import Names
from unseen.graph.prefixes import Prefixes
from unseen.graph.vocabulary import Vocabulary
from unseen.rules.naming import Naming, atom

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.displays import Markup
    from unseen.rules.naming import Rule
    from unseen.rules.rule_set import Rules

MOST_SHOWN = 20


def listed_html(rules: Sequence[Rule]) -> str:
    """Rules with names, each with its example."""
    return block(heading(f"{len(rules):,} rules"), _rule_table(rules))


def rules_html(rules: Rules) -> str:
    """How many rules there are, and the most confident ones over paths; constants have no names without a graph."""
    paths, constants = len(rules.paths.heads) // 2, len(rules.constants.heads)
    counts = (
        f"Rules: {paths:,} over paths, {constants:,} examples with constants, from {rules.samples:,} samples a rule"
    )
    rest = [] if rules.is_complete else [note("Mining was stopped early: rules are missing.")]
    return block(heading(counts), _rule_table(_best(rules)), *rest)


def _best(rules: Rules) -> list[Rule]:
    """The most confident rules over paths, each in its forward reading."""
    forward = np.flatnonzero(rules.paths.heads % 2 == 0)
    order = np.lexsort((-rules.paths.support[forward], -rules.paths.confidence[forward]))
    naming = Naming(_relation_names(rules.relation_keys))
    return [naming.path_rule(rules.paths, int(place), ()) for place in forward[order[:MOST_SHOWN]]]


def _relation_names(keys: Sequence[str]) -> Vocabulary:
    column = text_array(keys)
    return Vocabulary(Names("entity", text_array([])), Names("relation", column, None, Prefixes().extended_to(column)))


def _rule_table(rules: Sequence[Rule]) -> Markup:
    rows = [(str(rule), bar(rule.confidence), f"{rule.support:,.0f}", f"{rule.pairs:,.0f}") for rule in rules]
    if not any(rule.example for rule in rules):
        return table(("rule", "confidence", "support", "pairs"), rows)
    examples = [", ".join(atom(edge) for edge in rule.example) for rule in rules]
    return table(
        ("rule", "confidence", "support", "pairs", "for example"),
        [(*row, example) for row, example in zip(rows, examples, strict=True)],
    )

"""Values that are not recorded, as distributions: what similar entities have, as wide as it has been wrong before.

The prediction is a linear one of normal scores from marks and measures of an entity (`traits`). Twenty times, a
twentieth of the known values is hidden and predicted from the others; the errors, relative to how large errors are
expected to be for such an entity, are the distribution around a prediction (split conformal prediction). So an interval
of 80 % holds 80 % of hidden values, whatever the data look like, as long as hidden values are like recorded ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from unseen.logic.value_prediction.normal_scores import NormalScores
from unseen.logic.value_prediction.ridge import Design, fitted
from unseen.logic.value_prediction.traits import Measures, marks_of, numbers_of, roles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import KnowledgeGraph

    Numbers = NDArray[np.float64]
    Places = NDArray[np.int64]

FOLDS = 20
TRIED = 3
"""Parts by which the penalty is chosen."""
PENALTIES = (0.5, 2.0)
LEAST_VALUES = 20
"""Recorded values that a prediction needs."""
LEAST_SHARE = 0.1
"""Share of entities in the same roles that must have a value, or an entity is taken to have none."""
INTERVAL = 0.8
SMALLEST_ERROR = 0.05
"""Score; smaller errors count as equal when their size is learned."""


@dataclass(frozen=True)
class PredictedValues:
    """Distributions of the values of some sorted entities that have none recorded."""

    entities: Places
    centres: Numbers
    widths: Numbers
    errors: Numbers
    """Errors in widths that hidden values have shown, sorted."""
    scores: NormalScores

    def probability_below(self, value: float, *, inclusive: bool) -> Numbers:
        """For each entity how probable a value is that is smaller, or equal."""
        place = int(np.searchsorted(self.scores.values, value, side="right" if inclusive else "left"))
        bounds = np.concatenate([[-np.inf], _between(self.scores.scores), [np.inf]])
        errors = (bounds[place] - self.centres) / self.widths
        return _shares_below(self.errors, errors)

    def quantiles(self, share: float) -> Numbers:
        """For each entity the value that a share of its distribution is below."""
        error = np.quantile(self.errors, share)
        return self.scores.value(self.centres + error * self.widths)

    def intervals(self, share: float = INTERVAL) -> tuple[Numbers, Numbers, Numbers]:
        """For each entity the lower end, the middle and the upper end."""
        rest = (1 - share) / 2
        return self.quantiles(rest), self.quantiles(0.5), self.quantiles(1 - rest)


def _between(scores: Numbers) -> Numbers:
    return (scores[1:] + scores[:-1]) / 2


def _shares_below(errors: Numbers, bounds: Numbers) -> Numbers:
    """The share of errors below each bound, rising between them."""
    shares = (np.arange(len(errors)) + 0.5) / len(errors)
    inner = np.interp(bounds, errors, shares)
    found: Numbers = np.where(bounds == -np.inf, 0.0, np.where(bounds == np.inf, 1.0, inner))
    return found


def predicted_values(graph: KnowledgeGraph, attribute: int, wanted: Places | None = None) -> PredictedValues | None:
    """The distributions of an attribute for entities without it; None if too few values are recorded.

    By default for all entities that stand in the roles of those that have one; found once for a graph.
    """
    if wanted is not None:
        return _predicted(graph, attribute, np.unique(wanted))
    kept = _KEPT.setdefault(graph, {})
    if attribute not in kept:
        kept[attribute] = _predicted(graph, attribute, likely_owners(graph, attribute))
    return kept[attribute]


def learned_attributes(graph: KnowledgeGraph) -> frozenset[int]:
    """The attributes whose distributions have been found for a graph."""
    return frozenset(_KEPT.get(graph, {}))


_KEPT: WeakKeyDictionary[KnowledgeGraph, dict[int, PredictedValues | None]] = WeakKeyDictionary()


def likely_owners(graph: KnowledgeGraph, attribute: int) -> Places:
    """Sorted entities without a value whose roles are mostly those of entities with one."""
    owners = np.unique(graph.attributes.of_attribute(attribute)[0])
    entities, directed = roles(graph)
    has_value = np.isin(entities, owners)
    holders = np.bincount(directed, minlength=2 * graph.num_relations)
    shares = np.bincount(directed[has_value], minlength=len(holders)) / np.maximum(1, holders)
    sums = np.bincount(entities, shares[directed], minlength=graph.num_entities)
    means = sums / np.maximum(1, np.bincount(entities, minlength=graph.num_entities))
    means[owners] = 0
    return np.flatnonzero(means >= LEAST_SHARE)


def _predicted(graph: KnowledgeGraph, attribute: int, wanted: Places) -> PredictedValues | None:
    known = numbers_of(graph, attribute)
    wanted = np.setdiff1d(wanted, known.entities)
    if len(known.entities) < LEAST_VALUES or not len(wanted):
        return None
    entities = np.union1d(known.entities, wanted)
    has_value = np.isin(entities, known.entities)
    fit = _Fit(graph, attribute, entities, has_value)
    centres, widths, errors = fit.distributions()
    place = np.searchsorted(entities, wanted)
    return PredictedValues(wanted, centres[place], widths[place], np.sort(errors), NormalScores.of(known.values))


class _Fit:
    """One attribute on one graph."""

    def __init__(self, graph: KnowledgeGraph, attribute: int, entities: Places, has_value: NDArray[np.bool_]) -> None:
        self.has_value = has_value
        self.marks = marks_of(graph, entities, has_value)
        self.measures = Measures(graph, entities, has_value, attribute)
        self.scored = self.measures.scored()
        self.entities = entities
        self.targets = np.nan_to_num(self.scored[entities])
        order = np.random.default_rng(attribute).permutation(int(has_value.sum()))
        self.folds = np.full(len(entities), -1)
        self.folds[np.flatnonzero(has_value)] = order % FOLDS

    def distributions(self) -> tuple[Numbers, Numbers, Numbers]:
        """Centres and widths for all rows, and the errors of hidden values in widths."""
        designs = [self._design(fold) for fold in range(FOLDS)]
        known = self.has_value
        penalty = self._best_penalty(designs)
        held_out = self._held_out(designs, self.targets, penalty)
        whole = self._design(-1)
        centres = whole.applied(fitted(whole, self.targets, known, penalty))
        errors = np.where(known, self.targets - held_out, 0)
        sizes = np.log(np.abs(errors) + SMALLEST_ERROR)
        middle = float(np.mean(sizes[known]))
        expected = self._held_out(designs, sizes - middle, max(PENALTIES)) + middle
        widths_known = np.exp(_bounded(expected, middle))
        widths = whole.applied(fitted(whole, sizes - middle, known, max(PENALTIES))) + middle
        return centres, np.exp(_bounded(widths, middle)), (errors / widths_known)[known]

    def _best_penalty(self, designs: list[Design]) -> float:
        """The penalty with the smallest errors on a few parts."""
        tried = (self.folds >= 0) & (self.folds < TRIED)
        return min(
            PENALTIES,
            key=lambda one: np.abs(self._held_out(designs[:TRIED], self.targets, one) - self.targets)[tried].mean(),
        )

    def _design(self, fold: int) -> Design:
        """The traits of all rows as they are without the values of one part."""
        known = self.scored.copy()
        known[self.entities[self.folds == fold] if fold >= 0 else []] = np.nan
        return Design.of(self.marks, self.measures.columns(known))

    def _held_out(self, designs: list[Design], targets: Numbers, penalty: float) -> Numbers:
        """What each known row is predicted to be from the other parts."""
        found = np.zeros(len(targets))
        for fold, design in enumerate(designs):
            weights = fitted(design, targets, self.has_value & (self.folds != fold), penalty)
            rows = self.folds == fold
            found[rows] = design.applied(weights)[rows]
        return found


def _bounded(sizes: Numbers, middle: float) -> Numbers:
    """Expected sizes of errors, on a logarithmic scale, not too far from the usual one."""
    return np.clip(sizes, middle - 1.5, middle + 1.5)

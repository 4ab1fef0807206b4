"""Fitting `QueryCalibration` to queries whose truth is known, and judging it by others.

Both kinds of answers are logistic regressions (`logistic`) whose columns are products: of a value of the entity
(1, its logit, its ranks) with a feature of the query. A query with K known answers weighs 1 / (1 + K / 100): it has
more missing ones the larger K is, and without this a few questions with hundreds of them would decide. An entity below
`above` others weighs (1 + above / 100)^-1/4, because people look at the first ones. Both weights go by what is known
beforehand, so what is fitted stays a frequency.

Slopes of one kind of query are drawn towards those of all (`KIND_RIDGE`): questions of one step have few missing
answers, and alone would not even say that a larger membership is better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unseen.errors import UnseenError
from unseen.probability.logistic import fit_logistic, sigmoid
from unseen.probability.query_calibration import TERMS, QueryCalibration, QueryTerms, predicted_values
from unseen.probability.query_samples import CountedAnswers, QuerySample

Floats = NDArray[np.float64]

HALF_WEIGHT = 100.0
"""Known answers of a query that counts half."""
TAIL = 0.25
"""How fast entities far below weigh less."""
FIRST = 10
"""Predictions of a query that people look at."""
BINS = 10
KIND_RIDGE = 300.0
"""How strongly what distinguishes the slopes of kinds is drawn to zero; everything else by 1."""


def fit_query_calibration(
    samples: Sequence[QuerySample], ceiling: float, about: Mapping[str, Any] | None = None
) -> QueryCalibration:
    """The calibration with maximum likelihood for the observations, of which there must be some."""
    if not samples:
        raise UnseenError("probabilities cannot be fitted to no questions: give graphs that have answers to some")
    excluding = [sample for sample in samples if sample.features["negation"]]
    known = _fitted("known", excluding) if excluding else QueryTerms({"offset": {}, "membership": {"one": 1.0}})
    return QueryCalibration(_fitted("predicted", samples), known, ceiling, about or {})


def judged(calibration: QueryCalibration, samples: Sequence[QuerySample]) -> dict[str, float]:
    """How a calibration fits queries that it was not fitted to, by what is only predicted.

    Of the first ten predictions of each query: mean probability, share that came true, expected calibration error and
    mean log loss. Of all: expected and true number of missing answers a query.
    """
    first = [sample.predicted.first(FIRST) for sample in samples]
    probable = [_probabilities(calibration, sample, part) for sample, part in zip(samples, first, strict=True)]
    p, counts, true = _flat(probable), _flat([one.counts for one in first]), _flat([one.true for one in first])
    number, queries = max(counts.sum(), 1.0), max(len(samples), 1)
    expected = sum(float(_probabilities(calibration, one, one.predicted) @ one.predicted.counts) for one in samples)
    return {
        "queries": float(len(samples)),
        "mean_probability": float(p @ counts / number),
        "came_true": float(true.sum() / number),
        "calibration_error": calibration_error(p, counts, true),
        "log_loss": float(log_loss(p, counts, true) / number),
        "expected_missing": expected / queries,
        "true_missing": float(sum(one.predicted.true.sum() for one in samples)) / queries,
    }


def calibration_error(probabilities: Floats, counts: Floats, true: Floats) -> float:
    """The expected calibration error over ten bins of probability."""
    places = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    expected, seen = (np.bincount(places, weights, BINS) for weights in (counts * probabilities, true))
    return float(np.abs(expected - seen).sum() / max(counts.sum(), 1.0))


def log_loss(probabilities: Floats, counts: Floats, true: Floats) -> float:
    """The summed negative log-likelihood of the observations."""
    p = np.clip(probabilities, 1e-9, 1 - 1e-9)
    return float(-(true * np.log(p) + (counts - true) * np.log1p(-p)).sum())


def _probabilities(calibration: QueryCalibration, sample: QuerySample, part: CountedAnswers) -> Floats:
    logits = calibration.predicted_logits(torch.from_numpy(part.values), torch.from_numpy(part.above), sample.features)
    return sigmoid(logits.numpy())


def _fitted(kind: str, samples: Sequence[QuerySample]) -> QueryTerms:
    """The terms of predicted or of known answers."""
    parts = [(sample, getattr(sample, kind)) for sample in samples]
    weights = _flat([_weights(sample, part) for sample, part in parts])
    counts, true = _flat([part.counts for _, part in parts]), _flat([part.true for _, part in parts])
    rows = np.concatenate([_columns(kind, sample, part) for sample, part in parts])
    found = iter(fit_logistic(rows, weights * counts, weights * true, _ridges(kind)).tolist())
    return QueryTerms({name: {feature: next(found) for feature in features} for name, features in TERMS[kind].items()})


def _ridges(kind: str) -> Floats:
    names = [(name, feature) for name, features in TERMS[kind].items() for feature in features]
    return np.array([1.0 if name == "offset" or feature == "one" else KIND_RIDGE for name, feature in names])


def _columns(kind: str, sample: QuerySample, part: CountedAnswers) -> Floats:
    """The design rows of one query: for each part of the sum, its value times each of its features."""
    found = predicted_values(torch.from_numpy(part.values), torch.from_numpy(part.above), sample.features)
    values = {"offset": np.ones_like(part.values)} | {name: value.numpy() for name, value in found.items()}
    columns = [values[name] * sample.features[feature] for name, names in TERMS[kind].items() for feature in names]
    return np.stack(columns, axis=1)


def _weights(sample: QuerySample, part: CountedAnswers) -> Floats:
    query = 1 / (1 + np.expm1(sample.features["log_known"]) / HALF_WEIGHT)
    weights: Floats = query * (1 + part.above / HALF_WEIGHT) ** -TAIL
    return weights


def _flat(columns: Sequence[Floats]) -> Floats:
    return np.concatenate([np.empty(0), *columns])

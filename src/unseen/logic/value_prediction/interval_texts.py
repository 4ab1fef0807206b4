"""Predicted values as a person reads them: `≈ 84 (61 … 120)`, the middle and an interval that holds four of five."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.graph.attributes.value_kinds import IN_TIME, Kind
from unseen.logic.value_prediction.predictor import predicted_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.graph import KnowledgeGraph

YEAR = 366 * 86_400
DIGITS = 3


def filled(graph: KnowledgeGraph, attribute: int, entities: Sequence[int], texts: Sequence[str]) -> list[str]:
    """The texts of recorded values, and predicted ones for the entities that have none."""
    predicted = None if all(texts) else predicted_values(graph, attribute)
    if predicted is None:
        return list(texts)
    literals = graph.attributes.literals
    kinds = literals.kinds[graph.attributes.of_attribute(attribute)[1]]
    is_time = Kind(int(np.bincount(kinds).argmax())) in IN_TIME
    low, middle, high = predicted.intervals()
    found = list(texts)
    for row, entity in enumerate(entities):
        place = int(np.searchsorted(predicted.entities, entity))
        if not found[row] and place < len(predicted.entities) and predicted.entities[place] == entity:
            shown = [_shown(float(ends[place]), is_time=is_time) for ends in (middle, low, high)]
            found[row] = f"≈ {shown[0]} ({shown[1]} … {shown[2]})"
    return found


def _shown(number: float, *, is_time: bool) -> str:
    if is_time:
        return str(np.datetime64(int(number), "s").astype("datetime64[D]"))
    rounded = float(f"{number:.{DIGITS}g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:g}"

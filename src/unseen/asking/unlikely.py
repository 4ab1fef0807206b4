"""Predictions that are too unlikely to be worth a reader's time, which tables leave out.

Data (JSON, Python, HTTP) and ranked evaluation always have all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unseen.asking.answers import Answer, Answers

ABOVE_CHANCE, LARGEST = 3.0, 0.02
"""A prediction that is so many times as likely as an entity drawn at random says something, and one so probable."""
LEAST_SHARE = 0.01
"""Of the best prediction's probability."""


def without_unlikely(answers: Answers) -> tuple[Answers, tuple[Answer, ...]]:
    """The answers worth a reader's time, and the predictions that are too unlikely.

    Those are less than three times as likely as an entity drawn at random would be if just one answer were missing, or
    a hundred times less likely than the best prediction. One answer is left in any case, and scores that are no
    probabilities are all left.
    """
    predicted = [answer for answer in answers if not answer.known]
    if not predicted or (answers.expected is None and answers.complete is None):
        return answers, ()
    best = max(answer.probability for answer in predicted)
    by_chance = max(1, answers.graph.num_entities) ** -float(max(1, len(answers.variables)))
    least = max(min(LARGEST, ABOVE_CHANCE * by_chance), LEAST_SHARE * best)
    if len(predicted) == len(answers):
        least = min(least, best)
    hidden = tuple(answer for answer in predicted if answer.probability < least)
    shown = tuple(answer for answer in answers if answer.known or answer.probability >= least)
    return replace(answers, answers=shown), hidden

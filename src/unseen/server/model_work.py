"""All that a model does in a server: questions and scores, in one queue and one thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.errors import Stopped, UnseenError
from unseen.logic.stopping import also_checked_by
from unseen.server.memory import MemoryWatch
from unseen.server.predicting import Planned
from unseen.server.scoring_work import PlannedScores, ScoreWork, Stated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.asking.answers import Answers
    from unseen.scoring.scores import Scores
    from unseen.server.admission import Cost
    from unseen.server.predicting import Asked, Predictor

    Request = Asked | Stated
    Plan = Planned | PlannedScores
    Result = Answers | Scores


class ModelWork:
    """Plans, estimates and answers requests of both kinds."""

    def __init__(self, predictor: Predictor) -> None:
        self._predictor, self._scorer = predictor, ScoreWork(predictor)

    def plan(self, request: Request) -> Plan:
        """A request, parsed."""
        return self._scorer.plan(request) if isinstance(request, Stated) else self._predictor.plan(request)

    def cost_of(self, plan: Plan) -> Cost:
        """What it will take."""
        return self._scorer.cost_of(plan) if isinstance(plan, PlannedScores) else self._predictor.cost_of(plan)

    def answer_all(self, plans: Sequence[Plan]) -> list[Result | Exception]:
        """A result or an error for each: questions together, then scores one request after the other."""
        questions = [plan for plan in plans if isinstance(plan, Planned)]
        with also_checked_by(MemoryWatch().check):
            answers = iter(self._predictor.answer_all(questions) if questions else ())
            return [self._scores(plan) if isinstance(plan, PlannedScores) else next(answers) for plan in plans]

    def _scores(self, plan: PlannedScores) -> Scores | Exception:
        try:
            return self._scorer.answer(plan)
        except Stopped:
            raise
        except UnseenError as error:
            return error

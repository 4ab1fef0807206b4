"""How a run that scores single links answers: CQD-Beam with the options that were chosen for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unseen.errors import RunFolderError, TrainingError, UnseenError
from unseen.logic.protocols import LinkScorer
from unseen.methods.cqd_beam import CqdBeam, Tuning
from unseen.models.checkpoint import read_json
from unseen.probability.calibration import Calibrated

if TYPE_CHECKING:
    from unseen.logic.method import Method

TUNING, TUNING_ALONE = "tuning.json", "tuning-alone.json"


def read_tuning(folder: str | Path, name: str = TUNING) -> Tuning | None:
    """The tuning of a run folder, if it has one."""
    path = Path(folder) / name
    if not path.exists():
        return None
    try:
        return Tuning.from_json(read_json(path))
    except RunFolderError:
        raise
    except (UnseenError, AttributeError, TypeError, ValueError, KeyError, OverflowError) as error:
        raise RunFolderError(f"{error}; `unseen tune` writes it anew", path=path) from None


def tuned_method(scorer: LinkScorer, folder: str | Path, *, known_facts: bool = True) -> CqdBeam:
    """CQD-Beam over a run's scorer, with the tuned options, or the defaults without tuning.

    Without known facts that is what was chosen for predictions only; else what was chosen with them, but for the facts.
    """
    alone = None if known_facts else read_tuning(folder, TUNING_ALONE)
    if alone is not None:
        return alone.method(scorer)
    tuning = read_tuning(folder) or Tuning()
    return (tuning if known_facts else tuning.without_known_facts()).method(scorer)


def answering_method(method: Method, folder: str | Path, *, known_facts: bool = True) -> Method:
    """The method of a run as it answers: what scores single links by CQD-Beam, anything else by itself."""
    return tuned_method(method, folder, known_facts=known_facts) if isinstance(method, LinkScorer) else method


def link_scorer_of(method: object) -> LinkScorer:
    """What scores the single links of a method that answers by them."""
    if isinstance(method, Calibrated):
        return link_scorer_of(method.method)
    if isinstance(method, CqdBeam):
        return method.scorer
    if isinstance(method, LinkScorer):
        return method
    raise TrainingError(f"{type(method).__name__} does not score single links, so CQD-Beam has nothing to tune")

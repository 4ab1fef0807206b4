"""The trained methods by name. A new one is a folder and an entry here; nothing else names a method.

```python
from unseen.methods.registry import TRAINED

print(sorted(TRAINED), TRAINED["gnn-qe"].settings().layers)
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.errors import ConfigError
from unseen.methods.beta_e.beta_e_settings import BETA_E
from unseen.methods.gnn_qe.gnn_qe_settings import GNN_QE
from unseen.methods.nodepiece_qe.nodepiece_qe_settings import NODEPIECE_QE
from unseen.methods.zero_shot.pretraining_settings import PRETRAINING
from unseen.methods.zero_shot.zero_shot_settings import ZERO_SHOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unseen.methods.trainable import Trainable
    from unseen.methods.trained_method import TrainedMethod
    from unseen.methods.training_settings import TrainingConfig

TRAINED: dict[str, TrainedMethod] = {entry.name: entry for entry in (GNN_QE, NODEPIECE_QE, ZERO_SHOT, BETA_E)}
"""What `unseen train` trains."""
RUNS: dict[str, TrainedMethod] = TRAINED | {PRETRAINING.name: PRETRAINING}
"""Everything that the folder of a run can hold."""


def entry_of(config: TrainingConfig) -> TrainedMethod:
    """The method that settings belong to."""
    for entry in RUNS.values():
        if type(config) is entry.settings:
            return entry
    raise ConfigError(f"no method is trained with {type(config).__name__}")


def make_method(
    config: TrainingConfig,
    relation_names: Sequence[str],
    entity_names: Sequence[str] = (),
    *,
    known_facts: bool = True,
) -> Trainable:
    """A method with fresh weights, as the settings and their seed say; `entity_names` are those that it knows."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return entry_of(config).make(config, relation_names, entity_names, known_facts=known_facts)

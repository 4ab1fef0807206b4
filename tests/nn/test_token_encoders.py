"""Encoders against their equations; dropout that repeats itself."""

from __future__ import annotations

import torch

from unseen.nn.dropout import dropout
from unseen.nn.token_encoders import ConcatEncoder, RandomProjectionEncoder

DIM, TOKENS, NODES = 8, 5, 11


def vocabulary() -> torch.Tensor:
    return torch.randn(TOKENS, DIM, generator=torch.Generator().manual_seed(0))


def tokens(slots: int) -> torch.Tensor:
    """Random ones, padding (the number of tokens) among them; the last node has only padding."""
    drawn = torch.randint(TOKENS + 1, (NODES, slots), generator=torch.Generator().manual_seed(1), dtype=torch.int32)
    drawn[-1] = TOKENS
    return drawn


def test_sums_by_direction_go_through_fixed_projections() -> None:
    encoder, table, slots = RandomProjectionEncoder(DIM), vocabulary(), tokens(6)
    found = encoder(table, slots)
    for node in range(NODES):
        sums = [
            torch.stack([torch.zeros(DIM), *(table[t] for t in part.tolist() if t < TOKENS)]).sum(dim=0, keepdim=True)
            for part in slots[node].chunk(2)
        ]
        mixed = encoder.projections[0](sums[0]) + encoder.projections[1](sums[1])
        assert torch.allclose(found[node], encoder.perceptron(mixed)[0], atol=1e-5)
    trained = {name for name, _ in encoder.named_parameters()}
    assert len(encoder.state_dict()) == len(trained) + 8, "projections are kept too"
    assert trained == {f"perceptron.{layer}.{kind}" for layer in ("first", "second") for kind in ("weight", "bias")}


def test_tokens_side_by_side_folded_or_not() -> None:
    encoder, table, slots = ConcatEncoder(4, DIM, 16, 6), vocabulary(), tokens(4)
    padded = torch.cat([table, torch.zeros(1, DIM)])
    expected = encoder.perceptron(padded[slots.long()].flatten(1))
    assert torch.allclose(encoder(table, slots), expected, atol=1e-5)
    assert torch.allclose(encoder(table, slots[:2]), expected[:2], atol=1e-5)
    assert encoder(table, slots[:0]).shape == (0, 6)


def test_dropout_is_decided_by_its_generator() -> None:
    values = torch.ones(2000)
    first, again = (dropout(values, 0.25, torch.Generator().manual_seed(7)) for _ in range(2))
    assert torch.equal(first, again)
    assert abs(float(first.mean()) - 1) < 0.05
    assert abs(float((first == 0).float().mean()) - 0.25) < 0.05
    assert dropout(values, 0.25, None) is values
    assert dropout(values, 0.0, torch.Generator()) is values

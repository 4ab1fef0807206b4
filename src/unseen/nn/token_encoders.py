"""From the tokens of a node to its vector (NodePiece; the paper, section 4.1 and the appendix on hyper-parameters).

    random projection   h = MLP( P_out Σ_j o_j  +  P_in Σ_j i_j )          P two-layer networks that are never trained
    concatenation       h = MLP( [t_1 ; t_2 ; ... ; t_k] )

o_j, i_j, t_j are vectors of tokens, zero for padding. An MLP has two layers with a rectifier and dropout between them.
The first keeps the number of weights free of k.

The first layer of the concatenation's MLP is W [t_1 ; ... ; t_k] = Σ_j W_j t_j. Where there are more nodes than tokens,
W_j t is computed once for each of the `vocabulary` tokens and summed up by look-ups: k x vocabulary x dim x hidden
operations in place of k x node x dim x hidden.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import embedding, embedding_bag, linear, pad

from unseen.nn.dropout import dropout


class Perceptron(nn.Module):
    """Two layers with a rectifier between."""

    def __init__(self, inputs: int, hidden: int, outputs: int, dropout_rate: float = 0.0) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(inputs, hidden), nn.Linear(hidden, outputs)
        self.dropout_rate = dropout_rate

    def forward(
        self, values: Float[Tensor, "row inputs"], generator: torch.Generator | None = None
    ) -> Float[Tensor, "row outputs"]:
        """Both layers."""
        return self.rest(self.first(values), generator)

    def rest(
        self, hidden: Float[Tensor, "row hidden"], generator: torch.Generator | None
    ) -> Float[Tensor, "row outputs"]:
        """What follows the first layer."""
        outputs: Tensor = self.second(dropout(torch.relu(hidden), self.dropout_rate, generator))
        return outputs


class FixedPerceptron(nn.Module):
    """A random perceptron that is kept with a model's weights, but is none of them."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        made = Perceptron(dim, dim, dim)
        for layer, place in ((made.first, "first"), (made.second, "second")):
            self.register_buffer(f"{place}_weight", layer.weight.detach())
            self.register_buffer(f"{place}_bias", layer.bias.detach())

    def forward(self, values: Float[Tensor, "row dim"]) -> Float[Tensor, "row dim"]:
        """Both layers."""
        return linear(torch.relu(linear(values, *self._layer("first"))), *self._layer("second"))

    def _layer(self, place: str) -> tuple[Tensor, Tensor]:
        return self.get_buffer(f"{place}_weight"), self.get_buffer(f"{place}_bias")


class RandomProjectionEncoder(nn.Module):
    """Sums of tokens by direction, through fixed random projections, then a learned MLP."""

    def __init__(self, dim: int, dropout_rate: float = 0.0) -> None:
        super().__init__()
        self.projections = nn.ModuleList(FixedPerceptron(dim) for _ in range(2))
        self.perceptron = Perceptron(dim, dim, dim, dropout_rate)

    def table(self, vocabulary: Float[Tensor, "token dim"], count: int) -> None:
        """Nothing is worth keeping for many nodes: sums of tokens are cheap."""

    def forward(
        self,
        vocabulary: Float[Tensor, "token dim"],
        tokens: Int[Tensor, "node slot"],
        generator: torch.Generator | None = None,
        table: None = None,  # noqa: ARG002 - as the other encoder
    ) -> Float[Tensor, "node dim"]:
        """Vectors of nodes; the first half of their slots are outgoing relations, the second incoming ones."""
        padded = _with_padding(vocabulary)
        sums = [embedding_bag(part, padded, mode="sum") for part in tokens.long().chunk(2, dim=1)]
        mixed = sum(projection(part) for projection, part in zip(self.projections, sums, strict=True))
        vectors: Tensor = self.perceptron(mixed, generator)
        return vectors


class ConcatEncoder(nn.Module):
    """The tokens of a node side by side, through an MLP."""

    def __init__(self, slots: int, dim: int, hidden: int, outputs: int, dropout_rate: float = 0.0) -> None:
        super().__init__()
        self.slots, self.dim = slots, dim
        self.perceptron = Perceptron(slots * dim, hidden, outputs, dropout_rate)

    def table(self, vocabulary: Float[Tensor, "token dim"], count: int) -> Float[Tensor, "place hidden"] | None:
        """What each token adds to the first layer in each slot, slot by slot; None if so `count` nodes cost less."""
        if count <= len(vocabulary):
            return None
        weight = self.perceptron.first.weight.view(-1, self.slots, self.dim)
        return torch.matmul(_with_padding(vocabulary), weight.permute(1, 2, 0)).flatten(0, 1)

    def forward(
        self,
        vocabulary: Float[Tensor, "token dim"],
        tokens: Int[Tensor, "node slot"],
        generator: torch.Generator | None = None,
        table: Float[Tensor, "place hidden"] | None = None,
    ) -> Float[Tensor, "node outputs"]:
        """Vectors of nodes; a `table` of these weights saves making one."""
        table = self.table(vocabulary, len(tokens)) if table is None else table
        hidden = self._direct(vocabulary, tokens) if table is None else self._looked_up(table, tokens)
        return self.perceptron.rest(hidden, generator)

    def _direct(
        self, vocabulary: Float[Tensor, "token dim"], tokens: Int[Tensor, "node slot"]
    ) -> Float[Tensor, "node hidden"]:
        """The first layer on concatenated vectors."""
        side_by_side = embedding(tokens.long(), _with_padding(vocabulary)).flatten(1)
        hidden: Tensor = self.perceptron.first(side_by_side)
        return hidden

    def _looked_up(
        self, table: Float[Tensor, "place hidden"], tokens: Int[Tensor, "node slot"]
    ) -> Float[Tensor, "node hidden"]:
        """The same from a table."""
        places = torch.arange(self.slots, device=tokens.device) * (len(table) // self.slots) + tokens
        return embedding_bag(places, table, mode="sum") + self.perceptron.first.bias


def _with_padding(vocabulary: Float[Tensor, "token dim"]) -> Float[Tensor, "more dim"]:
    """The vectors of tokens and, one past the last, that of padding: zero."""
    return pad(vocabulary, (0, 0, 0, 1))

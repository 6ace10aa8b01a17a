"""The two perceptrons: head and tail versions of a unit (section 2.3), and scores from pair features."""

import numpy as np
import torch

from biorel.model.heads import PairFeatures, Projection
from tests.builders import scrambled
from tests.model.naive import affine, relu, weights


def test_a_projection_is_linear_relu_linear() -> None:
    projection = scrambled(Projection(width=4, dropout=0.5))
    units = torch.randn(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    w = weights(projection)
    for row in range(2):
        for unit in range(3):
            inner = relu(affine(w["inner.weight"], w["inner.bias"], units[row, unit].numpy()))
            expected = affine(w["outer.weight"], w["outer.bias"], inner)
            np.testing.assert_allclose(projection(units)[row, unit].detach().numpy(), expected, atol=1e-12)


def test_pair_features_are_linear_relu_linear() -> None:
    head = scrambled(PairFeatures(features=5, inner=3, relations=4, dropout=0.5))
    features = torch.randn(6, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    w = weights(head)
    for row in range(6):
        inner = relu(affine(w["inner.weight"], w["inner.bias"], features[row].numpy()))
        expected = affine(w["outer.weight"], w["outer.bias"], inner)
        np.testing.assert_allclose(head(features)[row].detach().numpy(), expected, atol=1e-12)


def test_final_dropout_of_one_leaves_only_the_last_bias() -> None:
    projection = scrambled(Projection(width=4, dropout=1.0)).train()
    units = torch.randn(3, 4, dtype=torch.float64)
    torch.testing.assert_close(projection(units), projection.outer.bias.expand(3, -1))

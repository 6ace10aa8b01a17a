"""The two perceptrons: the head or tail version of a span (section 2.3), and the scores of pair features."""

import numpy as np
import torch

from biorel.model.heads import HeadTailMLP, PairFeatures
from tests.builders import scrambled
from tests.model.naive import affine, relu, weights


def test_the_head_or_tail_mlp_is_linear_relu_linear() -> None:
    mlp = scrambled(HeadTailMLP(width=4, dropout=0.5))
    spans = torch.randn(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    w = weights(mlp)
    for row in range(2):
        for span in range(3):
            inner = relu(affine(w["inner.weight"], w["inner.bias"], spans[row, span].numpy()))
            expected = affine(w["outer.weight"], w["outer.bias"], inner)
            np.testing.assert_allclose(mlp(spans)[row, span].detach().numpy(), expected, atol=1e-12)


def test_pair_features_are_linear_relu_linear() -> None:
    head = scrambled(PairFeatures(features=5, inner=3, relations=4, dropout=0.5))
    features = torch.randn(6, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    w = weights(head)
    for row in range(6):
        inner = relu(affine(w["inner.weight"], w["inner.bias"], features[row].numpy()))
        expected = affine(w["outer.weight"], w["outer.bias"], inner)
        np.testing.assert_allclose(head(features)[row].detach().numpy(), expected, atol=1e-12)


def test_dropout_of_one_leaves_only_the_last_bias() -> None:
    mlp = scrambled(HeadTailMLP(width=4, dropout=1.0)).train()
    spans = torch.randn(3, 4, dtype=torch.float64)
    torch.testing.assert_close(mlp(spans), mlp.outer.bias.expand(3, -1))

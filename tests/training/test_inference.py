"""Predictions in batches equal one forward pass for each document, and cover all documents."""

import numpy as np
import pytest
import torch

from biorel.model.bran import Bran
from biorel.records import Example
from biorel.training.inference import Prediction, predict
from tests.builders import batch_of, collator, example, random_example, tiny_bran

CPU = torch.device("cpu")


@pytest.fixture
def documents() -> list[Example]:
    """One is longer than the 24 learned positions, three have no pair, and one has no token."""
    return [
        random_example(1, 19),
        example(tokens=[4]),
        random_example(2, 60, entities=5),
        random_example(3, 7, entities=5),
        example(tokens=[]),
        random_example(4, 24, entities=6),
        example(tokens=[5, 6, 7], entities=[("Chemical", [(0, 2)])]),
    ]


def _predict(model: Bran, documents: list[Example], *, span_pooling: str, budget: int = 40) -> dict[int, Prediction]:
    found = list(predict(model, documents, collator(span_pooling=span_pooling), token_budget=budget, device=CPU))
    assert sorted(prediction.index for prediction in found) == list(range(len(documents)))
    return {prediction.index: prediction for prediction in found}


@pytest.mark.parametrize("span_pooling", ["mentions", "tokens"])
@pytest.mark.parametrize("budget", [1, 40, 10_000])
def test_predictions_equal_one_pass_per_document(documents: list[Example], span_pooling: str, budget: int) -> None:
    model = tiny_bran()
    found = _predict(model.train(), documents, span_pooling=span_pooling, budget=budget)
    assert not model.training
    for index, document in enumerate(documents):
        batch = batch_of([document], span_pooling=span_pooling)
        with torch.no_grad():
            output = model(batch)
        prediction = found[index]
        np.testing.assert_allclose(prediction.pair_probabilities, output.pair_scores.softmax(-1).numpy(), atol=1e-5)
        assert prediction.pair_probabilities.shape == (len(document.pair_heads), 5)
        assert prediction.tags.tolist() == output.ner_scores[0, : len(document.token_ids)].argmax(-1).tolist()
        assert prediction.entity_pairs.tolist() == batch.entity_pairs.tolist()
        scores = output.mention_pair_scores.double().numpy()
        for pair in range(batch.pair_count):
            own = batch.entity_pairs.numpy() == pair
            shares = np.exp(scores[own] - scores[own].max(0))
            np.testing.assert_allclose(prediction.mention_pair_weights[own], shares / shares.sum(0), atol=1e-5)


@pytest.mark.parametrize("span_pooling", ["mentions", "tokens"])
def test_mention_pair_weights_of_an_entity_pair_sum_to_one(documents: list[Example], span_pooling: str) -> None:
    pairs = 0
    for prediction in _predict(tiny_bran(), documents, span_pooling=span_pooling).values():
        for pair in range(len(prediction.pair_probabilities)):
            shares = prediction.mention_pair_weights[prediction.entity_pairs == pair]
            assert len(shares) > 0
            np.testing.assert_allclose(shares.sum(0), 1.0, atol=1e-5)
            pairs += 1
    assert pairs > 10


def test_the_order_of_documents_does_not_matter(documents: list[Example]) -> None:
    model = tiny_bran()
    found = _predict(model, documents, span_pooling="mentions")
    reversed_order = _predict(model, documents[::-1], span_pooling="mentions")
    for index in range(len(documents)):
        other = reversed_order[len(documents) - 1 - index]
        np.testing.assert_allclose(found[index].pair_probabilities, other.pair_probabilities, atol=1e-5)
        assert found[index].tags.tolist() == other.tags.tolist()


def test_without_documents_there_is_no_prediction() -> None:
    assert _predict(tiny_bran(), [], span_pooling="mentions") == {}


def test_predictions_hold_no_gradient_graph(documents: list[Example]) -> None:
    model = tiny_bran()
    prediction = _predict(model, documents[:1], span_pooling="mentions")[0]
    assert isinstance(prediction.pair_probabilities, np.ndarray)
    assert all(parameter.grad is None for parameter in model.parameters())

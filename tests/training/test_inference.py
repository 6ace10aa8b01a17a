"""Predictions in batches equal one pass a document, and cover everything."""

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
    """One is longer than the 24 positions, three have no pair, one has no token."""
    return [
        random_example(1, 19),
        example(tokens=[4]),
        random_example(2, 60, entities=5),
        random_example(3, 7, entities=5),
        example(tokens=[]),
        random_example(4, 24, entities=6),
        example(tokens=[5, 6, 7], entities=[("Chemical", [(0, 2)])]),
    ]


def _predict(model: Bran, documents: list[Example], *, units: str, budget: int = 40) -> dict[int, Prediction]:
    found = list(predict(model, documents, collator(units=units), token_budget=budget, device=CPU))
    assert sorted(prediction.index for prediction in found) == list(range(len(documents)))
    return {prediction.index: prediction for prediction in found}


@pytest.mark.parametrize("units", ["mentions", "tokens"])
@pytest.mark.parametrize("budget", [1, 40, 10_000])
def test_predictions_equal_one_pass_a_document(documents: list[Example], units: str, budget: int) -> None:
    model = tiny_bran()
    found = _predict(model.train(), documents, units=units, budget=budget)
    assert not model.training
    for index, document in enumerate(documents):
        batch = batch_of([document], units=units)
        with torch.no_grad():
            output = model(batch)
        prediction = found[index]
        np.testing.assert_allclose(prediction.pairs, output.pairs.softmax(-1).numpy(), atol=1e-5)
        assert prediction.pairs.shape == (len(document.pair_heads), 5)
        assert prediction.tags.tolist() == output.ner[0, : len(document.token_ids)].argmax(-1).tolist()
        assert prediction.link_pairs.tolist() == batch.link_pairs.tolist()
        scores = output.links.double().numpy()
        for pair in range(batch.pairs):
            own = batch.link_pairs.numpy() == pair
            shares = np.exp(scores[own] - scores[own].max(0))
            np.testing.assert_allclose(prediction.links[own], shares / shares.sum(0), atol=1e-5)


@pytest.mark.parametrize("units", ["mentions", "tokens"])
def test_link_weights_of_a_pair_sum_to_one(documents: list[Example], units: str) -> None:
    pairs = 0
    for prediction in _predict(tiny_bran(), documents, units=units).values():
        for pair in range(len(prediction.pairs)):
            shares = prediction.links[prediction.link_pairs == pair]
            assert len(shares) > 0
            np.testing.assert_allclose(shares.sum(0), 1.0, atol=1e-5)
            pairs += 1
    assert pairs > 10


def test_the_order_of_documents_is_no_matter(documents: list[Example]) -> None:
    model = tiny_bran()
    found = _predict(model, documents, units="mentions")
    turned = _predict(model, documents[::-1], units="mentions")
    for index in range(len(documents)):
        other = turned[len(documents) - 1 - index]
        np.testing.assert_allclose(found[index].pairs, other.pairs, atol=1e-5)
        assert found[index].tags.tolist() == other.tags.tolist()


def test_no_document_is_no_prediction() -> None:
    assert _predict(tiny_bran(), [], units="mentions") == {}


def test_predictions_hold_no_graph(documents: list[Example]) -> None:
    model = tiny_bran()
    prediction = _predict(model, documents[:1], units="mentions")[0]
    assert isinstance(prediction.pairs, np.ndarray)
    assert all(parameter.grad is None for parameter in model.parameters())

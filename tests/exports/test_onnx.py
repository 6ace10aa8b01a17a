"""ONNX graphs give what the network gives, for shapes other than the traced ones."""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
import pytest
import torch

from biorel.errors import ConfigError
from biorel.exports.onnx import MODEL_INPUTS, export_onnx
from biorel.model.bran import FORBIDDEN
from biorel.model.pooling import gather_links, pool_links
from tests.builders import batch_of, random_example, tiny_bran

onnxruntime = pytest.importorskip("onnxruntime")

CLOSE = 1e-4
# of documents in one batch, so that the shorter ones are padded; 24 is the number of positions
LENGTHS = [(3,), (24,), (5, 19, 11), (7, 24, 1, 12), (40,), (60, 9)]


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def graph_outputs(folder, batch):
    graph = session(folder / "model.onnx")
    wanted = {value.name for value in graph.get_inputs()}
    inputs = {name: getattr(batch, name).numpy() for name in MODEL_INPUTS if name in wanted}
    return [torch.from_numpy(values) for values in graph.run(["affinities", "ner"], inputs)]


@torch.no_grad()
def expected(model, batch):
    """Affinities and BIO scores of the network, all tokens read at once."""
    tokens = model.encoder(model.embedding(batch.token_ids), batch.token_mask)
    units = (batch.head_tokens, batch.head_mask, batch.tail_tokens, batch.tail_mask)
    return model.affinities(tokens, *units), model.ner(tokens)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"units": "tokens"},
        {"heads": 0},
        {"kernels": (1, 1, 1)},
        {"kernels": (3,), "blocks": 1},
        {"blocks": 0},
    ],
)
def test_the_graph_equals_the_network(tmp_path, changes):
    model = tiny_bran(**changes).eval()
    export_onnx(model, tmp_path)
    for seed, lengths in enumerate(LENGTHS):
        examples = [random_example(100 * seed + length, length, entities=5) for length in lengths]
        batch = batch_of(examples, units=changes.get("units", "mentions"))
        affinities, ner = graph_outputs(tmp_path, batch)
        for found, wanted in zip((affinities, ner), expected(model, batch), strict=True):
            torch.testing.assert_close(found, wanted, atol=CLOSE, rtol=0)


@pytest.mark.parametrize("units", ["mentions", "tokens"])
def test_pairs_scored_as_onnx_json_says_equal_the_network(tmp_path, units):
    model = tiny_bran(units=units).eval()
    export_onnx(model, tmp_path)
    batch = batch_of([random_example(seed, 5 + 3 * seed, entities=6) for seed in range(6)], units=units)
    affinities, ner = graph_outputs(tmp_path, batch)
    (features,) = session(tmp_path / "pair_features.onnx").run(None, {"features": batch.pair_features.numpy()})
    pooled = pool_links(gather_links(affinities, batch.links), batch.link_pairs, batch.pairs)
    scores = (pooled + torch.from_numpy(features)).masked_fill(~batch.allowed, FORBIDDEN)
    with torch.no_grad():
        output = model(batch)
    assert batch.pairs > 10
    torch.testing.assert_close(scores, output.pairs, atol=CLOSE, rtol=0)
    torch.testing.assert_close(ner, output.ner, atol=CLOSE, rtol=0)


def test_a_padded_document_scores_as_it_does_alone(tmp_path):
    export_onnx(tiny_bran(), tmp_path)
    short, long = random_example(1, 6), random_example(2, 20)
    alone, _ = graph_outputs(tmp_path, batch_of([short]))
    together, _ = graph_outputs(tmp_path, batch_of([short, long]))
    _, heads, _, tails = alone.shape
    torch.testing.assert_close(together[:1, :heads, :, :tails], alone, atol=CLOSE, rtol=0)


@pytest.mark.parametrize("pairs", [1, 2, 7])
def test_the_features_graph_takes_any_number_of_pairs(tmp_path, pairs):
    model = tiny_bran().eval()
    export_onnx(model, tmp_path)
    features = torch.randn(pairs, model.sizes.pair_features, generator=torch.Generator().manual_seed(pairs))
    (found,) = session(tmp_path / "pair_features.onnx").run(None, {"features": features.numpy()})
    with torch.no_grad():
        np.testing.assert_allclose(found, model.features(features).numpy(), atol=CLOSE)


def test_a_network_without_features_has_one_graph(tmp_path):
    export_onnx(tiny_bran(features=False), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"model.onnx", "onnx.json"}


def test_the_description_tells_names_types_and_axes(tmp_path):
    model = tiny_bran()
    export_onnx(model, tmp_path)
    described = json.loads((tmp_path / "onnx.json").read_text(encoding="utf-8"))
    graph = described["graphs"]["model.onnx"]
    shapes = {value["name"]: (value["type"], value["shape"]) for value in graph["inputs"] + graph["outputs"]}
    assert shapes == {
        "token_ids": ("int64", ["B", "T"]),
        "token_mask": ("bool", ["B", "T"]),
        "head_tokens": ("int64", ["B", "H", "L"]),
        "head_mask": ("bool", ["B", "H", "L"]),
        "tail_tokens": ("int64", ["B", "K", "L"]),
        "tail_mask": ("bool", ["B", "K", "L"]),
        "affinities": ("float32", ["B", "H", 5, "K"]),
        "ner": ("float32", ["B", "T", 7]),
    }
    features = described["graphs"]["pair_features.onnx"]
    assert features["inputs"] == [{"name": "features", "type": "float32", "shape": ["P", model.sizes.pair_features]}]
    assert features["outputs"] == [{"name": "scores", "type": "float32", "shape": ["P", 5]}]
    assert (described["positions"], described["units"]) == (24, "mentions")


@pytest.mark.parametrize("training", [True, False])
def test_the_network_is_left_as_it_was(tmp_path, training):
    model = tiny_bran().train(training)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    export_onnx(model, tmp_path)
    assert all(module.training == training for module in model.modules())
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_export_is_quiet_and_repeats_itself(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            export_onnx(tiny_bran(), tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_without_the_package_the_command_to_install_it_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ConfigError) as caught:
        export_onnx(tiny_bran(), tmp_path)
    assert "pip install" in caught.value.hint
    assert not list(tmp_path.iterdir())

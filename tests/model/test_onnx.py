"""ONNX graphs give what the network gives, for shapes other than the traced ones."""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
import pytest
import torch

from biorel.errors import ConfigError
from biorel.model.bran import FORBIDDEN
from biorel.model.onnx import MODEL_INPUTS, export_onnx
from biorel.model.pooling import gather_links, pool_links
from tests.builders import RELATION_TYPES, batch_of, example, random_example, tiny_bran, tiny_reranked

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


def final_scores(folder, documents, scores):
    """z of all pairs of all documents, [P, R], from cues.onnx and the numbers of onnx.json, as its reading says."""
    numbers = json.loads((folder / "onnx.json").read_text(encoding="utf-8"))["reranker"]
    graph, lowest = session(folder / "cues.onnx"), numbers["lowest"]
    rows, begin = [], 0
    for document in documents:
        pairs = list(zip(document.pair_heads, document.pair_tails, strict=True))
        if not pairs:
            continue
        length = max(1, *map(len, document.pair_lexical_features))
        cues = np.zeros((len(pairs), length), dtype=np.int64)
        mask = np.zeros((len(pairs), length), dtype=bool)
        for pair, own in enumerate(document.pair_lexical_features):
            cues[pair, : len(own)], mask[pair, : len(own)] = own, True
        features = np.array(document.pair_features, dtype=np.float32)
        (c,) = graph.run(None, {"cues": cues, "cue_mask": mask, "features": features})
        s = scores[begin : begin + len(pairs)].numpy().astype(np.float64)
        begin += len(pairs)
        start, of_cues, of_network = numbers["mix"]
        m = np.maximum(start + of_cues * c + of_network * (s[:, 1:] - s[:, :1]), lowest)
        types = [(document.entity_types[head], document.entity_types[tail]) for head, tail in pairs]
        for pair, (head, tail) in enumerate(pairs):
            row = [0.0]
            for relation, expected in enumerate(RELATION_TYPES):
                others = [one for one, own in enumerate(types) if one != pair and own == expected]
                read = [m[pair, relation]]
                for rivals in (
                    [one for one in others if pairs[one][1] == tail],
                    [one for one in others if pairs[one][0] == head],
                    others,
                ):
                    read.append(max((m[one, relation] for one in rivals), default=lowest))
                    read.append(np.log1p(sum(np.exp(min(m[one, relation], -lowest)) for one in rivals)))
                row.append(float(np.dot(numbers["rival_weights"], read)) + numbers["rival_bias"])
            rows.append(row)
    return torch.tensor(rows)


def test_pairs_reranked_as_onnx_json_says_equal_the_network(tmp_path):
    model = tiny_reranked(seed=3).eval()
    export_onnx(model, tmp_path)
    documents = [random_example(seed, 5 + 3 * seed, entities=7) for seed in range(6)]
    documents.insert(2, example(tokens=[4, 5]))
    batch = batch_of(documents)
    affinities, _ = graph_outputs(tmp_path, batch)
    (features,) = session(tmp_path / "pair_features.onnx").run(None, {"features": batch.pair_features.numpy()})
    pooled = pool_links(gather_links(affinities, batch.links), batch.link_pairs, batch.pairs)
    found = final_scores(tmp_path, documents, pooled + torch.from_numpy(features))
    with torch.no_grad():
        wanted = model(batch).pairs
    assert batch.pairs > 10
    torch.testing.assert_close(found.masked_fill(~batch.allowed, FORBIDDEN), wanted, atol=1e-3, rtol=0)


@pytest.mark.parametrize(("pairs", "length"), [(1, 1), (3, 2), (5, 9)])
def test_the_cues_graph_takes_any_number_of_pairs_and_cues(tmp_path, pairs, length):
    model = tiny_reranked().eval()
    export_onnx(model, tmp_path)
    generator = torch.Generator().manual_seed(pairs)
    cues = torch.randint(model.sizes.cues, (pairs, length), generator=generator)
    mask = torch.rand(pairs, length, generator=generator) < 0.6
    features = torch.randn(pairs, model.sizes.pair_features, generator=generator)
    given = {"cues": cues.numpy(), "cue_mask": mask.numpy(), "features": features.numpy()}
    (found,) = session(tmp_path / "cues.onnx").run(None, given)
    reranker = model.reranker
    lexical = torch.stack([reranker.cue_weights[row[real]].sum(0) for row, real in zip(cues, mask, strict=True)])
    expected = lexical + features @ reranker.feature_weights + reranker.bias
    np.testing.assert_allclose(found, expected.numpy(), atol=CLOSE)


def test_a_reranker_is_described(tmp_path):
    model = tiny_reranked()
    export_onnx(model, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"model.onnx", "pair_features.onnx", "cues.onnx", "onnx.json"}
    described = json.loads((tmp_path / "onnx.json").read_text(encoding="utf-8"))
    graph = described["graphs"]["cues.onnx"]
    assert [(value["name"], value["type"], value["shape"]) for value in graph["inputs"] + graph["outputs"]] == [
        ("cues", "int64", ["P", "C"]),
        ("cue_mask", "bool", ["P", "C"]),
        ("features", "float32", ["P", model.sizes.pair_features]),
        ("scores", "float32", ["P", 4]),
    ]
    assert described["reranker"]["buckets"] == model.sizes.cues
    told = " ".join(described["reading"])
    assert all(name in told for name in described["reranker"])


def test_without_a_reranker_none_is_told(tmp_path):
    export_onnx(tiny_bran(), tmp_path)
    described = json.loads((tmp_path / "onnx.json").read_text(encoding="utf-8"))
    assert "reranker" not in described
    assert "rival" not in " ".join(described["reading"])


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
    model = tiny_reranked().train(training)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    export_onnx(model, tmp_path)
    assert all(module.training == training for module in model.modules())
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_export_is_quiet_and_repeats_itself(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            export_onnx(tiny_reranked(), tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_without_the_package_the_command_to_install_it_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ConfigError) as caught:
        export_onnx(tiny_bran(), tmp_path)
    assert "pip install" in caught.value.hint
    assert not list(tmp_path.iterdir())

"""ONNX graphs give the scores of the network, also for shapes other than the traced ones."""

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
from biorel.model.pooling import gather_mention_pairs, pool_mention_pairs
from tests.builders import RELATION_TYPES, batch_of, example, random_example, tiny_bran, tiny_reranked

onnxruntime = pytest.importorskip("onnxruntime")

CLOSE = 1e-4
# lengths of the documents of a batch; shorter ones are padded, and 24 is the number of learned positions
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
    """The affinities and BIO scores of the network, which reads all tokens at once."""
    tokens = model.encoder(model.embedding(batch.token_ids), batch.token_mask)
    spans = (batch.head_tokens, batch.head_mask, batch.tail_tokens, batch.tail_mask)
    return model.affinities(tokens, *spans), model.ner(tokens)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"span_pooling": "tokens"},
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
        batch = batch_of(examples, span_pooling=changes.get("span_pooling", "mentions"))
        affinities, ner = graph_outputs(tmp_path, batch)
        for found, wanted in zip((affinities, ner), expected(model, batch), strict=True):
            torch.testing.assert_close(found, wanted, atol=CLOSE, rtol=0)


@pytest.mark.parametrize("span_pooling", ["mentions", "tokens"])
def test_scores_computed_by_the_instructions_equal_the_network(tmp_path, span_pooling):
    model = tiny_bran(span_pooling=span_pooling).eval()
    export_onnx(model, tmp_path)
    batch = batch_of([random_example(seed, 5 + 3 * seed, entities=6) for seed in range(6)], span_pooling=span_pooling)
    affinities, ner = graph_outputs(tmp_path, batch)
    (features,) = session(tmp_path / "pair_features.onnx").run(None, {"features": batch.pair_features.numpy()})
    pooled = pool_mention_pairs(
        gather_mention_pairs(affinities, batch.mention_pairs), batch.entity_pairs, batch.pair_count
    )
    scores = (pooled + torch.from_numpy(features)).masked_fill(~batch.allowed, FORBIDDEN)
    with torch.no_grad():
        output = model(batch)
    assert batch.pair_count > 10
    torch.testing.assert_close(scores, output.pair_scores, atol=CLOSE, rtol=0)
    torch.testing.assert_close(ner, output.ner_scores, atol=CLOSE, rtol=0)


def final_scores(folder, documents, scores):
    """z of all pairs of all documents, [P, R], computed by the instructions of onnx.json."""
    constants = json.loads((folder / "onnx.json").read_text(encoding="utf-8"))["reranker"]
    graph, lowest = session(folder / "lexical_features.onnx"), constants["lowest"]
    rows, begin = [], 0
    for document in documents:
        pairs = list(zip(document.pair_heads, document.pair_tails, strict=True))
        if not pairs:
            continue
        length = max(1, *map(len, document.pair_lexical_features))
        lexical = np.zeros((len(pairs), length), dtype=np.int64)
        mask = np.zeros((len(pairs), length), dtype=bool)
        for pair, own in enumerate(document.pair_lexical_features):
            lexical[pair, : len(own)], mask[pair, : len(own)] = own, True
        features = np.array(document.pair_features, dtype=np.float32)
        (c,) = graph.run(None, {"lexical_features": lexical, "lexical_mask": mask, "features": features})
        s = scores[begin : begin + len(pairs)].numpy().astype(np.float64)
        begin += len(pairs)
        start, of_lexical, of_network = constants["mix"]
        m = np.maximum(start + of_lexical * c + of_network * (s[:, 1:] - s[:, :1]), lowest)
        types = [(document.entity_types[head], document.entity_types[tail]) for head, tail in pairs]
        for pair, (head, tail) in enumerate(pairs):
            row = [0.0]
            for relation, expected in enumerate(RELATION_TYPES):
                others = [other for other, own in enumerate(types) if other != pair and own == expected]
                numbers = [m[pair, relation]]
                for competing in (
                    [other for other in others if pairs[other][1] == tail],
                    [other for other in others if pairs[other][0] == head],
                    others,
                ):
                    numbers.append(max((m[other, relation] for other in competing), default=lowest))
                    numbers.append(np.log1p(sum(np.exp(min(m[other, relation], -lowest)) for other in competing)))
                row.append(float(np.dot(constants["competing_weights"], numbers)) + constants["competing_bias"])
            rows.append(row)
    return torch.tensor(rows)


def test_reranked_scores_computed_by_the_instructions_equal_the_network(tmp_path):
    model = tiny_reranked(seed=3).eval()
    export_onnx(model, tmp_path)
    documents = [random_example(seed, 5 + 3 * seed, entities=7) for seed in range(6)]
    documents.insert(2, example(tokens=[4, 5]))
    batch = batch_of(documents)
    affinities, _ = graph_outputs(tmp_path, batch)
    (features,) = session(tmp_path / "pair_features.onnx").run(None, {"features": batch.pair_features.numpy()})
    pooled = pool_mention_pairs(
        gather_mention_pairs(affinities, batch.mention_pairs), batch.entity_pairs, batch.pair_count
    )
    found = final_scores(tmp_path, documents, pooled + torch.from_numpy(features))
    with torch.no_grad():
        expected_scores = model(batch).pair_scores
    assert batch.pair_count > 10
    torch.testing.assert_close(found.masked_fill(~batch.allowed, FORBIDDEN), expected_scores, atol=1e-3, rtol=0)


@pytest.mark.parametrize(("pairs", "length"), [(1, 1), (3, 2), (5, 9)])
def test_the_lexical_graph_takes_any_number_of_pairs_and_features(tmp_path, pairs, length):
    model = tiny_reranked().eval()
    export_onnx(model, tmp_path)
    generator = torch.Generator().manual_seed(pairs)
    lexical_ids = torch.randint(model.config.lexical_features, (pairs, length), generator=generator)
    mask = torch.rand(pairs, length, generator=generator) < 0.6
    features = torch.randn(pairs, model.config.pair_features, generator=generator)
    inputs = {"lexical_features": lexical_ids.numpy(), "lexical_mask": mask.numpy(), "features": features.numpy()}
    (found,) = session(tmp_path / "lexical_features.onnx").run(None, inputs)
    reranker = model.reranker
    lexical = torch.stack(
        [reranker.lexical_weights[row[real]].sum(0) for row, real in zip(lexical_ids, mask, strict=True)]
    )
    expected = lexical + features @ reranker.feature_weights + reranker.bias
    np.testing.assert_allclose(found, expected.numpy(), atol=CLOSE)


def test_onnx_json_describes_the_reranker(tmp_path):
    model = tiny_reranked()
    export_onnx(model, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "model.onnx",
        "pair_features.onnx",
        "lexical_features.onnx",
        "onnx.json",
    }
    described = json.loads((tmp_path / "onnx.json").read_text(encoding="utf-8"))
    graph = described["graphs"]["lexical_features.onnx"]
    assert [(value["name"], value["type"], value["shape"]) for value in graph["inputs"] + graph["outputs"]] == [
        ("lexical_features", "int64", ["P", "L"]),
        ("lexical_mask", "bool", ["P", "L"]),
        ("features", "float32", ["P", model.config.pair_features]),
        ("scores", "float32", ["P", 4]),
    ]
    assert described["reranker"]["buckets"] == model.config.lexical_features
    instructions = " ".join(described["instructions"])
    assert all(name in instructions for name in described["reranker"])


def test_without_a_reranker_onnx_json_describes_none(tmp_path):
    export_onnx(tiny_bran(), tmp_path)
    described = json.loads((tmp_path / "onnx.json").read_text(encoding="utf-8"))
    assert "reranker" not in described
    assert "competing" not in " ".join(described["instructions"])


def test_a_padded_document_has_the_same_scores_as_alone(tmp_path):
    export_onnx(tiny_bran(), tmp_path)
    short, long = random_example(1, 6), random_example(2, 20)
    alone, _ = graph_outputs(tmp_path, batch_of([short]))
    together, _ = graph_outputs(tmp_path, batch_of([short, long]))
    _, heads, _, tails = alone.shape
    torch.testing.assert_close(together[:1, :heads, :, :tails], alone, atol=CLOSE, rtol=0)


@pytest.mark.parametrize("pairs", [1, 2, 7])
def test_the_pair_features_graph_takes_any_number_of_pairs(tmp_path, pairs):
    model = tiny_bran().eval()
    export_onnx(model, tmp_path)
    features = torch.randn(pairs, model.config.pair_features, generator=torch.Generator().manual_seed(pairs))
    (found,) = session(tmp_path / "pair_features.onnx").run(None, {"features": features.numpy()})
    with torch.no_grad():
        np.testing.assert_allclose(found, model.pair_features(features).numpy(), atol=CLOSE)


def test_a_network_without_features_has_one_graph(tmp_path):
    export_onnx(tiny_bran(features=False), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"model.onnx", "onnx.json"}


def test_onnx_json_lists_names_types_and_axes(tmp_path):
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
    assert features["inputs"] == [{"name": "features", "type": "float32", "shape": ["P", model.config.pair_features]}]
    assert features["outputs"] == [{"name": "scores", "type": "float32", "shape": ["P", 5]}]
    assert (described["positions"], described["span_pooling"]) == (24, "mentions")


@pytest.mark.parametrize("training", [True, False])
def test_export_does_not_change_the_network(tmp_path, training):
    model = tiny_reranked().train(training)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    export_onnx(model, tmp_path)
    assert all(module.training == training for module in model.modules())
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_export_gives_no_warning_and_the_same_bytes_again(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            export_onnx(tiny_reranked(), tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_without_the_package_the_hint_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ConfigError) as caught:
        export_onnx(tiny_bran(), tmp_path)
    assert "pip install" in caught.value.hint
    assert not list(tmp_path.iterdir())

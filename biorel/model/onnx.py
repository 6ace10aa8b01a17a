"""Export a network as ONNX graphs, which run without torch.

    model.onnx             tokens and spans -> affinities [B, H, R, K], ner [B, T, C]
    pair_features.onnx     features [P, F] -> scores [P, R]; only of a network with pair features
    lexical_features.onnx  lexical features [P, L], their mask, features [P, F] -> scores [P, R - 1]; only with a
                           reranker
    onnx.json              names, types and axes of inputs and outputs, and how to compute relations from them

torch's TorchScript exporter traces the graphs, as the newer exporter also needs onnxscript.
"""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from biorel.errors import ConfigError, ModelError
from biorel.model.bran import Bran
from biorel.model.competing_pairs import LOWEST
from biorel.model.ensemble import Ensemble, Network
from biorel.model.reranker import Reranker

Axes = Mapping[str, tuple[str | None, ...]]

OPSET = 17
MODEL_INPUTS: Axes = {
    "token_ids": ("B", "T"),
    "token_mask": ("B", "T"),
    "head_tokens": ("B", "H", "L"),
    "head_mask": ("B", "H", "L"),
    "tail_tokens": ("B", "K", "L"),
    "tail_mask": ("B", "K", "L"),
}
MODEL_OUTPUTS: Axes = {"affinities": ("B", "H", None, "K"), "ner": ("B", "T", None)}
FEATURE_INPUTS: Axes = {"features": ("P", None)}
FEATURE_OUTPUTS: Axes = {"scores": ("P", None)}
LEXICAL_INPUTS: Axes = {"lexical_features": ("P", "L"), "lexical_mask": ("P", "L"), "features": ("P", None)}
LEXICAL_OUTPUTS: Axes = {"scores": ("P", None)}

_INSTRUCTIONS = (
    "token_ids are those of tokenizer.json, padded with 0; a mask is true where a value is real",
    "a span is one mention (span_pooling: mentions; its token vectors are averaged) or one token of a mention "
    "(span_pooling: tokens); head_tokens and tail_tokens hold the positions of each span's tokens; T and L are at "
    "least 1",
    "score of a pair and relation: log-sum-exp of the affinities over all pairs of a head span and a tail span, plus "
    "the pair's row of pair_features.onnx where that file exists",
    "relations are numbered from 1 in the order of labels.json, 0 is NULL; leave out relations whose argument types do "
    "not match the pair; the softmax over the others gives probabilities, and thresholds.json holds the least "
    "probability of a prediction",
    "texts with more tokens than positions: the graph reads them at once and uses one fixed vector beyond the last "
    "position; biorel itself reads such a text in windows of that size and gets other scores",
)
_RERANKER_INSTRUCTIONS = (
    "this network has a reranker: apply the softmax to the final score z, not to the score above (s)",
    "lexical features of a pair: the words between and around its mentions as short strings "
    "(biorel/dataset/lexical_features.py lists them); the number of a feature is the CRC-32 of its UTF-8 bytes modulo "
    "`buckets`; a pair has each number once; lexical_features.onnx takes them padded with 0, and lexical_mask marks "
    "the real ones",
    "c of a pair and relation: the scores of lexical_features.onnx, where column r - 1 is relation r; there L is at "
    "least 1",
    "mixed score: m = mix[0] + mix[1] * c + mix[2] * (s of the relation - s of NULL); from here on, m is at least "
    "`lowest`",
    "competing pairs: the other pairs of the document whose argument types match the relation; all pairs of the "
    "document must be scored",
    "seven numbers for a pair and relation: m; then two each for the competing pairs with its tail, for those with its "
    "head and for all of them: the largest m among them (`lowest` where there are none), and log(1 + the sum of "
    "exp(min(m, -`lowest`)) over them)",
    "z = the sum of competing_weights times these seven numbers + competing_bias; z of NULL is 0",
)


class ScoringGraph(nn.Module):
    """A network from tokens and spans to affinities and BIO scores, in one pass over all tokens."""

    def __init__(self, model: Bran) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        token_ids: Tensor,
        token_mask: Tensor,
        head_tokens: Tensor,
        head_mask: Tensor,
        tail_tokens: Tensor,
        tail_mask: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """[B, T] twice, [B, H, L] twice, [B, K, L] twice -> [B, H, R, K] and [B, T, C]."""
        # not `model.encode`, as the trace would fix its number of windows at that of the sample
        tokens = self.model.encoder(self.model.embedding(token_ids), token_mask)
        affinities = self.model.affinities(tokens, head_tokens, head_mask, tail_tokens, tail_mask)
        return affinities, self.model.ner(tokens)


class LexicalGraph(nn.Module):
    """The linear model of a reranker, with the lexical features in padded rows instead of one flat list."""

    def __init__(self, reranker: Reranker) -> None:
        super().__init__()
        self.reranker = reranker

    def forward(self, lexical_features: Tensor, lexical_mask: Tensor, features: Tensor) -> Tensor:
        """[P, L] twice and [P, F] -> [P, R - 1], without NULL."""
        weights = self.reranker.lexical_weights[lexical_features] * lexical_mask[..., None]  # [P, L, R - 1]
        return weights.sum(1) + features @ self.reranker.feature_weights + self.reranker.bias


def export_onnx(model: Network, folder: Path) -> None:
    """Write the graphs of a network, and onnx.json, into an existing folder. The network does not change.

    Raises:
        ConfigError: the package onnx is not installed.
        ModelError: the network is an ensemble, whose mean of probabilities is computed outside of the graphs; or it has
            a BERT, knowledge or another task than relations.
    """
    if isinstance(model, Ensemble):
        raise ModelError("an ensemble cannot be exported to ONNX", "export its members and average their probabilities")
    if model.bert is not None or model.config.uses_graph or model.triage is not None:
        raise ModelError(
            "this model cannot be exported to ONNX: only relation models without BERT and without a graph can",
            "run this model with biorel",
        )
    try:
        import onnx  # noqa: F401 - torch needs it only after tracing the network
    except ImportError as error:
        raise ConfigError("ONNX export needs the package onnx", "pip install 'biorel[export]'") from error
    # a copy, as the exporter leaves a network in training mode
    traced = copy.deepcopy(model).cpu().eval()
    graphs = [folder / "model.onnx"]
    _trace(ScoringGraph(traced).eval(), _sample(), graphs[0], MODEL_INPUTS, MODEL_OUTPUTS)
    if traced.pair_features is not None:
        graphs.append(folder / "pair_features.onnx")
        features = torch.zeros(3, model.config.pair_features)
        _trace(traced.pair_features, (features,), graphs[-1], FEATURE_INPUTS, FEATURE_OUTPUTS)
    if traced.reranker is not None:
        graphs.append(folder / "lexical_features.onnx")
        sample = (
            torch.zeros(3, 2, dtype=torch.int64),
            torch.ones(3, 2, dtype=torch.bool),
            torch.zeros(3, model.config.pair_features),
        )
        _trace(LexicalGraph(traced.reranker).eval(), sample, graphs[-1], LEXICAL_INPUTS, LEXICAL_OUTPUTS)
    content = {
        "opset": OPSET,
        "positions": model.config.positions,
        "span_pooling": model.config.span_pooling,
        "instructions": _INSTRUCTIONS if traced.reranker is None else (*_INSTRUCTIONS, *_RERANKER_INSTRUCTIONS),
        **({} if traced.reranker is None else {"reranker": _reranker_constants(traced.reranker)}),
        "graphs": {path.name: _signature(path) for path in graphs},
    }
    (folder / "onnx.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _reranker_constants(reranker: Reranker) -> dict[str, Any]:
    """The parts of a reranker outside of the graphs, under the names in the instructions."""
    return {
        "buckets": len(reranker.lexical_weights),
        "lowest": LOWEST,
        "mix": reranker.mix.tolist(),
        "competing_weights": reranker.competing_weights.tolist(),
        "competing_bias": reranker.competing_bias.item(),
    }


def _sample() -> tuple[Tensor, ...]:
    """Inputs to trace with: B 2, T 5, H 3, K 4, L 2. All these axes stay dynamic in the graph."""
    return (
        torch.zeros(2, 5, dtype=torch.int64),
        torch.ones(2, 5, dtype=torch.bool),
        torch.zeros(2, 3, 2, dtype=torch.int64),
        torch.ones(2, 3, 2, dtype=torch.bool),
        torch.zeros(2, 4, 2, dtype=torch.int64),
        torch.ones(2, 4, 2, dtype=torch.bool),
    )


def _trace(graph: nn.Module, sample: tuple[Tensor, ...], path: Path, inputs: Axes, outputs: Axes) -> None:
    with warnings.catch_warnings():
        # says that this exporter is the older one; warnings of the tracer have another class and stay visible
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            graph,
            sample,
            str(path),
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes={
                name: {index: axis for index, axis in enumerate(axes) if axis}
                for name, axes in {**inputs, **outputs}.items()
            },
            opset_version=OPSET,
            dynamo=False,
        )


def _signature(path: Path) -> dict[str, Any]:
    """The inputs and outputs in a graph's file, which leaves out an input that the network never reads."""
    import onnx

    graph = onnx.load(path)
    onnx.checker.check_model(graph)
    return {"inputs": _values(graph.graph.input), "outputs": _values(graph.graph.output)}


def _values(values: Any) -> list[dict[str, Any]]:
    import onnx

    return [
        {
            "name": value.name,
            "type": onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type).name,
            "shape": [axis.dim_param or axis.dim_value for axis in value.type.tensor_type.shape.dim],
        }
        for value in values
    ]

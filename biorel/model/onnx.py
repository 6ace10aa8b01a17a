"""A network as ONNX graphs, to be run without torch.

    model.onnx          tokens and units -> affinities [B, H, R, K], ner [B, T, C]
    pair_features.onnx  features [P, F] -> scores [P, R]; only of a network that reads pair features
    cues.onnx           cues [P, C], their mask, features [P, F] -> scores [P, R - 1]; only with a reranker
    onnx.json           names, types and axes of what goes in and comes out, and how relations are read off

Graphs are traced by torch's TorchScript exporter: the newer one needs onnxscript as well.
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
CUE_INPUTS: Axes = {"cues": ("P", "C"), "cue_mask": ("P", "C"), "features": ("P", None)}
CUE_OUTPUTS: Axes = {"scores": ("P", None)}

_READING = (
    "token_ids are those of tokenizer.json, padded with 0; a mask is true where something is real",
    "a unit is one mention (units: mentions; its tokens are averaged) or one token of a mention (units: tokens); "
    "head_tokens and tail_tokens hold the positions of each unit's tokens; T and L are at least 1",
    "score of a pair and relation: log-sum-exp of the affinities over all its head and tail units, plus the pair's "
    "row of pair_features.onnx where there is one",
    "relations are numbered from 1 in the order of labels.json, 0 is NULL; a relation whose argument types the pair "
    "has not is left out; softmax over the rest gives probabilities, thresholds.json says from which one it holds",
    "more tokens than positions: all are read at once, and those beyond get one fixed vector; biorel itself reads "
    "such a text in windows of that size, and scores it differently",
)
_RERANKING = (
    "this network has a reranker: what the softmax is over is not the score above (s) but the final score z",
    "cues of a pair: the words between and beside its mentions as short strings (biorel/dataset/cues.py lists them); "
    "the number of a cue is the CRC-32 of its UTF-8 bytes modulo `buckets`; a pair has each number once, and cues.onnx "
    "takes them padded with 0, cue_mask telling which are real",
    "c of a pair and relation: the scores of cues.onnx, whose column r - 1 is relation r; C is at least 1",
    "mixed score: m = mix[0] + mix[1] * c + mix[2] * (s of the relation - s of NULL), never less than `lowest` in what "
    "follows",
    "rivals: the other pairs of the document whose argument types the relation has; read are all pairs of a document",
    "seven numbers of a pair and relation: m; then for the rivals with its tail, for those with its head and for all, "
    "two each: the largest m among them (`lowest` where there are none), and log(1 + the sum of exp(min(m, -`lowest`)) "
    "over them)",
    "z = the sum of rival_weights times these seven + rival_bias; z of NULL is 0",
)


class ScoringGraph(nn.Module):
    """A network from tokens and units to affinities and BIO scores, in one pass over all tokens."""

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
        # not `model.encode`: the number of its windows would be frozen at that of the traced text
        tokens = self.model.encoder(self.model.embedding(token_ids), token_mask)
        affinities = self.model.affinities(tokens, head_tokens, head_mask, tail_tokens, tail_mask)
        return affinities, self.model.ner(tokens)


class CueGraph(nn.Module):
    """The linear model of a reranker, its cues in padded rows instead of one long list."""

    def __init__(self, reranker: Reranker) -> None:
        super().__init__()
        self.reranker = reranker

    def forward(self, cues: Tensor, cue_mask: Tensor, features: Tensor) -> Tensor:
        """[P, C] twice and [P, F] -> [P, R - 1], NULL left out."""
        weights = self.reranker.cue_weights[cues] * cue_mask[..., None]  # [P, C, R - 1]
        return weights.sum(1) + features @ self.reranker.feature_weights + self.reranker.bias


def export_onnx(model: Network, folder: Path) -> None:
    """Write the graphs of a network, and onnx.json, into an existing folder; the network is left as it is.

    Raises:
        ConfigError: the package onnx is not installed.
        ModelError: the network is an ensemble: the mean is of probabilities, which are read off outside of the graph.
    """
    if isinstance(model, Ensemble):
        raise ModelError("an ensemble has no ONNX form", "export its members, and take the mean of their probabilities")
    if model.bert is not None or model.sizes.reads_graph or model.triage is not None:
        raise ModelError(
            "only relations read by BRAN's own blocks without a graph have an ONNX form", "run this model with biorel"
        )
    try:
        import onnx  # noqa: F401 - torch finds out only after it has traced the network
    except ImportError as error:
        raise ConfigError("ONNX export needs the package onnx", "pip install 'biorel[export]'") from error
    # a copy, as the exporter leaves a network in training mode
    still = copy.deepcopy(model).cpu().eval()
    graphs = [folder / "model.onnx"]
    _trace(ScoringGraph(still).eval(), _sample(), graphs[0], MODEL_INPUTS, MODEL_OUTPUTS)
    if still.features is not None:
        graphs.append(folder / "pair_features.onnx")
        features = torch.zeros(3, model.sizes.pair_features)
        _trace(still.features, (features,), graphs[-1], FEATURE_INPUTS, FEATURE_OUTPUTS)
    if still.reranker is not None:
        graphs.append(folder / "cues.onnx")
        sample = (
            torch.zeros(3, 2, dtype=torch.int64),
            torch.ones(3, 2, dtype=torch.bool),
            torch.zeros(3, model.sizes.pair_features),
        )
        _trace(CueGraph(still.reranker).eval(), sample, graphs[-1], CUE_INPUTS, CUE_OUTPUTS)
    content = {
        "opset": OPSET,
        "positions": model.sizes.positions,
        "units": model.sizes.units,
        "reading": _READING if still.reranker is None else (*_READING, *_RERANKING),
        **({} if still.reranker is None else {"reranker": _numbers(still.reranker)}),
        "graphs": {path.name: _described(path) for path in graphs},
    }
    (folder / "onnx.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _numbers(reranker: Reranker) -> dict[str, Any]:
    """What of a reranker is no graph, under the names that the reading uses."""
    return {
        "buckets": len(reranker.cue_weights),
        "lowest": LOWEST,
        "mix": reranker.mix.tolist(),
        "rival_weights": reranker.rival_weights.tolist(),
        "rival_bias": reranker.rival_bias.item(),
    }


def _sample() -> tuple[Tensor, ...]:
    """Inputs to trace with: B 2, T 5, H 3, K 4, L 2; every axis is left open all the same."""
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
        # that this exporter is the older one; a tracer's warning is of another kind and is still told
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            graph,
            sample,
            str(path),
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes={
                name: {place: axis for place, axis in enumerate(axes) if axis}
                for name, axes in {**inputs, **outputs}.items()
            },
            opset_version=OPSET,
            dynamo=False,
        )


def _described(path: Path) -> dict[str, Any]:
    """What a graph takes and gives, as the file says it: an input that a network never reads is not in it."""
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

"""Save and open model folders: a trained network with all that is needed to read texts as in training.

model.safetensors  weights                   labels.json      relations and BIO labels
config.json        the network's options     thresholds.json  of the relations, tuned on dev
tokenizer.json                               metrics.json, README.md
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from biorel.artifacts import read_json_object, write_json
from biorel.dataset.featurize import Featurizer
from biorel.dataset.labels import LABELS, labels_from_json, labels_to_json
from biorel.dataset.lexical_features import BUCKETS
from biorel.dataset.pair_features import FEATURES
from biorel.dataset.relation_schema import RelationSchema
from biorel.errors import ModelError
from biorel.knowledge.support import GRAPH_FEATURES
from biorel.model.checkpoint import load_weights, network_from_dict, network_to_dict, save_weights
from biorel.model.ensemble import Ensemble, Network
from biorel.text.tokenizer import load_tokenizer, save_tokenizer
from biorel.training.collate import Collator


@dataclass(frozen=True)
class ModelFolder:
    """A network with its tokenizer, labels and thresholds."""

    model: Network
    tokenizer: Tokenizer
    schema: RelationSchema
    ner_labels: tuple[str, ...]
    thresholds: Mapping[str, float]

    @property
    def encoder(self) -> Featurizer:
        """The featurizer that turns documents into examples in the model's vocabulary."""
        return Featurizer(self.tokenizer, self.schema.labels, self.ner_labels)

    @property
    def tuned_on(self) -> str:
        """Where the thresholds come from, for a report."""
        if isinstance(self.model, Ensemble):
            return "the mean of the members', each tuned on the dev documents of its own training"
        return "tuned on the dev documents of training"

    @property
    def collator(self) -> Collator:
        """The collator that turns examples into batches for the network."""
        config = self.model.config
        types = tuple((relation.head, relation.tail) for relation in self.schema.relations)
        return Collator(config.span_pooling, types, config.pair_features)


def save_model(folder: Path, saved: ModelFolder, metrics: Mapping[str, Any], card: str) -> None:
    """Write all the files of a model folder into an existing folder.

    Args:
        metrics: the content of metrics.json.
        card: the content of README.md.
    """
    save_weights(saved.model, folder / "model.safetensors")
    write_json(folder / "config.json", network_to_dict(saved.model))
    save_tokenizer(saved.tokenizer, folder / "tokenizer.json")
    write_json(folder / LABELS, labels_to_json(saved.schema, saved.ner_labels))
    write_json(folder / "thresholds.json", dict(saved.thresholds))
    write_json(folder / "metrics.json", metrics)
    (folder / "README.md").write_text(card, encoding="utf-8")


def open_model(folder: Path) -> ModelFolder:
    """Read a model folder; the network is on the CPU, in evaluation mode.

    Raises:
        ModelError: the folder or one of its files is missing, unreadable, or the files do not match each other.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder}: no such model folder", "train one with biorel train, or leave out --model")
    schema, ner = labels_from_json(read_json_object(folder / LABELS), folder / LABELS)
    model = network_from_dict(read_json_object(folder / "config.json"))
    config = model.config
    thresholds = read_json_object(folder / "thresholds.json")
    if set(thresholds) != set(schema.labels):
        raise ModelError(f"{folder}: thresholds.json and labels.json list different relations")
    if (config.relations, config.ner_labels) != (len(schema.labels) + 1, len(ner)):
        raise ModelError(f"{folder}: labels.json does not match config.json", "both must come from one training run")
    tokenizer = load_tokenizer(folder / "tokenizer.json")
    if tokenizer.get_vocab_size() != config.vocabulary:
        raise ModelError(f"{folder}: tokenizer.json does not match config.json", "both must come from one training run")
    features = pair_feature_count(graph_features=config.graph_features)
    if config.pair_features not in (0, features) or config.lexical_features not in (0, BUCKETS):
        raise ModelError(
            f"{folder}: the network reads {config.pair_features} pair features and {config.lexical_features} buckets "
            f"of lexical features; this version of biorel makes {features} and {BUCKETS}",
            "train the model again with this version of biorel",
        )
    load_weights(model, folder / "model.safetensors")
    return ModelFolder(model, tokenizer, schema, ner, thresholds)


def pair_feature_count(*, graph_features: bool) -> int:
    """F: the number of features of a pair, with or without those of a knowledge graph."""
    return len(FEATURES) + (len(GRAPH_FEATURES) if graph_features else 0)


def option_lines(options: Mapping[str, Any]) -> list[str]:
    """The options of a training as lines of a README.

    Args:
        options: those whose values are not the defaults.
    """
    return ["Options other than the defaults:", "", *(f"- `{name}`: {value}" for name, value in options.items())]

"""A model folder: all that is needed to read a text as the network was trained to.

model.safetensors  weights          tokenizer.json              thresholds.json  tuned on dev
config.json        sizes            labels.json     relations, BIO labels       metrics.json, README.md
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
        return Featurizer(self.tokenizer, self.schema.labels, self.ner_labels)

    @property
    def tuned_on(self) -> str:
        """Where the thresholds come from, in words."""
        if isinstance(self.model, Ensemble):
            return "the mean of the members', each tuned on the dev documents of its own training"
        return "tuned on the dev documents of training"

    @property
    def collator(self) -> Collator:
        sizes = self.model.config
        types = tuple((relation.head, relation.tail) for relation in self.schema.relations)
        return Collator(sizes.span_pooling, types, sizes.pair_features)


def save_model(folder: Path, saved: ModelFolder, metrics: Mapping[str, Any], card: str) -> None:
    """Write all the files of a model folder into an existing folder."""
    save_weights(saved.model, folder / "model.safetensors")
    write_json(folder / "config.json", network_to_dict(saved.model))
    save_tokenizer(saved.tokenizer, folder / "tokenizer.json")
    write_json(folder / LABELS, labels_to_json(saved.schema, saved.ner_labels))
    write_json(folder / "thresholds.json", dict(saved.thresholds))
    write_json(folder / "metrics.json", metrics)
    (folder / "README.md").write_text(card, encoding="utf-8")


def open_model(folder: Path) -> ModelFolder:
    """Read a model folder; the network is on the CPU in evaluation mode.

    Raises:
        ModelError: the folder or one of its files is missing, unreadable or does not fit the others.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder}: no such model folder", "train one with biorel train, or leave --model out")
    schema, ner = labels_from_json(read_json_object(folder / LABELS), folder / LABELS)
    model = network_from_dict(read_json_object(folder / "config.json"))
    sizes = model.config
    thresholds = read_json_object(folder / "thresholds.json")
    if set(thresholds) != set(schema.labels):
        raise ModelError(f"{folder / 'thresholds.json'}: its relations are not those of labels.json")
    if (sizes.relations, sizes.ner_labels) != (len(schema.labels) + 1, len(ner)):
        raise ModelError(f"{folder}: labels.json does not fit config.json", "both must come from one training run")
    tokenizer = load_tokenizer(folder / "tokenizer.json")
    if tokenizer.get_vocab_size() != sizes.vocabulary:
        raise ModelError(f"{folder}: tokenizer.json does not fit config.json", "both must come from one training run")
    features = len(FEATURES) + (len(GRAPH_FEATURES) if sizes.graph_features else 0)
    if sizes.pair_features not in (0, features) or sizes.lexical_features not in (0, BUCKETS):
        raise ModelError(
            f"{folder}: reads {sizes.pair_features} features of a pair and {sizes.lexical_features} buckets of cues, "
            f"where biorel now makes {features} and {BUCKETS}",
            "train it anew with this version of biorel",
        )
    load_weights(model, folder / "model.safetensors")
    return ModelFolder(model, tokenizer, schema, ner, thresholds)

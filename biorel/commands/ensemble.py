"""ensemble: several model folders -> one model folder that predicts the mean of their probabilities."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.ensemble import Ensemble
from biorel.counts import Reason
from biorel.errors import ModelError
from biorel.model.bran import Bran
from biorel.model.ensemble import Ensemble as EnsembleNetwork
from biorel.model.ensemble import differing_fields
from biorel.progress import SILENT, Progress
from biorel.training.model_folder import ModelFolder, open_model, save_model

_METRICS = "metrics.json"


def run(config: Ensemble, progress: Progress = SILENT) -> Artifact:
    """Write the model folder `config.out` with the weights of all members.

    Each threshold is the mean of the members' thresholds, which were tuned on the dev documents of each member. If the
    members drew their dev documents by seed, no document is a dev document of all members.

    Raises:
        ModelError: a folder cannot be read or is an ensemble, or a member differs from the first member in its
            vocabulary, relations or inputs.
        OutputError: the output exists or cannot be written.
    """
    members = [open_model(path) for path in config.model]
    networks, first = _networks(config.model, members), members[0]
    thresholds = {label: fmean(member.thresholds[label] for member in members) for label in first.schema.labels}
    ensemble = ModelFolder(EnsembleNetwork(networks), first.tokenizer, first.schema, first.ner_labels, thresholds)
    metrics = {"members": [_metrics(path) for path in config.model]}
    with artifacts.folder("ensemble", config.options(), config.out, force=config.force) as output:
        save_model(output.path, ensemble, metrics, _card(config.model, metrics["members"], thresholds))
        output.counts.add(Reason.ENSEMBLE_MEMBERS, count=len(members))
    return Artifact(label="model", path=config.out, summary=[f"the mean of {len(members)} models"])


def _networks(paths: Sequence[Path], members: Sequence[ModelFolder]) -> list[Bran]:
    """The networks of the members.

    Raises:
        ModelError: a member is an ensemble, or its inputs or outputs differ from those of the first.
    """
    first, first_path = members[0], paths[0]
    hint = "train all members on one dataset, with the same --span-pooling, --positions, --pair-features and --rerank"
    networks = []
    for path, member in zip(paths, members, strict=True):
        if not isinstance(member.model, Bran):
            raise ModelError(f"{path}: is itself an ensemble", "give the members of this ensemble instead")
        if member.tokenizer.to_str() != first.tokenizer.to_str():
            raise ModelError(f"{path} has another vocabulary than {first_path}", hint)
        if (member.schema.relations, member.ner_labels) != (first.schema.relations, first.ner_labels):
            raise ModelError(f"{path} has other relations or entity types than {first_path}", hint)
        if fields := differing_fields(member.model.config, first.model.config):
            raise ModelError(f"{path} and {first_path} differ in {', '.join(fields)}", hint)
        networks.append(member.model)
    return networks


def _metrics(path: Path) -> dict[str, Any]:
    """The content of a member's metrics.json; empty if the folder has no such file.

    Raises:
        ModelError: the file is not JSON.
    """
    file = path / _METRICS
    if not file.is_file():
        return {}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{file}: not JSON ({error})") from error
    return dict(content)


def _card(paths: Sequence[Path], metrics: Sequence[Mapping[str, Any]], thresholds: Mapping[str, float]) -> str:
    """The README of the ensemble's folder. It names the members and the origin of the thresholds."""
    lines = [
        "# An ensemble of BRAN relation models, joined by biorel",
        "",
        f"It predicts the mean probabilities of {len(paths)} networks, evidence by their mean mention pair scores.",
        "",
        "A threshold is the mean of the members' thresholds, each tuned on the dev documents of its member; nothing "
        "was tuned on the ensemble.",
        "",
        *(f"- `{label}`: {threshold:.3f}" for label, threshold in thresholds.items()),
        "",
        "Members:",
        "",
    ]
    for path, values in zip(paths, metrics, strict=True):
        dev = f", dev micro F1 {100 * values['dev_f1']:.1f}" if "dev_f1" in values else ""
        seed = f", seed {values['seed']}" if "seed" in values else ""
        lines.append(f"- `{path}`{seed}{dev}")
    return "\n".join(lines) + "\n"

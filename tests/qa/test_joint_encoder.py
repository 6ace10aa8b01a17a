"""The joint encoder gives each pair of question and passage the output that it has alone."""

from __future__ import annotations

import pytest
import torch

from biorel.model.bert import read_config, read_width
from biorel.qa.batches import QuestionBatch
from biorel.qa.features import FEATURES
from biorel.qa.joint_encoder import JointEncoder, longest_passage
from biorel.qa.reader import Reader
from biorel.qa.reader_config import ReaderConfig
from tests.bert import tiny_bert

CLS, SEP = 2, 3
# question and passage of each row
PAIRS = (([7, 8, 9], [10, 11, 12, 13]), ([14], [15, 16]), ([17, 18, 19, 20], [21]))


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    bert = read_config(str(tiny_bert(tmp_path_factory.mktemp("bert"))))
    return ReaderConfig(
        vocabulary=50, encoder="bert", bert=bert, cls_id=CLS, sep_id=SEP, unk_id=1, width=8, head="matrix"
    )


def padded(rows):
    length = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (length - len(row))] for row in rows])
    return ids, torch.arange(length)[None] < torch.tensor([[len(row)] for row in rows])


def batch(*pairs):
    questions, passages = zip(*pairs, strict=True)
    token_ids, token_mask = padded(passages)
    return QuestionBatch(*padded(questions), token_ids, token_mask, torch.zeros(*token_ids.shape, FEATURES))


def test_question_and_passage_are_encoded_without_a_gap(config):
    torch.manual_seed(0)
    joint = JointEncoder(config).eval()
    tokens, questions = joint(batch(*PAIRS))
    for row, (question, passage) in enumerate(PAIRS):
        ids = torch.tensor([[CLS, *question, SEP, *passage, SEP]])
        hidden = joint.bert.model(input_ids=ids).last_hidden_state[0]
        first = len(question) + 2
        expected = joint.mix(hidden[first : first + len(passage)], torch.zeros(len(passage), FEATURES))
        torch.testing.assert_close(tokens[row, : len(passage)], expected, atol=1e-5, rtol=0)
        own = joint.question(hidden[1 : 1 + len(question)])[None]
        pooled = joint.question_pooling(own, torch.ones(1, len(question), dtype=torch.bool))[0]
        torch.testing.assert_close(questions[row], pooled, atol=1e-5, rtol=0)


def test_a_question_too_long_for_the_positions_is_truncated(config):
    longest = longest_passage(config.bert)
    joint = JointEncoder(config).eval()
    tokens, _ = joint(batch(([7] * 100, [8] * longest)))
    assert tokens.shape == (1, longest, 8)
    cut, _ = joint(batch(([7] * joint.most_tokens, [8] * longest)))
    torch.testing.assert_close(tokens, cut)


def test_a_gradient_reaches_every_parameter_of_the_encoder(config):
    reader = Reader(config)
    encoded = reader.encode(batch(*PAIRS))
    (encoded.tokens.square().sum() + encoded.question.sum()).backward()
    without = [name for name, parameter in reader.encoder.named_parameters() if parameter.grad is None]
    assert without == []
    assert reader.encoder.mix.linear.weight.shape == (8, read_width(config.bert) + FEATURES)

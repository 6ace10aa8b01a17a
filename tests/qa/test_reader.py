"""The whole reader: every head with every encoder learns; batches and windows do not change the result."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from biorel.qa.batches import collate, collate_targets
from biorel.qa.decoding import Decoding, best_span
from biorel.qa.features import SINGLE_PASSAGE
from biorel.qa.heads import HEADS
from biorel.qa.passages import PassageWindower
from biorel.qa.prediction import predict
from biorel.qa.reader import ENCODERS, Reader
from biorel.qa.reader_config import ReaderConfig
from biorel.records import AnswerSpan, Question
from biorel.text.tokenizer import learn_bpe

TEXTS = ("Lithium caused tremor.", "The rash came after aspirin, and it itched for a whole week.", "Nothing.")
TOKENIZER = learn_bpe(TEXTS, 120)


def question(text, *answers):
    spans = tuple(AnswerSpan(text.index(answer), text.index(answer) + len(answer), answer, "") for answer in answers)
    return Question("q", "1", "What did lithium cause?", "", "", "", "", spans, ())


def passages(window=500):
    windower = PassageWindower(TOKENIZER, window)
    questions = [question(TEXTS[0], "tremor"), question(TEXTS[1], "aspirin", "rash"), question(TEXTS[2])]
    return [
        passage
        for number, (asked, text) in enumerate(zip(questions, TEXTS, strict=True))
        for passage in windower.passages(number, asked, text, SINGLE_PASSAGE)
    ]


def reader(head="labels", encoder="dgcnn", **changes):
    torch.manual_seed(0)
    small = {"width": 8, "embedding": 6, "positions": 4, "dilations": (1, 2), "heads": 2, "sample": 4, "blocks": 1}
    return Reader(ReaderConfig(vocabulary=TOKENIZER.get_vocab_size(), head=head, encoder=encoder, **(small | changes)))


def spans_of(candidates):
    return list(zip(candidates.starts.tolist(), candidates.ends.tolist(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("encoder", sorted({*ENCODERS} - {"bert"}))  # tested in test_joint_encoder
@pytest.mark.parametrize("head", HEADS)
def test_every_head_with_every_encoder_learns_three_questions(head, encoder):
    model, examples = reader(head, encoder, dropout=0.0, word_dropout=0.0, sample=20), passages()
    batch, random = collate(examples), np.random.default_rng(0)
    no_answer_token = model.head.has_no_answer_token
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(250):
        loss = model.loss(batch, collate_targets(examples, no_answer_token=no_answer_token, random=random))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert all(parameter.grad is not None for parameter in model.parameters())
    predicted = predict([model], examples, 3, token_budget=1000, device=torch.device("cpu"))
    best = [best_span(candidates, Decoding(longest=1000)) for candidates in predicted]
    answers = [text[span.start : span.end] for text, span in zip(TEXTS, best, strict=True)]
    scores = [span.score for span in best]
    assert answers[0] == "tremor"
    # with one p_e for all starts, the start of one answer and the end of the other can make a span
    crossed = {"rash came after aspirin"} if head in ("independent", "vector") else set()
    assert answers[1] in {"aspirin", "rash"} | crossed
    assert scores[2] < 0.1 < min(scores[:2])


@pytest.mark.parametrize("head", HEADS)
def test_a_passage_has_the_same_candidates_alone_and_in_a_batch(head):
    model, examples = reader(head).eval(), passages()
    cpu = torch.device("cpu")
    together = predict([model], examples, 3, token_budget=1000, device=cpu)
    alone = predict([model], examples, 3, token_budget=1, device=cpu)
    for both in zip(together, alone, strict=True):
        batched, single = (dict(zip(spans_of(found), found.anchor * found.partner, strict=True)) for found in both)
        shared = set(batched) & set(single)
        assert len(shared) > 0.9 * len(batched)
        assert all(batched[span] == pytest.approx(single[span], abs=1e-6) for span in shared)


def test_dropout_and_noise_apply_only_in_training():
    model, batch = reader(), collate(passages())
    model.eval()
    first, second = (model.encode(batch).tokens for _ in range(2))
    torch.testing.assert_close(first, second)
    model.train()
    assert not torch.equal(model.encode(batch).tokens, model.encode(batch).tokens)


def test_windows_cover_a_long_text_and_every_answer():
    text = " ".join(["Nothing came."] * 40) + " Lithium caused tremor."
    (whole,) = PassageWindower(TOKENIZER, 10_000).passages(0, question(text, "tremor"), text, SINGLE_PASSAGE)
    windows = list(PassageWindower(TOKENIZER, 20).passages(0, question(text, "tremor"), text, SINGLE_PASSAGE))
    assert max(len(window.token_ids) for window in windows) <= 20
    assert {place for window in windows for place in window.starts} == set(whole.starts)
    spans = {(window.starts[first], window.ends[last]) for window in windows for first, last in window.answers}
    assert [text[start:end] for start, end in spans] == ["tremor"]
    (candidates,) = predict([reader()], windows, 1, token_budget=64, device=torch.device("cpu"))
    assert len(set(spans_of(candidates))) == len(candidates.starts)


def test_an_empty_text_has_no_passage_and_no_candidate():
    assert list(PassageWindower(TOKENIZER, 20).passages(0, question(" "), " ", SINGLE_PASSAGE)) == []
    (candidates,) = predict([reader()], [], 1, token_budget=64, device=torch.device("cpu"))
    assert len(candidates.starts) == 0


def test_targets_label_all_answers_and_draw_one():
    examples = passages()
    drawn = {
        tuple(collate_targets(examples, no_answer_token=True, random=np.random.default_rng(seed)).starts.tolist())
        for seed in range(9)
    }
    assert len(drawn) == 2
    assert {starts[2] for starts in drawn} == {0}
    labels = collate_targets(examples, no_answer_token=False, random=np.random.default_rng(0))
    assert labels.start_labels.sum(1).tolist() == labels.end_labels.sum(1).tolist() == [1, 2, 0]

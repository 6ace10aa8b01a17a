"""The whole reader: every head over every encoder learns, reads alike alone and in a batch, long texts in windows."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from biorel.qa.batches import collate, targets
from biorel.qa.features import ALONE
from biorel.qa.network import ENCODERS, HEADS, Reader
from biorel.qa.passages import PassageWindower
from biorel.qa.prediction import predict
from biorel.qa.sizes import ReaderConfig
from biorel.records import AnswerSpan, Question
from biorel.text.tokenizer import learn_bpe

TEXTS = ("Lithium caused tremor.", "The rash came after aspirin, and it itched for a whole week.", "Nothing.")
TOKENIZER = learn_bpe(TEXTS, 120)


def question(text, *answers):
    spans = tuple(AnswerSpan(text.index(answer), text.index(answer) + len(answer), answer, "") for answer in answers)
    return Question("q", "1", "What did lithium cause?", "", "", "", "", spans, ())


def passages(window=500):
    cutter = PassageWindower(TOKENIZER, window)
    asked = [question(TEXTS[0], "tremor"), question(TEXTS[1], "aspirin", "rash"), question(TEXTS[2])]
    return [
        passage
        for number, (one, text) in enumerate(zip(asked, TEXTS, strict=True))
        for passage in cutter.passages(number, one, text, ALONE)
    ]


def reader(head="labels", encoder="dgcnn", **changes):
    torch.manual_seed(0)
    sizes = {"width": 8, "embedding": 6, "positions": 4, "dilations": (1, 2), "heads": 2, "sample": 4, "blocks": 1}
    return Reader(ReaderConfig(vocabulary=TOKENIZER.get_vocab_size(), head=head, encoder=encoder, **(sizes | changes)))


def places(found):
    return list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))


@pytest.mark.parametrize("encoder", sorted({*ENCODERS} - {"bert"}))  # which test_joint reads with
@pytest.mark.parametrize("head", HEADS)
def test_every_head_over_every_encoder_learns_three_questions(head, encoder):
    model, chosen = reader(head, encoder, dropout=0.0, word_dropout=0.0, sample=20), passages()
    batch, random = collate(chosen), np.random.default_rng(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(250):
        loss = model.loss(batch, targets(chosen, null=model.head.null, random=random))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert all(parameter.grad is not None for parameter in model.parameters())
    found = predict([model], chosen, 3, token_budget=1000, device=torch.device("cpu"))
    tops = [int((one.anchor * one.partner).argmax()) for one in found]
    told = [TEXTS[number][found[number].starts[top] : found[number].ends[top]] for number, top in enumerate(tops)]
    sure = [float(found[number].anchor[top] * found[number].partner[top]) for number, top in enumerate(tops)]
    assert told[0] == "tremor"
    # one p_e for all starts cannot tell which end belongs to which of two answers
    crossed = {"rash came after aspirin"} if head in ("independent", "vector") else set()
    assert told[1] in {"aspirin", "rash"} | crossed
    assert sure[2] < 0.1 < min(sure[:2])


@pytest.mark.parametrize("head", HEADS)
def test_a_passage_is_read_alike_alone_and_in_a_batch(head):
    model, chosen = reader(head).eval(), passages()
    cpu = torch.device("cpu")
    together = predict([model], chosen, 3, token_budget=1000, device=cpu)
    alone = predict([model], chosen, 3, token_budget=1, device=cpu)
    for one, other in zip(together, alone, strict=True):
        ours, theirs = (dict(zip(places(x), x.anchor * x.partner, strict=True)) for x in (one, other))
        shared = set(ours) & set(theirs)
        assert len(shared) > 0.9 * len(ours)
        assert all(ours[span] == pytest.approx(theirs[span], abs=1e-6) for span in shared)


def test_frozen_words_dropout_and_noise_are_of_training_only():
    model, batch = reader(), collate(passages())
    model.eval()
    first, second = (model.read(batch).tokens for _ in range(2))
    torch.testing.assert_close(first, second)
    model.train()
    assert not torch.equal(model.read(batch).tokens, model.read(batch).tokens)


def test_a_long_text_is_read_in_windows_and_no_answer_is_lost():
    text = " ".join(["Nothing came."] * 40) + " Lithium caused tremor."
    (whole,) = PassageWindower(TOKENIZER, 10_000).passages(0, question(text, "tremor"), text, ALONE)
    windows = list(PassageWindower(TOKENIZER, 20).passages(0, question(text, "tremor"), text, ALONE))
    assert max(len(window.token_ids) for window in windows) <= 20
    assert {place for window in windows for place in window.starts} == set(whole.starts)
    spans = {(window.starts[first], window.ends[last]) for window in windows for first, last in window.answers}
    assert [text[start:end] for start, end in spans] == ["tremor"]
    (found,) = predict([reader()], windows, 1, token_budget=64, device=torch.device("cpu"))
    assert len(set(places(found))) == len(found.starts)


def test_a_text_without_a_token_has_no_passage_and_no_candidate():
    assert list(PassageWindower(TOKENIZER, 20).passages(0, question(" "), " ", ALONE)) == []
    (found,) = predict([reader()], [], 1, token_budget=64, device=torch.device("cpu"))
    assert len(found.starts) == 0


def test_targets_mark_all_answers_and_point_at_one():
    chosen = passages()
    drawn = {tuple(targets(chosen, null=True, random=np.random.default_rng(seed)).starts.tolist()) for seed in range(9)}
    assert len(drawn) == 2
    assert {starts[2] for starts in drawn} == {0}
    labels = targets(chosen, null=False, random=np.random.default_rng(0))
    assert labels.start_labels.sum(1).tolist() == labels.end_labels.sum(1).tolist() == [1, 2, 0]

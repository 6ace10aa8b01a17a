"""Which tokens are hidden, what replaces them, and how texts become batches."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from biorel.training.masking import can_be_masked, collate_masked, mask_text, pieces_of

PAD, UNK, VOCABULARY = 0, 1, 500


def masked(ids, *, share=0.15, seed=0):
    return mask_text(np.array(ids), share=share, vocabulary=VOCABULARY, random=np.random.default_rng(seed))


def test_80_percent_of_the_hidden_tokens_become_unk_10_another_token_and_10_stay():
    ids = np.random.default_rng(3).integers(2, VOCABULARY, size=20_000)
    text = masked(ids)
    assert len(text.places) == 3_000
    shown = text.token_ids[text.places]
    fates = Counter(np.where(shown == UNK, "unk", np.where(shown == text.targets, "same", "other")).tolist())
    assert fates["unk"] / 3_000 == pytest.approx(0.8, abs=0.03)
    assert fates["other"] / 3_000 == pytest.approx(0.1, abs=0.02)
    assert fates["same"] / 3_000 == pytest.approx(0.1, abs=0.02)
    # replacements are from the whole vocabulary, and hidden tokens from the whole text
    others = shown[(shown != UNK) & (shown != text.targets)]
    assert others.min() >= 2
    assert (others < 250).mean() == pytest.approx(0.5, abs=0.1)
    assert np.mean(text.places) == pytest.approx(10_000, rel=0.05)


@given(st.lists(st.integers(0, VOCABULARY - 1), min_size=1, max_size=60), st.floats(0.01, 0.99), st.integers(0, 99))
def test_only_known_tokens_are_hidden_and_at_least_one_of_them(ids, share, seed):
    before = np.array(ids)
    if not can_be_masked(before):
        assert max(ids) <= UNK
        return
    text = masked(ids, share=share, seed=seed)
    known = sum(token > UNK for token in ids)
    assert len(text.places) == max(1, round(share * known))
    assert sorted(set(text.places.tolist())) == text.places.tolist()
    assert text.targets.tolist() == [ids[place] for place in text.places]
    assert all(target > UNK for target in text.targets)
    unchanged = np.delete(np.arange(len(ids)), text.places)
    assert (text.token_ids[unchanged] == before[unchanged]).all()
    assert before.tolist() == ids


def test_the_same_seed_hides_the_same_tokens():
    ids = list(range(2, 300))
    assert masked(ids, seed=4).places.tolist() == masked(ids, seed=4).places.tolist()
    assert masked(ids, seed=4).places.tolist() != masked(ids, seed=5).places.tolist()


def test_a_batch_is_padded_and_its_places_index_the_flattened_texts():
    texts = [masked(range(2, 12), share=0.3), masked(range(20, 26), share=0.3), masked([77])]
    batch = collate_masked(texts).to(torch.device("cpu"))
    assert batch.token_ids.shape == batch.mask.shape == (3, 10)
    assert batch.mask.sum(1).tolist() == [10, 6, 1]
    assert (batch.token_ids[~batch.mask] == PAD).all()
    assert batch.places.tolist() == [row * 10 + place for row, text in enumerate(texts) for place in text.places]
    assert batch.mask.flatten()[batch.places].all()
    assert batch.targets.tolist() == [target for text in texts for target in text.targets]
    assert (batch.token_ids.dtype, batch.targets.dtype) == (torch.int64, torch.int64)


def test_a_long_text_is_cut_into_the_fewest_pieces_of_similar_length():
    assert [len(piece) for piece in pieces_of(np.arange(2, 25), 10)] == [8, 8, 7]
    assert np.concatenate(pieces_of(np.arange(2, 25), 10)).tolist() == list(range(2, 25))
    assert [len(piece) for piece in pieces_of(np.arange(2, 12), 10)] == [10]
    assert pieces_of(np.array([], dtype=np.int32), 10) == []
    assert pieces_of(np.array([UNK, UNK]), 10) == []
    assert [piece.tolist() for piece in pieces_of(np.array([UNK, UNK, 5, 6]), 2)] == [[5, 6]]

"""Windows tile a text exactly, fit the learned positions, and meet in the middle of their overlaps."""

from itertools import pairwise

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from biorel.model.windows import encode_in_windows, plan_windows

LENGTHS = st.integers(0, 400)
SIZES = st.integers(1, 70)


@given(LENGTHS, SIZES)
@settings(max_examples=150, deadline=None)
def test_kept_parts_tile_the_text_and_every_window_fits(length: int, size: int) -> None:
    windows = plan_windows(length, size)
    assert [token for window in windows for token in range(window.keep_start, window.keep_end)] == list(range(length))
    for window in windows:
        assert 0 <= window.start <= window.keep_start <= window.keep_end <= window.end <= length
        assert window.end - window.start <= size
    assert len({window.start for window in windows}) == len(windows)


@given(LENGTHS, SIZES)
@settings(max_examples=100, deadline=None)
def test_each_token_is_kept_from_the_window_where_it_is_nearest_to_the_middle(length: int, size: int) -> None:
    windows = plan_windows(length, size)
    for window in windows:
        for token in range(window.keep_start, window.keep_end):
            off = [abs(2 * token - (w.start + w.end - 1)) for w in windows if w.start <= token < w.end]
            assert abs(2 * token - (window.start + window.end - 1)) == min(off)


@given(LENGTHS, SIZES)
@settings(max_examples=150, deadline=None)
def test_windows_have_one_length_overlap_by_a_quarter_and_are_as_few_as_possible(length: int, size: int) -> None:
    windows = plan_windows(length, size)
    assert len({window.end - window.start for window in windows}) == 1
    assert all(one.end - other.start >= size // 4 for one, other in pairwise(windows))
    reach = size // 4 + (len(windows) - 1) * (size - size // 4)  # with one window less, at full size
    assert len(windows) == 1 or reach < length


def test_t06_windows_of_one_and_of_two_tokens() -> None:
    for size in (1, 2):
        for length in range(12):
            windows = plan_windows(length, size)
            kept = [token for window in windows for token in range(window.keep_start, window.keep_end)]
            assert kept == list(range(length))
            assert all(window.end - window.start <= size for window in windows)
    assert [(w.start, w.end) for w in plan_windows(3, 1)] == [(0, 1), (1, 2), (2, 3)]


def test_a_text_of_exactly_the_window_size_is_one_window() -> None:
    assert [(w.start, w.end, w.keep_start, w.keep_end) for w in plan_windows(8, 8)] == [(0, 8, 0, 8)]
    assert len(plan_windows(9, 8)) == 2


def _in_context(token_ids: Tensor, mask: Tensor, _: object = None) -> Tensor:
    """An encoder in which every token depends on its position and on all real tokens of its text."""
    real = token_ids.double() * mask
    places = torch.arange(token_ids.shape[1]).double()
    return torch.stack([real.cumsum(1) + places, real.sum(1, keepdim=True) * (places + 1)], dim=-1)


def _per_token(token_ids: Tensor, mask: Tensor, _: object = None) -> Tensor:
    return torch.stack([token_ids.double(), token_ids.double() ** 2], dim=-1) * mask[..., None]


def _texts(*lengths: int) -> tuple[Tensor, Tensor]:
    mask = torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]
    return torch.randint(1, 50, mask.shape, generator=torch.Generator().manual_seed(10)) * mask, mask


def test_short_texts_are_encoded_directly() -> None:
    ids, mask = _texts(7, 8, 1)
    assert torch.equal(encode_in_windows(_in_context, ids, mask, 8), _in_context(ids, mask))


@given(st.lists(st.integers(0, 40), min_size=1, max_size=4), st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_windows_do_not_affect_an_encoder_without_context(lengths: list[int], size: int) -> None:
    ids, mask = _texts(*lengths)
    assert torch.equal(encode_in_windows(_per_token, ids, mask, size)[mask], _per_token(ids, mask)[mask])


def test_windows_of_a_long_text_are_encoded_separately_and_joined() -> None:
    ids, mask = _texts(11)
    found = encode_in_windows(_in_context, ids, mask, 6)[0]
    for window in plan_windows(11, 6):
        alone = _in_context(ids[:, window.start : window.end], mask[:, window.start : window.end])[0]
        for token in range(window.keep_start, window.keep_end):
            assert torch.equal(found[token], alone[token - window.start])


def test_a_text_has_the_same_encoding_alone_and_beside_a_longer_one() -> None:
    lengths = (5, 21, 8, 13)
    ids, mask = _texts(*lengths)
    together = encode_in_windows(_in_context, ids, mask, 8)
    for row, length in enumerate(lengths):
        alone = encode_in_windows(_in_context, ids[row : row + 1, :length], mask[row : row + 1, :length], 8)
        assert torch.equal(together[row, :length], alone[0])

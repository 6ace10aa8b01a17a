"""Section 2.1: token plus position embeddings, and word dropout."""

import math

import pytest
import torch

from biorel.model.embedding import InputEmbedding

UNK = 1
WIDTH, POSITIONS = 4, 3


def _embedding(*, word_dropout: float = 0.0, dropout: float = 0.0) -> InputEmbedding:
    torch.manual_seed(0)
    return InputEmbedding(
        vocabulary=12,
        width=WIDTH,
        positions=POSITIONS,
        unk_id=UNK,
        word_dropout=word_dropout,
        dropout=dropout,
    )


def _expected(embedding: InputEmbedding, token: int, place: int) -> torch.Tensor:
    position = embedding.positions.weight[place] if place < POSITIONS else embedding.beyond[0]
    return torch.stack(
        [math.sqrt(WIDTH) * (s + p) for s, p in zip(embedding.tokens.weight[token], position, strict=True)]
    )


def test_the_sum_of_token_and_position_is_scaled_by_the_root_of_the_width() -> None:
    embedding = _embedding(word_dropout=0.9, dropout=0.9).eval()
    ids = torch.tensor([[3, 0, 7], [11, 3, 2]])
    found = embedding(ids)
    for row in range(2):
        for place in range(3):
            torch.testing.assert_close(found[row, place], _expected(embedding, int(ids[row, place]), place))


def test_positions_beyond_the_last_share_one_fixed_vector() -> None:
    embedding = _embedding().eval()
    found = embedding(torch.full((1, 9), 5))[0]
    for place in range(POSITIONS, 9):
        torch.testing.assert_close(found[place], _expected(embedding, 5, place))
    assert not torch.equal(found[POSITIONS - 1], found[POSITIONS])
    assert torch.equal(found[POSITIONS], found[8])


def test_the_fixed_vector_is_saved_but_not_learned() -> None:
    embedding = _embedding()
    assert "beyond" in embedding.state_dict()
    assert "beyond" not in dict(embedding.named_parameters())
    assert not embedding.beyond.requires_grad
    assert embedding.beyond.abs().sum() > 0


def test_word_dropout_inserts_unk_and_only_in_training() -> None:
    embedding = _embedding(word_dropout=0.3)
    ids = torch.full((200, 3), 6)
    torch.manual_seed(1)
    found = embedding.train()(ids)
    own = torch.stack([_expected(embedding, 6, place) for place in range(3)]).detach()
    unknown = torch.stack([_expected(embedding, UNK, place) for place in range(3)]).detach()
    kept = (found - own).abs().amax(-1) < 1e-6
    dropped = (found - unknown).abs().amax(-1) < 1e-6
    assert (kept ^ dropped).all()
    assert float(dropped.float().mean()) == pytest.approx(0.3, abs=0.06)  # 600 draws: 3 standard deviations
    torch.testing.assert_close(embedding.eval()(ids), own.expand(200, -1, -1))


def test_word_dropout_of_one_leaves_only_unk() -> None:
    embedding = _embedding(word_dropout=1.0).train()
    torch.testing.assert_close(embedding(torch.tensor([[3, 4, 5]])), embedding(torch.tensor([[9, 8, 7]])))


def test_the_input_ids_do_not_change() -> None:
    ids = torch.tensor([[3, 4, 5]])
    _embedding(word_dropout=1.0).train()(ids)
    assert ids.tolist() == [[3, 4, 5]]

"""BRAN, bi-affine relation attention networks (Verga, Strubell, McCallum 2018): figure 1 from left to right."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from biorel.model.batch import Batch
from biorel.model.bert import Bert
from biorel.model.branches import Branches, layout
from biorel.model.embedding import InputEmbedding
from biorel.model.heads import Biaffine, HeadTailMLP, PairFeatures
from biorel.model.pooling import average_spans, average_tokens, gather_mention_pairs, pool_mention_pairs
from biorel.model.reranker import Reranker
from biorel.model.transformer import ENCODERS
from biorel.model.windows import encode_in_windows

FORBIDDEN = -1e9


@dataclass(frozen=True, kw_only=True)
class BranConfig:
    """Everything that determines a network's parameters, its dropout, and how it reads a document.

    Attributes:
        vocabulary: number of token ids.
        relations: R, with NULL.
        ner_labels: C.
        pair_features: F; 0 for none.
        lexical_features: hash buckets of the reranker's lexical features; 0 for no reranker.
        width: D.
        blocks: B of section 2.2.
        heads: attention heads; 0 for no attention.
        kernels: widths of a block's convolutions.
        expansion: channels of the inner convolutions, as a multiple of D.
        positions: learned positions, and the size of a window.
        encoder: a key of `ENCODERS`, or `bert`; with `bert` the sizes of BRAN's own blocks are ignored.
        span_pooling: `mentions` (a span is one mention, its tokens averaged) or `tokens` (a span is one token of a
            mention, as in the paper).
        feature_width: inner width of the perceptron of pair features.
        unk_id: the token id that word dropout inserts.
        word_dropout, input_dropout, inner_dropout, final_dropout: probabilities to drop a token, and to drop values of
            the embedded tokens, within the blocks, and in the head and tail MLPs.
        branches: the largest number of knowledge branches of an entity in training; 0 for none.
        graph_features: whether the last of the pair features come from a knowledge graph.
        soft_positions, visible_matrix: see `branches.layout`.
        bert: configuration of the BERT, as JSON.
        cls_id, sep_id: token ids of the BERT's [CLS] and [SEP].
        gradient_checkpointing, mixed_precision: see `bert.Bert`.
        task: what the network was trained for: `relations`, `triage` or `ner`.
    """

    vocabulary: int
    relations: int
    ner_labels: int
    pair_features: int
    lexical_features: int = 0
    width: int = 64
    blocks: int = 2
    heads: int = 4
    kernels: tuple[int, ...] = (1, 5, 1)
    expansion: int = 4
    positions: int = 1000
    encoder: str = "transformer"
    span_pooling: str = "mentions"
    feature_width: int = 32
    unk_id: int = 1
    word_dropout: float = 0.15
    input_dropout: float = 0.3
    inner_dropout: float = 0.1
    final_dropout: float = 0.5
    branches: int = 0
    graph_features: bool = False
    soft_positions: bool = True
    visible_matrix: bool = True
    bert: str = ""
    cls_id: int = 0
    sep_id: int = 0
    gradient_checkpointing: bool = False
    mixed_precision: bool = True
    task: str = "relations"

    @property
    def uses_graph(self) -> bool:
        """Whether the network was trained with a knowledge graph."""
        return self.branches > 0 or self.graph_features


@dataclass(frozen=True)
class BranOutput:
    """The scores of a batch.

    Attributes:
        pair_scores: [P, R], of entity pairs.
        mention_pair_scores: [M, R].
        ner_scores: [B, T, C], of BIO labels.
        document_scores: [B], log-odds that a document states a relation; None unless the task is triage.
    """

    pair_scores: Tensor
    mention_pair_scores: Tensor
    ner_scores: Tensor
    document_scores: Tensor | None = None


class Bran(nn.Module):
    """Encodes a document once and scores all its entity pairs together."""

    def __init__(self, config: BranConfig) -> None:
        super().__init__()
        self.config = config
        self.bert = _bert(config) if config.encoder == "bert" else None
        if self.bert is None:
            self.embedding = InputEmbedding(
                vocabulary=config.vocabulary,
                width=config.width,
                positions=config.positions,
                unk_id=config.unk_id,
                word_dropout=config.word_dropout,
                dropout=config.input_dropout,
            )
            self.encoder = ENCODERS[config.encoder](
                width=config.width,
                blocks=config.blocks,
                heads=config.heads,
                kernels=config.kernels,
                expansion=config.expansion,
                dropout=config.inner_dropout,
            )
        self.head = HeadTailMLP(width=config.width, dropout=config.final_dropout)
        self.tail = HeadTailMLP(width=config.width, dropout=config.final_dropout)
        self.biaffine = Biaffine(width=config.width, relations=config.relations)
        self.pair_features = (
            PairFeatures(
                features=config.pair_features,
                inner=config.feature_width,
                relations=config.relations,
                dropout=config.inner_dropout,
            )
            if config.pair_features
            else None
        )
        self.reranker = (
            Reranker(
                lexical_features=config.lexical_features,
                pair_features=config.pair_features,
                relations=config.relations - 1,
            )
            if config.lexical_features
            else None
        )
        self.ner = nn.Linear(config.width, config.ner_labels)  # c_i = W^(3) b_i (section 2.5)
        self.triage = nn.Linear(config.width, 1) if config.task == "triage" else None

    def encode(self, token_ids: Tensor, mask: Tensor, branches: Branches | None = None) -> Tensor:
        """[B, T] token ids and mask -> [B, T, D], the tokens in the context of the text and its branches.

        In training, BRAN's own encoder reads a text longer than the learned positions as a whole, as in the paper. In
        evaluation, and always with a BERT, such a text is read in windows.
        """
        if self.training and self.bert is None:
            return self._encode(token_ids, mask, branches)
        return encode_in_windows(self._encode, token_ids, mask, self.config.positions, branches)

    def _encode(self, token_ids: Tensor, mask: Tensor, branches: Branches | None = None) -> Tensor:
        soft, restricted = self.config.soft_positions, self.config.visible_matrix
        encoded: Tensor
        if self.bert is not None:
            encoded = self.bert(token_ids, mask, branches, soft=soft, restricted=restricted)
            return encoded
        if branches is None:
            encoded = self.encoder(self.embedding(token_ids), mask)
            return encoded
        with_branches = layout(mask, branches, soft=soft, restricted=restricted)
        embedded = self.embedding(with_branches.tokens(token_ids, branches), with_branches.positions)
        encoded = self.encoder(embedded, with_branches.real, with_branches)
        return encoded[:, : token_ids.shape[1]]

    def affinities(
        self, tokens: Tensor, head_tokens: Tensor, head_mask: Tensor, tail_tokens: Tensor, tail_mask: Tensor
    ) -> Tensor:
        """The tensor A of section 2.3, for the spans only: [B, T, D] -> [B, H, R, K]."""
        heads = self.head(average_spans(tokens, head_tokens, head_mask))
        tails = self.tail(average_spans(tokens, tail_tokens, tail_mask))
        scores: Tensor = self.biaffine(heads, tails)
        return scores

    def forward(self, batch: Batch) -> BranOutput:
        return self.score(self.encode(batch.token_ids, batch.token_mask, batch.branches), batch)

    def score(self, tokens: Tensor, batch: Batch) -> BranOutput:
        """Score all pairs and all BIO labels of encoded documents: [B, T, D] tokens in context.

        In training these are BRAN's own scores, which the loss needs; otherwise the reranker's, where there is one.
        """
        output = self.score_without_reranker(tokens, batch)
        if self.reranker is None or self.training:
            return output
        pair_scores = self.reranker(output.pair_scores, batch).masked_fill(~batch.allowed, FORBIDDEN)
        return BranOutput(pair_scores, output.mention_pair_scores, output.ner_scores)

    def score_without_reranker(self, tokens: Tensor, batch: Batch) -> BranOutput:
        """BRAN's own scores of encoded documents, sections 2.3 to 2.5: [B, T, D] tokens in context."""
        affinities = self.affinities(tokens, batch.head_tokens, batch.head_mask, batch.tail_tokens, batch.tail_mask)
        mention_pair_scores = gather_mention_pairs(affinities, batch.mention_pairs)
        pair_scores = pool_mention_pairs(mention_pair_scores, batch.entity_pairs, batch.pair_count)
        if self.pair_features is not None:
            pair_scores = pair_scores + self.pair_features(batch.pair_features)
        return BranOutput(
            pair_scores=pair_scores.masked_fill(~batch.allowed, FORBIDDEN),
            mention_pair_scores=mention_pair_scores,
            ner_scores=self.ner(tokens),
            document_scores=None
            if self.triage is None
            else self.triage(average_tokens(tokens, batch.token_mask))[:, 0],
        )


def _bert(config: BranConfig) -> Bert:
    return Bert(
        config=config.bert,
        cls_id=config.cls_id,
        sep_id=config.sep_id,
        unk_id=config.unk_id,
        word_dropout=config.word_dropout,
        checkpointing=config.gradient_checkpointing,
        mixed_precision=config.mixed_precision,
    )


@torch.no_grad()
def probabilities(pair_scores: Tensor) -> Tensor:
    """[P, R] scores -> [P, R] probabilities, NULL in column 0."""
    return pair_scores.softmax(-1)

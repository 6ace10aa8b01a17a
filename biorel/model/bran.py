"""BRAN: bi-affine relation attention networks (Verga, Strubell, McCallum 2018), figure 1 from left to right."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from biorel.model.batch import Batch
from biorel.model.bert import Bert
from biorel.model.branches import Branches, layout
from biorel.model.embedding import InputEmbedding
from biorel.model.heads import Biaffine, PairFeatures, Projection
from biorel.model.pooling import average_units, gather_links, mean_tokens, pool_links
from biorel.model.reranker import Reranker
from biorel.model.transformer import ENCODERS
from biorel.model.windows import encode_in_windows

FORBIDDEN = -1e9


@dataclass(frozen=True, kw_only=True)
class BranConfig:
    """All that fixes the parameters of a network, its dropout (probabilities to drop), and how it reads knowledge.

    `branches` is how many of an entity it was trained with at most; 0 is none. With `graph_features` the last of the
    pair features are what a graph says of the pair. With `encoder` `bert` the configuration
    of the BERT is in `bert`, as JSON, and the sizes of BRAN's own blocks have no bearing. `task` is what it was trained
    for: `relations`, `triage` or `ner`.
    """

    vocabulary: int
    relations: int
    ner_labels: int
    pair_features: int
    cues: int = 0
    width: int = 64
    blocks: int = 2
    heads: int = 4
    kernels: tuple[int, ...] = (1, 5, 1)
    expansion: int = 4
    positions: int = 1000
    encoder: str = "transformer"
    units: str = "mentions"
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
    def reads_graph(self) -> bool:
        """Whether it was trained with knowledge."""
        return self.branches > 0 or self.graph_features


@dataclass(frozen=True)
class Output:
    """What a pass gives: [P, R] pair scores, [N, R] link scores, [B, T, C] BIO scores, [B] triage scores or none."""

    pairs: Tensor
    links: Tensor
    ner: Tensor
    documents: Tensor | None = None


class Bran(nn.Module):
    """Encode a document once, score all its pairs at once."""

    def __init__(self, sizes: BranConfig) -> None:
        super().__init__()
        self.sizes = sizes
        self.bert = _bert(sizes) if sizes.encoder == "bert" else None
        if self.bert is None:
            self.embedding = InputEmbedding(
                vocabulary=sizes.vocabulary,
                width=sizes.width,
                positions=sizes.positions,
                unk_id=sizes.unk_id,
                word_dropout=sizes.word_dropout,
                dropout=sizes.input_dropout,
            )
            self.encoder = ENCODERS[sizes.encoder](
                width=sizes.width,
                blocks=sizes.blocks,
                heads=sizes.heads,
                kernels=sizes.kernels,
                expansion=sizes.expansion,
                dropout=sizes.inner_dropout,
            )
        self.head = Projection(width=sizes.width, dropout=sizes.final_dropout)
        self.tail = Projection(width=sizes.width, dropout=sizes.final_dropout)
        self.biaffine = Biaffine(width=sizes.width, relations=sizes.relations)
        self.features = (
            PairFeatures(
                features=sizes.pair_features,
                inner=sizes.feature_width,
                relations=sizes.relations,
                dropout=sizes.inner_dropout,
            )
            if sizes.pair_features
            else None
        )
        self.reranker = (
            Reranker(cues=sizes.cues, features=sizes.pair_features, relations=sizes.relations - 1)
            if sizes.cues
            else None
        )
        self.ner = nn.Linear(sizes.width, sizes.ner_labels)  # c_i = W3 b_i (section 2.5)
        self.triage = nn.Linear(sizes.width, 1) if sizes.task == "triage" else None

    def encode(self, token_ids: Tensor, mask: Tensor, branches: Branches | None = None) -> Tensor:
        """[B, T] and [B, T] -> [B, T, D], the tokens in context, and in that of their branches of knowledge.

        In training a text beyond the positions is read whole, as in the paper; afterwards, and always by a BERT, in
        windows.
        """
        if self.training and self.bert is None:
            return self._encode(token_ids, mask, branches)
        return encode_in_windows(self._encode, token_ids, mask, self.sizes.positions, branches)

    def _encode(self, token_ids: Tensor, mask: Tensor, branches: Branches | None = None) -> Tensor:
        if self.bert is not None:
            soft, restricted = self.sizes.soft_positions, self.sizes.visible_matrix
            of_bert: Tensor = self.bert(token_ids, mask, branches, soft=soft, restricted=restricted)
            return of_bert
        if branches is None:
            encoded: Tensor = self.encoder(self.embedding(token_ids), mask)
            return encoded
        seen = layout(mask, branches, soft=self.sizes.soft_positions, restricted=self.sizes.visible_matrix)
        embedded = self.embedding(seen.tokens(token_ids, branches), seen.positions)
        with_branches: Tensor = self.encoder(embedded, seen.real, seen)
        return with_branches[:, : token_ids.shape[1]]

    def affinities(
        self, tokens: Tensor, head_tokens: Tensor, head_mask: Tensor, tail_tokens: Tensor, tail_mask: Tensor
    ) -> Tensor:
        """The tensor A of section 2.3 over the gathered units: [B, T, D] -> [B, H, R, K]."""
        heads = self.head(average_units(tokens, head_tokens, head_mask))
        tails = self.tail(average_units(tokens, tail_tokens, tail_mask))
        scores: Tensor = self.biaffine(heads, tails)
        return scores

    def forward(self, batch: Batch) -> Output:
        return self.score(self.encode(batch.token_ids, batch.token_mask, batch.branches), batch)

    def score(self, tokens: Tensor, batch: Batch) -> Output:
        """All pairs and all tags of documents that are encoded already: [B, T, D] tokens in context.

        In training BRAN's own scores, on which its loss is; afterwards those of the reranker where there is one.
        """
        output = self.score_alone(tokens, batch)
        if self.reranker is None or self.training:
            return output
        pairs = self.reranker(output.pairs, batch)
        return Output(pairs.masked_fill(~batch.allowed, FORBIDDEN), output.links, output.ner)

    def score_alone(self, tokens: Tensor, batch: Batch) -> Output:
        """The same without the reranker: what the paper describes."""
        affinities = self.affinities(tokens, batch.head_tokens, batch.head_mask, batch.tail_tokens, batch.tail_mask)
        links = gather_links(affinities, batch.links)
        pairs = pool_links(links, batch.link_pairs, batch.pairs)
        if self.features is not None:
            pairs = pairs + self.features(batch.pair_features)
        documents = None if self.triage is None else self.triage(mean_tokens(tokens, batch.token_mask))[:, 0]
        return Output(pairs.masked_fill(~batch.allowed, FORBIDDEN), links, self.ner(tokens), documents)


def _bert(sizes: BranConfig) -> Bert:
    return Bert(
        config=sizes.bert,
        cls_id=sizes.cls_id,
        sep_id=sizes.sep_id,
        unk_id=sizes.unk_id,
        word_dropout=sizes.word_dropout,
        checkpointing=sizes.gradient_checkpointing,
        mixed_precision=sizes.mixed_precision,
    )


@torch.no_grad()
def probabilities(pair_scores: Tensor) -> Tensor:
    """[P, R] scores -> [P, R] probabilities, NULL first."""
    return pair_scores.softmax(-1)

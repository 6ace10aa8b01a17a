"""Skip-gram vectors: token ids of documents -> a folder whose vectors.txt `train --vectors` reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tokenizers import Tokenizer

from biorel.artifacts import Artifact
from biorel.config import Pretrain
from biorel.counts import Reason
from biorel.text.tokenizer import TOKENIZER, save_tokenizer, spellings
from biorel.training.masking import Ids
from biorel.training.skipgram import learn_vectors
from biorel.training.vectors import write_vectors

VECTORS = "vectors.txt"


def pretrain_skipgram(
    config: Pretrain,
    artifact: Artifact,
    tokenizer: Tokenizer,
    texts: Sequence[tuple[str, Ids]],
    progress: Callable[[str], None],
) -> None:
    """Learn a vector of every token and write the files of the folder into `artifact`."""
    names = {index: spelling for spelling, index in spellings(tokenizer).items()}
    spelled = [[names[index] for index in ids.tolist()] for _, ids in texts if len(ids)]
    artifact.counts.add(Reason.DOCUMENTS_USED, count=len(spelled))
    artifact.counts.add(Reason.DOCUMENT_WITHOUT_KNOWN_TOKEN, count=len(texts) - len(spelled))
    done: list[None] = []

    def told() -> None:
        done.append(None)
        progress(f"epoch {len(done)}/{config.epochs}")

    progress(f"{len(spelled)} texts, {sum(map(len, spelled))} tokens")
    vectors = learn_vectors(
        spelled,
        width=config.width,
        window=config.window,
        negatives=config.negatives,
        epochs=config.epochs,
        seed=config.seed,
        threads=config.threads or 1,
        told=told,
    )
    artifact.counts.add(Reason.VECTORS_WRITTEN, count=len(vectors))
    write_vectors(vectors, artifact.path / VECTORS)
    save_tokenizer(tokenizer, artifact.path / TOKENIZER)

"""Skip-gram vectors: token ids of documents -> a folder whose vectors.txt `train --vectors` reads."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import Tokenizer

from biorel.artifacts import OutputFolder
from biorel.config.pretrain import Pretrain
from biorel.counts import Reason
from biorel.progress import Progress
from biorel.text.tokenizer import TOKENIZER, save_tokenizer, spellings
from biorel.training.masking import Ids
from biorel.training.skipgram import learn_vectors
from biorel.training.vectors import write_vectors

VECTORS = "vectors.txt"


def pretrain_skipgram(
    config: Pretrain,
    output: OutputFolder,
    tokenizer: Tokenizer,
    texts: Sequence[tuple[str, Ids]],
    progress: Progress,
) -> None:
    """Learn a vector of every token and write the files of the folder into `output`."""
    names = {index: spelling for spelling, index in spellings(tokenizer).items()}
    spelled = [[names[index] for index in ids.tolist()] for _, ids in texts if len(ids)]
    output.counts.add(Reason.DOCUMENTS_USED, count=len(spelled))
    output.counts.add(Reason.DOCUMENT_WITHOUT_KNOWN_TOKEN, count=len(texts) - len(spelled))
    done: list[None] = []

    def told() -> None:
        done.append(None)
        progress.line(f"epoch {len(done)}/{config.epochs}")

    progress.line(f"{len(spelled)} texts, {sum(map(len, spelled))} tokens")
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
    output.counts.add(Reason.VECTORS_WRITTEN, count=len(vectors))
    write_vectors(vectors, output.path / VECTORS)
    save_tokenizer(tokenizer, output.path / TOKENIZER)

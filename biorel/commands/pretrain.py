"""pretrain: abstracts without labels -> a pre-trained encoder, or vectors of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from biorel import artifacts
from biorel.config import Pretrain
from biorel.counts import Counts, Reason
from biorel.dataset.splits import read_ids
from biorel.errors import InputError
from biorel.formats.documents import read_documents
from biorel.records import Document
from biorel.text.tokenizer import choose_tokenizer, encode
from biorel.training.checkpoint import FILE, FOLDER
from biorel.training.loop import Report
from biorel.training.pretrain_masked import pretrain_masked
from biorel.training.pretrain_skipgram import pretrain_skipgram
from biorel.training.skipgram import require_gensim

Progress = Callable[[str], None]


def run(
    config: Pretrain,
    progress: Progress = lambda line: None,
    reports: Callable[[Iterable[Report]], Iterator[Report]] = iter,
) -> Path:
    """Write the folder `config.out`; returns it.

    Args:
        config: the command's configuration.
        progress: is told each piece of news.
        reports: is given the stream of reports of masked pre-training and passes them on.

    Raises:
        BiorelError: bad input, no text, gensim is missing, a checkpoint of another run.
    """
    if config.method == "skipgram":
        require_gensim()
    with artifacts.folder("pretrain", config, config.out, force=config.force, resume=f"{FOLDER}/{FILE}") as artifact:
        excluded = read_ids(config.exclude_pmids, artifact.counts)

        def documents(counts: Counts) -> Iterator[Document]:
            for annotated in read_documents(config.documents, counts):
                if annotated.document.doc_id in excluded:
                    counts.add(Reason.DOCUMENT_EXCLUDE_PMIDS)
                else:
                    yield annotated.document

        progress("reading documents")
        tokenizer = choose_tokenizer(
            (document.text for document in documents(Counts())),
            kind=config.tokenizer,
            file=config.tokenizer_file,
            merges=config.merges,
            vocabulary=config.vocabulary,
            min_count=config.min_count,
        )
        texts = [
            (document.doc_id, np.array(encode(tokenizer, document.text).ids, dtype=np.int32))
            for document in documents(artifact.counts)
        ]
        if not any(len(ids) for _, ids in texts):
            raise InputError("no text in any document", "see --documents and --exclude-pmids")
        if config.method == "skipgram":
            pretrain_skipgram(config, artifact, tokenizer, texts, progress)
        else:
            pretrain_masked(config, artifact, tokenizer, texts, progress, reports)
    return config.out

"""pretrain: abstracts without labels -> a pre-trained encoder, or vectors of tokens."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.pretrain import Pretrain
from biorel.counts import Counts, Reason
from biorel.dataset.splits import read_ids
from biorel.errors import InputError
from biorel.formats.documents import read_documents
from biorel.progress import SILENT, Progress
from biorel.records import Document
from biorel.text.tokenizer import choose_tokenizer, encode
from biorel.training.checkpoint import FILE, FOLDER
from biorel.training.pretrain_masked import pretrain_masked
from biorel.training.pretrain_skipgram import pretrain_skipgram
from biorel.training.skipgram import require_gensim


def run(config: Pretrain, progress: Progress = SILENT) -> Artifact:
    """Write the folder `config.out`.

    Raises:
        BiorelError: bad input, no text, gensim is missing, a checkpoint of another run.
    """
    if config.method == "skipgram":
        require_gensim()
    resume = f"{FOLDER}/{FILE}"
    with artifacts.folder("pretrain", config.options(), config.out, force=config.force, resume=resume) as output:
        excluded = read_ids(config.exclude_pmids, output.counts)

        def documents(counts: Counts) -> Iterator[Document]:
            for annotated in read_documents(config.documents, counts):
                if annotated.document.doc_id in excluded:
                    counts.add(Reason.DOCUMENT_EXCLUDED_BY_PMID)
                else:
                    yield annotated.document

        progress.line("reading documents")
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
            for document in documents(output.counts)
        ]
        if not any(len(ids) for _, ids in texts):
            raise InputError("no text in any document", "see --documents and --exclude-pmids")
        if config.method == "skipgram":
            pretrain_skipgram(config, output, tokenizer, texts, progress)
        else:
            pretrain_masked(config, output, tokenizer, texts, progress)
    return Artifact(label="pre-trained", path=config.out)

"""pretrain: abstracts without labels -> a pre-trained encoder, or pre-trained token vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
import torch
from tokenizers import Tokenizer

from biorel import artifacts
from biorel.artifacts import Artifact, OutputFolder
from biorel.config.pretrain import Pretrain
from biorel.counts import Counts, Reason
from biorel.dataset.splits import read_ids
from biorel.errors import InputError
from biorel.formats.documents import read_documents
from biorel.model.device import pick_device
from biorel.model.masked import MaskedConfig, MaskedLanguageModel
from biorel.progress import SILENT, Progress
from biorel.records import Document
from biorel.text.tokenizer import TOKENIZER, UNK_ID, choose_tokenizer, encode, save_tokenizer, spellings
from biorel.training.checkpoint import FILE, FOLDER
from biorel.training.masking import Ids
from biorel.training.model_folder import option_lines
from biorel.training.pretrain import PretrainingArguments, pretrain_encoder, save_encoder, split_texts
from biorel.training.skipgram import learn_vectors, require_gensim, spelled_texts
from biorel.training.vectors import load_vectors, write_vectors

VECTORS = "vectors.txt"


def run(config: Pretrain, progress: Progress = SILENT) -> Artifact:
    """Write the folder `config.out`.

    Raises:
        BiorelError: the input cannot be used or has no text, gensim is missing, or the checkpoint is from another run.
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
            raise InputError(
                "no document has a text", "give documents with a text, or exclude fewer with --exclude-pmids"
            )
        if config.method == "skipgram":
            _skipgram(config, output, tokenizer, texts, progress)
        else:
            _masked(config, output, tokenizer, texts, progress)
    return Artifact(label="pre-trained", path=config.out)


def _skipgram(
    config: Pretrain, output: OutputFolder, tokenizer: Tokenizer, texts: Sequence[tuple[str, Ids]], progress: Progress
) -> None:
    """Learn a vector for every token."""
    spelled = spelled_texts([ids for _, ids in texts], tokenizer)
    output.counts.add(Reason.DOCUMENTS_USED, count=len(spelled))
    output.counts.add(Reason.DOCUMENT_WITHOUT_KNOWN_TOKEN, count=len(texts) - len(spelled))
    epochs = count(1)
    progress.line(f"{len(spelled)} texts, {sum(map(len, spelled))} tokens")
    vectors = learn_vectors(
        spelled,
        width=config.width,
        window=config.window,
        negatives=config.negatives,
        epochs=config.epochs,
        seed=config.seed,
        threads=config.threads or 1,
        on_epoch=lambda: progress.line(f"epoch {next(epochs)}/{config.epochs}"),
    )
    output.counts.add(Reason.VECTORS_WRITTEN, count=len(vectors))
    write_vectors(vectors, output.path / VECTORS)
    save_tokenizer(tokenizer, output.path / TOKENIZER)


def _masked(
    config: Pretrain,
    output: OutputFolder,
    tokenizer: Tokenizer,
    texts: Sequence[tuple[str, Ids]],
    progress: Progress,
) -> None:
    """Pre-train an encoder."""
    device = pick_device(config.device)
    if config.threads:
        torch.set_num_threads(config.threads)
    training, dev = split_texts(texts, positions=config.positions, held_out=config.held_out, counts=output.counts)
    torch.manual_seed(config.seed)
    model = MaskedLanguageModel(_network(config, tokenizer.get_vocab_size()))
    if config.vectors is not None:
        found = load_vectors(model.embedding.tokens, spellings(tokenizer), config.vectors, output.counts)
        output.counts.add(Reason.PRETRAINED_VECTORS, count=found)
    encoder = pretrain_encoder(
        model,
        training,
        dev,
        _arguments(config),
        folder=output.path,
        key=artifacts.fingerprint("pretrain", config.options()),
        force=config.force,
        progress=progress,
        device=device,
    )
    pd.DataFrame(encoder.history).to_parquet(output.path / "history.parquet", index=False)
    save_encoder(output.path, encoder.model, tokenizer, encoder.metrics, _card(config, encoder.metrics))
    output.notes |= {"resumed": encoder.resumed, "device": str(device)}


def _network(config: Pretrain, vocabulary: int) -> MaskedConfig:
    return MaskedConfig(
        vocabulary=vocabulary,
        width=config.width,
        blocks=config.blocks,
        heads=config.heads,
        kernels=config.kernels,
        expansion=config.expansion,
        positions=config.positions,
        encoder="transformer",
        unk_id=UNK_ID,
        input_dropout=config.input_dropout,
        inner_dropout=config.inner_dropout,
    )


def _arguments(config: Pretrain) -> PretrainingArguments:
    return PretrainingArguments(
        seed=config.seed,
        epochs=config.epochs,
        learning_rate=config.learning_rate,
        warmup=config.warmup,
        final_rate=config.final_rate,
        clip=config.clip,
        patience=0,
        gradient_noise=0.0,
        checkpoint_steps=PretrainingArguments.checkpoint_steps,
        beta1=config.beta1,
        beta2=config.beta2,
        epsilon=config.epsilon,
        weight_decay=config.weight_decay,
        ema=config.ema,
        mask_share=config.mask_share,
        token_budget=config.token_budget,
        eval_tokens=config.eval_tokens,
    )


def _card(config: Pretrain, metrics: dict[str, Any]) -> str:
    """The README of the folder. It says how the encoder was trained, and on what data."""
    lines = [
        "# An encoder, pre-trained by biorel to predict hidden tokens",
        "",
        f"Trained on {metrics['tokens']['train']} tokens of {', '.join(f'`{path}`' for path in config.documents)}; the "
        f"best of {metrics['epochs']} epochs was chosen on {metrics['tokens']['dev']} held-out tokens.",
        "",
        f"Dev perplexity {metrics['dev_perplexity']:.1f} (epoch {metrics['best_epoch']}).",
        "",
        "`biorel train --pretrained` starts from it, on a dataset built with `--tokenizer-file` of this folder.",
        "",
        *option_lines(config.changed_options("documents", "out", "force", "threads")),
    ]
    return "\n".join(lines) + "\n"

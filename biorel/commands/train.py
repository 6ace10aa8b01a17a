"""train: a dataset folder -> a model folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import torch
from tokenizers import Tokenizer

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.train import Train
from biorel.counts import Counts, Reason
from biorel.dataset.featurize import Featurizer
from biorel.dataset.labels import read_labels
from biorel.dataset.lexical_features import BUCKETS
from biorel.dataset.splits import SPLITS
from biorel.knowledge.triples import read_triples
from biorel.model.bran import Bran, BranConfig
from biorel.model.device import deterministic, pick_device
from biorel.progress import SILENT, Progress
from biorel.records import Example
from biorel.text.tokenizer import UNK_ID, load_tokenizer, spellings
from biorel.training.bert import PretrainedBert, load_bert, open_bert
from biorel.training.checkpoint import FILE, FOLDER
from biorel.training.evaluation import MEASURES, check_task
from biorel.training.examples import inject_knowledge, read_training_examples
from biorel.training.graph import build_injector
from biorel.training.model_folder import ModelFolder, option_lines, pair_feature_count, save_model
from biorel.training.pretrain import start_from
from biorel.training.relations import TrainingArguments, TrainingData, train_relations
from biorel.training.vectors import load_vectors

_RERANKED = (
    "A reranker follows the network. It mixes BRAN's scores with those of a linear model of the words between and "
    "around the mentions, and rescores each pair against its competing pairs: the other pairs with its tail, with its "
    "head and in its abstract. The linear model was fitted on the training documents, the mix on dev. A model trained "
    "with `--no-rerank` has BRAN's scores only."
)


def run(config: Train, progress: Progress = SILENT) -> Artifact:
    """Train and write the model folder `config.out`.

    Raises:
        BiorelError: a split is empty or unsuitable for the task, the dataset is incomplete, or the checkpoint belongs
            to another run.
    """
    with deterministic(config.deterministic):
        return _run(config, progress)


def _run(config: Train, progress: Progress) -> Artifact:
    device = pick_device(config.device)
    if config.threads:
        torch.set_num_threads(config.threads)
    schema, ner_labels = read_labels(config.dataset)
    bert = open_bert(config.encoder)
    tokenizer = load_tokenizer(config.dataset) if bert is None else bert.tokenizer
    counts = Counts()
    training, dev = read_training_examples(
        Featurizer(tokenizer, schema.labels, ner_labels),
        config.dataset,
        resplit_dev=config.resplit_dev,
        seed=config.seed,
        counts=counts,
    )
    check_task(config.task, training, dev, config.dataset)
    resume = f"{FOLDER}/{FILE}"
    with artifacts.folder("train", config.options(), config.out, force=config.force, resume=resume) as output:
        output.counts.include(counts)
        torch.manual_seed(config.seed)
        model = Bran(_network(config, tokenizer.get_vocab_size(), len(schema.labels), len(ner_labels), bert))
        share = _load_pretrained(config, model, tokenizer, output.counts)
        data = _with_knowledge(config, model.config, tokenizer, training, dev, output.counts)
        # examples contain indices of labels, so the key also covers the labels
        key = " ".join([artifacts.fingerprint("train", config.options()), *schema.labels, *ner_labels])
        trained, resumed = train_relations(
            ModelFolder(model, tokenizer, schema, ner_labels, {}),
            data,
            _arguments(config),
            share,
            folder=output.path,
            key=key,
            force=config.force,
            progress=progress,
            device=device,
        )
        pd.DataFrame(trained.history).to_parquet(output.path / "history.parquet", index=False)
        save_model(output.path, trained.opened, trained.metrics, _card(config, trained.metrics))
        output.notes |= {"resumed": resumed, "device": str(device)}
    return Artifact(label="model", path=config.out)


def _network(
    config: Train, vocabulary: int, relations: int, ner_labels: int, bert: PretrainedBert | None
) -> BranConfig:
    """The configuration of the network.

    Args:
        vocabulary: number of tokens of the tokenizer.
        relations: number of relations, without NULL.
        bert: the pre-trained BERT, if the encoder is one.
    """
    graph_features = config.reads_graph_features
    return BranConfig(
        vocabulary=vocabulary,
        relations=relations + 1,
        ner_labels=ner_labels,
        pair_features=pair_feature_count(graph_features=graph_features) if config.pair_features else 0,
        lexical_features=BUCKETS if config.rerank and config.task == "relations" else 0,
        width=config.width if bert is None else bert.width,
        blocks=config.blocks,
        heads=config.heads,
        kernels=config.kernels,
        expansion=config.expansion,
        positions=config.positions if bert is None else bert.positions,
        encoder="transformer" if bert is None else "bert",
        span_pooling=config.span_pooling,
        feature_width=BranConfig.feature_width,
        unk_id=UNK_ID if bert is None else bert.unk_id,
        word_dropout=config.word_dropout,
        input_dropout=config.input_dropout,
        inner_dropout=config.inner_dropout,
        final_dropout=config.final_dropout,
        branches=config.branches if config.graph is not None else 0,
        graph_features=graph_features,
        soft_positions=config.soft_positions,
        visible_matrix=config.visible_matrix,
        bert="" if bert is None else bert.config,
        cls_id=0 if bert is None else bert.cls_id,
        sep_id=0 if bert is None else bert.sep_id,
        gradient_checkpointing=config.gradient_checkpointing,
        mixed_precision=config.mixed_precision,
        task=config.task,
    )


def _arguments(config: Train) -> TrainingArguments:
    return TrainingArguments(
        seed=config.seed,
        epochs=config.epochs,
        learning_rate=config.learning_rate,
        warmup=config.warmup,
        final_rate=config.final_rate,
        clip=config.clip,
        patience=config.patience,
        gradient_noise=config.gradient_noise,
        checkpoint_steps=TrainingArguments.checkpoint_steps,
        beta1=config.beta1,
        beta2=config.beta2,
        epsilon=config.epsilon,
        weight_decay=config.weight_decay,
        ema=config.ema,
        sampling=config.sampling,
        token_budget=config.token_budget,
        pairs_per_step=config.pairs_per_step,
        steps_per_epoch=config.steps_per_epoch,
        positive_weight=config.positive_weight,
        ner_weight=config.ner_weight,
        task_weight=float(config.task != "ner"),
        eval_tokens=config.eval_tokens,
        thresholds=config.thresholds,
    )


def _load_pretrained(config: Train, model: Bran, tokenizer: Tokenizer, counts: Counts) -> Callable[[str], float]:
    """Load pre-trained weights or vectors into the network; returns each parameter's factor of the learning rate."""
    share = load_bert(
        model.bert,
        tokenizer.get_vocab_size(),
        encoder=config.encoder,
        encoder_rate=config.encoder_rate,
        learning_rate=config.learning_rate,
        layer_decay=config.layer_decay,
    )
    if config.vectors is not None:
        found = load_vectors(model.embedding.tokens, spellings(tokenizer), config.vectors, counts)
        counts.add(Reason.PRETRAINED_VECTORS, count=found)
    if config.pretrained is not None:
        copied = start_from(model, config.pretrained, tokenizer)
        counts.add(Reason.PRETRAINED_PARAMETERS, count=copied)
    return share


def _with_knowledge(
    config: Train,
    network: BranConfig,
    tokenizer: Tokenizer,
    training: list[Example],
    dev: list[Example],
    counts: Counts,
) -> TrainingData:
    """The examples; if --graph is given, with the graph's knowledge about their pairs."""
    if config.graph is None:
        return TrainingData(training, dev, dev)
    injector = build_injector(config.graph, read_triples(config.graph), network, tokenizer)
    injected = inject_knowledge(training, config.dataset, SPLITS[:2], injector)
    counts.add(Reason.KNOWLEDGE_BRANCHES, count=sum(len(example.branch_tokens) for example in injected))
    return TrainingData(injected, inject_knowledge(dev, config.dataset, SPLITS[:2], injector), dev)


def _card(config: Train, metrics: dict[str, Any]) -> str:
    """The README of a model folder. It says how the model was trained, and on what data."""
    lines = [
        "# A BRAN relation model, trained by biorel",
        "",
        f"Trained on {metrics['documents']['train']} documents of `{config.dataset}`; thresholds and the best of "
        f"{metrics['epochs']} epochs were chosen on {metrics['documents']['dev']} dev documents.",
        "",
        *((_RERANKED, "") if config.rerank and config.task == "relations" else ()),
        f"Dev {MEASURES[config.task]} {100 * metrics['dev_f1']:.1f} (epoch {metrics['best_epoch']})"
        f"{', gold entities' if config.task == 'relations' else ''}.",
        "",
        *option_lines(config.changed_options("dataset", "out", "force", "threads")),
    ]
    return "\n".join(lines) + "\n"

"""train: a dataset folder -> a model folder."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import torch

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.train import Train
from biorel.counts import Counts, Reason
from biorel.dataset.featurize import Featurizer
from biorel.dataset.labels import read_labels
from biorel.dataset.lexical_features import BUCKETS
from biorel.dataset.pair_features import FEATURES
from biorel.dataset.splits import SPLITS
from biorel.errors import InputError
from biorel.knowledge.support import GRAPH_FEATURES
from biorel.model.bran import Bran, BranConfig
from biorel.model.device import deterministic, pick_device
from biorel.progress import SILENT, DevScore, Progress, Report
from biorel.records import Example
from biorel.scoring.metrics import evaluate
from biorel.scoring.ner import evaluate_spans
from biorel.scoring.thresholds import RULES, ThresholdRule, tune
from biorel.text.tokenizer import UNK_ID, load_tokenizer, spellings
from biorel.training.bert_start import load_bert, open_bert
from biorel.training.checkpoint import FILE, FOLDER, TrainingState, discard_state, resume_state
from biorel.training.events import event_file
from biorel.training.graph import injector_for, read_triples, with_knowledge
from biorel.training.loop import speed_metrics, train
from biorel.training.model_card import options_told
from biorel.training.model_folder import ModelFolder, save_model
from biorel.training.optim import WeightAverage, build_optimizer
from biorel.training.pretrained import start_from
from biorel.training.relations import RelationObjective, TrainingArguments
from biorel.training.rerank import fit_mix, fit_reranker
from biorel.training.score_pairs import encoded_for, score
from biorel.training.tasks import MEASURES, check_task, score_task
from biorel.training.vectors import load_vectors

_RERANKED = (
    "A reranker stands behind the network: a linear model of the words between and beside the mentions is mixed with "
    "BRAN's scores, and each pair is read against its rivals, the other pairs with its tail, with its head and in its "
    "abstract. The linear model was fitted on the training documents, the mix on dev; trained with `--no-rerank`, the "
    "scores are BRAN's alone."
)


def run(config: Train, progress: Progress = SILENT) -> Artifact:
    """Train and write the model folder `config.out`.

    Raises:
        BiorelError: an empty split, a dataset that is incomplete, a checkpoint of another run.
    """
    with deterministic(config.deterministic):
        return _run(config, progress)


def _run(config: Train, progress: Progress) -> Artifact:
    device = pick_device(config.device)
    if config.threads:
        torch.set_num_threads(config.threads)
    schema, ner = read_labels(config.dataset)
    bert = open_bert(config.encoder)
    tokenizer = load_tokenizer(config.dataset) if bert is None else bert.tokens.tokenizer
    counts = Counts()
    training, bare_dev = _splits(config, Featurizer(tokenizer, schema.labels, ner), counts)
    dev = bare_dev
    check_task(config.task, training, dev, config.dataset)
    resume = f"{FOLDER}/{FILE}"
    with artifacts.folder("train", config.options(), config.out, force=config.force, resume=resume) as output:
        torch.manual_seed(config.seed)
        output.counts.include(counts)
        sizes = _sizes(config, tokenizer.get_vocab_size(), len(schema.labels), len(ner))
        model = Bran(sizes if bert is None else bert.sized(sizes))
        share = load_bert(
            model.bert,
            sizes.vocabulary,
            encoder=config.encoder,
            encoder_rate=config.encoder_rate,
            learning_rate=config.learning_rate,
            layer_decay=config.layer_decay,
        )
        if config.vectors is not None:
            found = load_vectors(model.embedding.tokens, spellings(tokenizer), config.vectors, output.counts)
            output.counts.add(Reason.PRETRAINED_VECTORS, count=found)
        if config.pretrained is not None:
            copied = start_from(model, config.pretrained, tokenizer)
            output.counts.add(Reason.PRETRAINED_PARAMETERS, count=copied)
        if config.graph is not None:
            inject = injector_for(config.graph, read_triples(config.graph), model.config, tokenizer)
            training, dev = (with_knowledge(part, config.dataset, SPLITS[:2], inject) for part in (training, dev))
            output.counts.add(Reason.KNOWLEDGE_BRANCHES, count=sum(len(one.branch_tokens) for one in training))
        collate = ModelFolder(model, tokenizer, schema, ner, {}).collator
        model.to(device)
        state = TrainingState(
            model,
            build_optimizer(
                model,
                rate=config.learning_rate,
                betas=(config.beta1, config.beta2),
                epsilon=config.epsilon,
                weight_decay=config.weight_decay,
                share=share,
            ),
            WeightAverage(model, config.ema),
        )
        # the examples hold numbers of labels: with other names they are other data
        key = " ".join([artifacts.fingerprint("train", config.options()), *schema.labels, *ner])
        checkpoint = output.path / FOLDER
        output.notes["resumed"] = resume_state(state, checkpoint, key, force=config.force)

        def score_dev(rule: ThresholdRule = tune) -> DevScore:
            if config.task != "relations":
                return score_task(model, dev, collate, schema, ner, token_budget=config.eval_tokens, device=device)
            scored, tags = score(model, dev, collate, schema.labels, token_budget=config.eval_tokens, device=device)
            if model.config.branches:  # on the given mentions they would show where these are
                _, tags = score(model, bare_dev, collate, schema.labels, token_budget=config.eval_tokens, device=device)
            entities = evaluate_spans((example.ner_tags for example in dev), tags, ner)
            thresholds = rule(scored, schema.labels)
            micro = evaluate(scored, schema.labels, thresholds, filtered=True).micro
            f1, ner_f1 = micro.f1 or 0.0, entities.overall.f1 or 0.0
            return DevScore(f1, {"f1": f1, "ner_f1": ner_f1}, thresholds)

        recipe = TrainingArguments(
            **{
                field.name: getattr(config, field.name)
                for field in fields(TrainingArguments)
                if hasattr(config, field.name)
            },
            task_weight=float(config.task != "ner"),
        )
        work = RelationObjective(model, training, collate, recipe, device)
        with event_file(output.path / "events", state.epoch + 1) as tell:
            steps = train(state, work, recipe, score_dev, checkpoint, key)
            for report in progress.training(steps, epochs=config.epochs, unit="docs"):
                if report.dev is not None:
                    tell(report.epoch, _values(report, report.dev))

        model.load_state_dict(state.best, strict=False)
        # only now: the epoch is chosen by what the network does alone, as a good reranker hides it
        if model.reranker is not None:
            fit_reranker(model.reranker, training, collate, seed=config.seed)
            fit_mix(model, dev, collate, token_budget=config.eval_tokens)
        final = score_dev(RULES[config.thresholds])
        saved = ModelFolder(model, tokenizer, schema, ner, final.thresholds)
        pd.DataFrame(state.history).to_parquet(output.path / "history.parquet", index=False)
        metrics = _metrics(config, state, final, len(training), len(dev), device)
        save_model(output.path, saved, metrics, _card(config, metrics))
        discard_state(checkpoint)
        output.notes["device"] = str(device)
    return Artifact(label="model", path=config.out)


def _splits(config: Train, encoder: Featurizer, counts: Counts) -> tuple[list[Example], list[Example]]:
    """Training and dev examples; with `resplit_dev` both drawn anew from their union."""
    training, dev = (encoded_for(encoder, config.dataset, split, counts) for split in SPLITS[:2])
    if not config.resplit_dev:
        return training, dev
    joined = sorted([*training, *dev], key=lambda example: example.doc_id)
    if config.resplit_dev >= len(joined):
        raise InputError(f"--resplit-dev {config.resplit_dev}: train and dev together have {len(joined)} documents")
    order = np.random.default_rng(config.seed).permutation(len(joined)).tolist()
    chosen = order[: config.resplit_dev]
    return [joined[index] for index in order[config.resplit_dev :]], [joined[index] for index in chosen]


def _sizes(config: Train, vocabulary: int, relations: int, ner_labels: int) -> BranConfig:
    own = {"pair_features", "branches", "encoder", "graph_features"}
    graph_features = config.reads_graph_features
    shared = {field.name for field in fields(BranConfig)} & set(Train.model_fields) - own
    return BranConfig(
        vocabulary=vocabulary,
        relations=relations + 1,
        ner_labels=ner_labels,
        pair_features=len(FEATURES) + len(GRAPH_FEATURES) * graph_features if config.pair_features else 0,
        graph_features=graph_features,
        lexical_features=BUCKETS if config.rerank and config.task == "relations" else 0,
        branches=config.branches if config.graph is not None else 0,
        unk_id=UNK_ID,
        **{name: getattr(config, name) for name in shared},
    )


def _values(report: Report, dev: DevScore) -> dict[str, float]:
    """What TensorBoard shows of an epoch."""
    return {
        "loss/relations": report.losses["loss"],
        "loss/ner": report.losses["ner_loss"],
        "dev/f1": dev.score,
        "dev/ner_f1": dev.measures["ner_f1"],
        "speed/documents_per_second": report.speed,
    }


def _metrics(
    config: Train, state: TrainingState, final: DevScore, training: int, dev: int, device: torch.device
) -> dict[str, Any]:
    return {
        "measure": MEASURES[config.task],
        "dev_f1": final.score,
        "dev_f1_without_reranker": state.best_score,
        "best_epoch": state.best_epoch,
        "epochs": state.epoch,
        "documents": {"train": training, "dev": dev},
        "seed": config.seed,
        "device": str(device),
        **speed_metrics(state.history, "documents"),
    }


def _card(config: Train, metrics: dict[str, Any]) -> str:
    """The README of a model folder: what it was trained on, and how."""
    lines = [
        "# A BRAN relation model, trained by biorel",
        "",
        f"Trained on {metrics['documents']['train']} documents of `{config.dataset}`; thresholds and the best of "
        f"{metrics['epochs']} epochs chosen on {metrics['documents']['dev']} dev documents.",
        "",
        *((_RERANKED, "") if config.rerank and config.task == "relations" else ()),
        f"Dev {MEASURES[config.task]} {100 * metrics['dev_f1']:.1f} (epoch {metrics['best_epoch']})"
        f"{', gold entities' if config.task == 'relations' else ''}.",
        "",
        *options_told(config, "dataset"),
    ]
    return "\n".join(lines) + "\n"

"""build-dataset: documents, mentions, curations and MeSH -> labelled pairs and examples, by split.

Each input file is parsed once. Later passes stream the documents from a temporary file in the output folder. Memory
holds one document at a time, all document ids, and the curations of these documents.
"""

from __future__ import annotations

import shutil
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.build_dataset import BuildDataset
from biorel.counts import Counts, Reason
from biorel.dataset.corpora import ConceptIds, Corpus, CorpusFiles, read_corpus
from biorel.dataset.derive_schema import derive, uncollapsed_schema
from biorel.dataset.featurize import Featurizer
from biorel.dataset.hypernyms import strict_ancestors
from biorel.dataset.label import Rules, label, mark_too_long
from biorel.dataset.labels import LABELS, labels_to_json, ner_labels
from biorel.dataset.relation_schema import RelationSchema, named_schema, schema_toml
from biorel.dataset.splits import SPLITS, SplitRule, read_ids
from biorel.dataset.statistics import SplitStatistics, total
from biorel.errors import InputError
from biorel.knowledge.ctd import read_curations, read_interaction_types
from biorel.knowledge.ctd_table import find_table
from biorel.knowledge.ctd_vocabularies import read_alternate_ids
from biorel.knowledge.mesh import Mesh, read_mesh
from biorel.progress import SILENT, Progress
from biorel.records import Document, Example, Mention, Pair
from biorel.scoring.tables import dataset_table
from biorel.tables import TableWriter
from biorel.text.tokenizer import TOKENIZER, choose_tokenizer, load_tokenizer, save_tokenizer

TABLES: dict[str, type] = {"documents": Document, "mentions": Mention, "pairs": Pair, "examples": Example}
_EXAMPLES_PER_GROUP, _ROWS_PER_GROUP = 128, 4096
_SPOOL = "spool"
_WRITTEN = {
    "train": Reason.DOCUMENTS_WRITTEN_TRAIN,
    "dev": Reason.DOCUMENTS_WRITTEN_DEV,
    "test": Reason.DOCUMENTS_WRITTEN_TEST,
}


def run(config: BuildDataset, progress: Progress = SILENT) -> Artifact:
    """Write the dataset folder `config.out`.

    Raises:
        BiorelError: bad input, no document, no positive pair, or the folder cannot be written.
    """
    with artifacts.folder("build-dataset", config.options(), config.out, force=config.force) as output:
        counts = output.counts
        progress.line("reading documents")
        # these files are read before the documents, so that a missing file is reported at once
        given = load_tokenizer(config.tokenizer_file) if config.tokenizer_file is not None else None
        corpus = _read(config, output.path / _SPOOL, counts)
        tokenizer = given or _learned(config, corpus)
        rules = _rules(config, corpus, counts)
        schema = rules.schema
        entity_types = dict.fromkeys(type_ for types in schema.pair_types for type_ in types)
        featurizer = Featurizer(tokenizer, schema.labels, ner_labels(tuple(entity_types)))
        progress.line("labelling and encoding")
        statistics = _write_splits(config, corpus, rules, featurizer, output.path, counts)

        splits = {split: statistics[split].to_json() for split in SPLITS}
        stats: dict[str, Any] = {
            "schema": schema.name,
            "splits": splits,
            "total": total(splits.values()),
            "documents_read": counts[Reason.DOCUMENTS_LABELLED],
            "documents_without_positive": counts[Reason.DOCUMENT_WITHOUT_POSITIVE],
            "inferred_rows": counts[Reason.CTD_ROW_INFERRED],
        }
        if config.strict and counts[Reason.ROW_MALFORMED]:
            places = ", ".join(counts.examples[Reason.ROW_MALFORMED])
            raise InputError(
                f"{counts[Reason.ROW_MALFORMED]} malformed rows, at {places}",
                "correct these rows, or leave --strict out to skip them",
            )
        if not stats["total"]["positives"]:
            raise _no_positive(corpus, counts)
        artifacts.write_json(output.path / "stats.json", stats)
        artifacts.write_json(output.path / LABELS, labels_to_json(schema, featurizer.ner))
        (output.path / "schema.toml").write_text(schema_toml(schema), encoding="utf-8")
        save_tokenizer(tokenizer, output.path / TOKENIZER)
        table = dataset_table(stats)
        (output.path / "tables.md").write_text(table + "\n", encoding="utf-8")
        shutil.rmtree(output.path / _SPOOL)
    return Artifact(label="dataset", path=config.out, summary=[table])


def _read(config: BuildDataset, spool: Path, counts: Counts) -> Corpus:
    """The documents with their splits, and CTD's curations of these documents."""
    excluded = read_ids(config.exclude_pmids, counts)
    vocabulary = find_table(config.ctd, ("CTD_diseases",), counts) if config.ctd is not None else None
    primary = read_alternate_ids(vocabulary, counts) if vocabulary is not None else {}
    mesh = read_mesh(config.mesh, counts) if config.mesh else Mesh({}, {}, {})
    corpus = read_corpus(
        CorpusFiles(config.train, config.dev, config.test, config.documents, config.chemprot),
        SplitRule(
            file=config.splits,
            sizes=config.split_sizes,
            folds=config.folds or 0,
            fold=config.fold or 0,
            seed=config.split_seed,
            dev_share=config.dev_share,
            test_share=config.test_share,
        ),
        excluded,
        ConceptIds(primary, mesh),
        spool,
        counts,
    )
    if config.ctd is None:
        return corpus
    curations: dict[str, list[Any]] = {}
    for curation in read_curations(config.ctd, counts, corpus.doc_ids):
        curations.setdefault(curation.doc_id, []).append(curation)
    return replace(corpus, curations=curations)


def _learned(config: BuildDataset, corpus: Corpus) -> Tokenizer:
    """A tokenizer learned from the training texts."""
    # a dataset without training documents serves for evaluation; there the vocabulary only counts tokens
    splits = ("train",) if "train" in corpus.splits or config.merges is not None else SPLITS
    return choose_tokenizer(
        corpus.texts(splits),
        kind=config.tokenizer,
        merges=config.merges,
        vocabulary=config.vocabulary,
        min_count=config.min_count,
    )


def _rules(config: BuildDataset, corpus: Corpus, counts: Counts) -> Rules:
    mesh = corpus.ids.mesh
    rules = Rules(
        schema=RelationSchema("none", ()),
        parents=read_interaction_types(config.ctd, counts) if config.ctd is not None else {},
        ancestors=strict_ancestors(mesh.tree_numbers, mesh.mapped_to),
        unlinked=config.unlinked,
        hypernyms=config.hypernyms,
        exclude_inferred=config.inferred == "exclude",
        gold=config.ctd is None,
    )
    if config.relation_schema == "derive":
        return replace(rules, schema=_derived(corpus, rules, config.min_share))
    return replace(rules, schema=named_schema(config.relation_schema))


def _derived(corpus: Corpus, rules: Rules, min_share: float) -> RelationSchema:
    """The schema that the paper's rules give for these documents.

    Raises:
        InputError: no curation concerns these documents.
    """
    everything = uncollapsed_schema(chain.from_iterable((corpus.curations or {}).values()), rules.parents)
    if not everything.relations:
        raise InputError(
            "no curation concerns these documents", "--schema derive needs curations: give them with --ctd"
        )
    terms = {relation.name: (relation.head, relation.sources[0], relation.tail) for relation in everything.relations}
    positives: Counter[tuple[str, str, str]] = Counter()
    for _, annotated in corpus.stream(Counts()):
        _, pairs = label(annotated, replace(rules, schema=everything))
        positives.update(terms[name] for pair in pairs for name in pair.relations)
    return derive(positives, min_share)


def _write_splits(
    config: BuildDataset, corpus: Corpus, rules: Rules, featurizer: Featurizer, folder: Path, counts: Counts
) -> dict[str, SplitStatistics]:
    """Label and encode each document, and write the tables of each split."""
    statistics = {split: SplitStatistics(rules.schema) for split in SPLITS}
    keep_empty = config.keep_empty or bool(config.train or config.dev or config.test)
    with ExitStack() as stack:
        writers: dict[tuple[str, str], TableWriter[Any]] = {}
        for split in SPLITS:
            (folder / split).mkdir()
            for name, kind in TABLES.items():
                path = folder / split / f"{name}.parquet"
                rows = _EXAMPLES_PER_GROUP if kind is Example else _ROWS_PER_GROUP
                writers[split, name] = stack.enter_context(TableWriter(path, kind, rows))
        for split, annotated in corpus.stream(counts):
            counts.add(Reason.DOCUMENTS_LABELLED)
            linked, pairs = label(annotated, rules)
            document, doc_id = annotated.document, annotated.document.doc_id
            if not keep_empty and not any(pair.relations and not pair.excluded_because for pair in pairs):
                counts.add(Reason.DOCUMENT_WITHOUT_POSITIVE, doc_id)
                counts.add(
                    Reason.NEGATIVE_PAIR_WITHOUT_POSITIVE, count=sum(not pair.excluded_because for pair in pairs)
                )
                continue
            encoding = featurizer.encode(document)
            too_long = len(encoding.ids) > config.max_tokens
            if too_long:
                counts.add(Reason.DOCUMENT_TOO_LONG, doc_id)
                pairs = mark_too_long(pairs)
                for pair in pairs:
                    counts.add(Reason.POSITIVE_PAIR_TOO_LONG if pair.relations else Reason.NEGATIVE_PAIR_TOO_LONG)
            else:
                example = featurizer.example(document, annotated.mentions, linked, pairs, counts, encoding)
                writers[split, "documents"].write([document])
                writers[split, "mentions"].write(annotated.mentions)
                writers[split, "examples"].write([example])
                counts.add(_WRITTEN[split])
            writers[split, "pairs"].write(pairs)
            statistics[split].add(pairs, too_long=too_long)
    return statistics


def _no_positive(corpus: Corpus, counts: Counts) -> InputError:
    """The error for a dataset without a positive pair. The hint names the kinds of ids that are never mentioned.

    The cause is nearly always a mismatch of ids or the wrong schema, hardly ever the documents.
    """
    prefixes: Counter[str] = Counter()
    for _, annotated in corpus.stream(Counts()):
        mentioned = {mention.entity_id for mention in annotated.mentions}
        for curation in annotated.curations:
            prefixes.update(id_.split(":")[0] for id_ in (curation.head_id, curation.tail_id) if id_ not in mentioned)
    common = ", ".join(f"{prefix} ({count})" for prefix, count in prefixes.most_common(3))
    hint = f"curated ids without a mention, by prefix: {common}" if common else "no curation concerns these documents"
    if too_long := counts[Reason.POSITIVE_PAIR_TOO_LONG]:
        hint = f"{too_long} positive pairs are in documents longer than --max-tokens: raise this limit"
    return InputError(f"no positive pair in {counts[Reason.DOCUMENTS_LABELLED]} documents", hint)

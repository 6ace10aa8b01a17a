"""build-dataset: documents + mentions + curations + MeSH -> pairs and examples, by split.

The documents are streamed twice: once to learn their ids, their splits and the vocabulary, once to be
labelled, encoded and written. Memory holds one document at a time, the ids, and the curations of these documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from biorel import artifacts
from biorel.artifacts import Artifact
from biorel.config.build_dataset import BuildDataset
from biorel.counts import Counts, Reason
from biorel.dataset.corpora import Sources, find_splits
from biorel.dataset.featurize import Featurizer
from biorel.dataset.hypernyms import strict_ancestors
from biorel.dataset.label import Rules, label, mark_too_long
from biorel.dataset.labels import LABELS, labels_to_json, ner_labels
from biorel.dataset.relation_schema import RelationSchema, RelationType, derive, load_schema, roll_up, schema_toml
from biorel.dataset.splits import SPLITS, read_ids
from biorel.dataset.statistics import SplitStatistics, total
from biorel.errors import InputError
from biorel.knowledge.ctd_curations import read_alternate_ids, read_curations, read_interaction_types
from biorel.knowledge.ctd_table import find_table
from biorel.knowledge.mesh import Mesh, read_mesh
from biorel.progress import SILENT, Progress
from biorel.records import Document, Example, Mention, Pair
from biorel.resources import resource
from biorel.scoring.tables import dataset_table
from biorel.tables import TableWriter
from biorel.text.tokenizer import choose_tokenizer, save_tokenizer

TABLES: dict[str, type] = {"documents": Document, "mentions": Mention, "pairs": Pair, "examples": Example}
_WRITTEN = {
    "train": Reason.DOCUMENTS_WRITTEN_TRAIN,
    "dev": Reason.DOCUMENTS_WRITTEN_DEV,
    "test": Reason.DOCUMENTS_WRITTEN_TEST,
}
_EXAMPLES_PER_GROUP = 128
# the widest schema there is: what `derive` counts before it knows its labels
_CTD_PAIR_TYPES = (("Chemical", "Disease"), ("Gene", "Disease"), ("Chemical", "Gene"))


def run(config: BuildDataset, progress: Progress = SILENT) -> Artifact:
    """Build the dataset folder `config.out`.

    Raises:
        BiorelError: bad input, no document, no positive at all, or an output that cannot be written.
    """
    with artifacts.folder("build-dataset", config.options(), config.out, force=config.force) as output:
        counts = output.counts
        progress.line("reading documents")
        sources, tokenizer = _first_pass(config, counts)
        schema, rules = _rules(config, sources, counts)
        entity_types = dict.fromkeys(type_ for types in schema.pair_types for type_ in types)
        encoder = Featurizer(tokenizer, schema.labels, ner_labels(tuple(entity_types)))
        progress.line("labelling and encoding")
        statistics = _second_pass(config, sources, rules, encoder, output.path, counts)

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
                f"{counts[Reason.ROW_MALFORMED]} malformed rows, at {places}", "mend them, or leave --strict out"
            )
        if not stats["total"]["positives"]:
            raise _no_positive(sources, counts)
        artifacts.write_json(output.path / "stats.json", stats)
        artifacts.write_json(output.path / LABELS, labels_to_json(schema, encoder.ner))
        (output.path / "schema.toml").write_text(schema_toml(schema), encoding="utf-8")
        save_tokenizer(tokenizer, output.path / "tokenizer.json")
        table = dataset_table(stats)
        (output.path / "tables.md").write_text(table + "\n", encoding="utf-8")
    return Artifact(label="dataset", path=config.out, summary=[table])


def _first_pass(config: BuildDataset, counts: Counts) -> tuple[Sources, Tokenizer]:
    """Ids and splits of the documents, the curations that concern them, and the tokenizer.

    Only the second pass books the documents, so that nothing is counted twice.
    """
    splits = find_splits(config, counts)
    excluded = read_ids(config.exclude_pmids, counts)
    vocabulary = find_table(config.ctd, ("CTD_diseases",), counts) if config.ctd is not None else None
    primary = read_alternate_ids(vocabulary, counts) if vocabulary is not None else {}
    mesh = read_mesh(config.mesh, counts) if config.mesh else Mesh({}, {}, {})
    sources = Sources(config, splits, excluded, {}, primary, mesh)
    split_of: dict[str, str] = {}

    def texts(of: Collection[str] = ("train",)) -> Iterator[str]:
        for split, annotated in sources.stream(Counts()):
            doc_id = annotated.document.doc_id
            if split_of.setdefault(doc_id, split) != split:
                raise InputError(f"document {doc_id} is in {split_of[doc_id]} and in {split}", "a split is by document")
            if split in of:
                yield annotated.document.text

    choice: dict[str, Any] = {
        "kind": config.tokenizer,
        "file": config.tokenizer_file,
        "merges": config.merges,
        "vocabulary": config.vocabulary,
        "min_count": config.min_count,
    }
    tokenizer = choose_tokenizer(texts(), **choice)
    if config.tokenizer_file is not None:
        for _ in texts():
            pass
    elif config.merges is None and "train" not in split_of.values():
        # a dataset to evaluate on: nothing is trained with this vocabulary, it only counts tokens
        tokenizer = choose_tokenizer(texts(SPLITS), **choice)
    if not split_of:
        raise InputError("no document in any split", "check --splits and --exclude-pmids")
    if config.ctd is not None:
        for curation in read_curations(config.ctd, counts, split_of.keys()):
            sources.curations.setdefault(curation.doc_id, []).append(curation)
    return sources, tokenizer


def _rules(config: BuildDataset, sources: Sources, counts: Counts) -> tuple[RelationSchema, Rules]:
    parents = read_interaction_types(config.ctd, counts) if config.ctd is not None else {}
    mesh = sources.mesh
    rules = Rules(
        schema=RelationSchema("none", ()),
        parents=parents,
        ancestors=strict_ancestors(mesh.tree_numbers, mesh.mapped_to),
        unlinked=config.unlinked,
        hypernyms=config.hypernyms,
        exclude_inferred=config.inferred == "exclude",
        gold=config.ctd is None,
    )
    schema = _derived(config, sources, rules) if config.relation_schema == "derive" else _named(config.relation_schema)
    return schema, replace(rules, schema=schema)


def _named(name: str) -> RelationSchema:
    path = Path(name)
    return load_schema(path if path.suffix == ".toml" else resource("relations", f"{name}.toml"))


def _derived(config: BuildDataset, sources: Sources, rules: Rules) -> RelationSchema:
    """Count the positives under a schema that keeps every word of the source, then apply the paper's rules."""
    words = dict.fromkeys(
        (head, roll_up(curation.relation, rules.parents), tail)
        for head, tail in _CTD_PAIR_TYPES
        for curations in sources.curations.values()
        for curation in curations
        if curation.asserted and (curation.head_type, curation.tail_type) == (head, tail)
    )
    if not words:
        raise InputError("--schema derive: no curation concerns these documents", "derive works on --ctd")
    everything = RelationSchema(
        "everything",
        tuple(
            RelationType(name=f"{head} {word} {tail}", head=head, tail=tail, sources=(word,))
            for head, word, tail in words
        ),
    )
    names = {relation.name: (relation.head, relation.sources[0], relation.tail) for relation in everything.relations}
    counts: Counter[tuple[str, str, str]] = Counter()
    for _, annotated in sources.stream(Counts()):
        _, pairs = label(annotated, annotated.curations, replace(rules, schema=everything))
        counts.update(names[name] for pair in pairs for name in pair.relations)
    return derive(counts, config.min_share)


def _second_pass(
    config: BuildDataset, sources: Sources, rules: Rules, encoder: Featurizer, folder: Path, counts: Counts
) -> dict[str, SplitStatistics]:
    statistics = {split: SplitStatistics(rules.schema) for split in SPLITS}
    keep_empty = config.keep_empty or bool(config.train or config.dev or config.test)
    with ExitStack() as stack:
        writers: dict[tuple[str, str], TableWriter[Any]] = {}
        for split in SPLITS:
            (folder / split).mkdir()
            for name, kind in TABLES.items():
                path = folder / split / f"{name}.parquet"
                rows = _EXAMPLES_PER_GROUP if kind is Example else 4096
                writers[split, name] = stack.enter_context(TableWriter(path, kind, rows))
        for split, annotated in sources.stream(counts):
            counts.add(Reason.DOCUMENTS_LABELLED)
            linked, pairs = label(annotated, annotated.curations, rules)
            doc_id = annotated.document.doc_id
            if not keep_empty and not any(pair.relations and not pair.excluded_because for pair in pairs):
                counts.add(Reason.DOCUMENT_WITHOUT_POSITIVE, doc_id)
                counts.add(
                    Reason.NEGATIVE_PAIR_WITHOUT_POSITIVE, count=sum(not pair.excluded_because for pair in pairs)
                )
                continue
            too_long = encoder.count_tokens(annotated.document) > config.max_tokens
            if too_long:
                counts.add(Reason.DOCUMENT_TOO_LONG, doc_id)
                pairs = mark_too_long(pairs)
                for pair in pairs:
                    counts.add(Reason.POSITIVE_PAIR_TOO_LONG if pair.relations else Reason.NEGATIVE_PAIR_TOO_LONG)
            else:
                example = encoder.example(annotated.document, annotated.mentions, linked, pairs, counts)
                writers[split, "documents"].write([annotated.document])
                writers[split, "mentions"].write(annotated.mentions)
                writers[split, "examples"].write([example])
            writers[split, "pairs"].write(pairs)
            statistics[split].add(pairs, too_long=too_long)
            if not too_long:
                counts.add(_WRITTEN[split])
    return statistics


def _no_positive(sources: Sources, counts: Counts) -> InputError:
    """0 positives is a fault of ids or schema, hardly ever of the data: tell which ids found no match."""
    prefixes: Counter[str] = Counter()
    for _, annotated in sources.stream(Counts()):
        mentioned = {mention.entity_id for mention in annotated.mentions}
        for curation in annotated.curations:
            prefixes.update(id_.split(":")[0] for id_ in (curation.head_id, curation.tail_id) if id_ not in mentioned)
    common = ", ".join(f"{prefix} ({count})" for prefix, count in prefixes.most_common(3))
    hint = f"curated ids without a mention, by prefix: {common}" if common else "no curation concerns these documents"
    if too_long := counts[Reason.POSITIVE_PAIR_TOO_LONG]:
        hint = f"{too_long} positive pairs are in documents over --max-tokens"
    return InputError(f"0 positives in {counts[Reason.DOCUMENTS_LABELLED]} documents", hint)

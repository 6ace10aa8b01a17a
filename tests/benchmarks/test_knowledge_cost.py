"""The cost of knowledge: tokens, seconds and memory for an abstract with 0, 1, 2 and 4 branches an entity.

    pytest -m "" tests/benchmarks/test_knowledge_cost.py --benchmark-enable --benchmark-timer=time.process_time

BIOREL_BERT=FOLDER measures a BERT instead. `-s` prints the tokens and the peak memory of a training step;
`--benchmark-json FILE` writes them as extra information.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from biorel.commands import build_graph
from biorel.config.build_graph import BuildGraph
from biorel.counts import Counts
from biorel.dataset.candidates import candidates, entities, link
from biorel.dataset.featurize import Featurizer
from biorel.dataset.labels import ner_labels
from biorel.dataset.relation_schema import load_schema
from biorel.formats.documents import read_documents
from biorel.knowledge.graph import Graph
from biorel.knowledge.inject import Injector
from biorel.knowledge.triples import read_triples
from biorel.model.batch import Batch
from biorel.model.bran import Bran, BranConfig
from biorel.model.losses import ner_loss, task_loss
from biorel.records import Example
from biorel.text.tokenizer import import_subword_nmt
from biorel.training.batches import all_pairs
from biorel.training.collate import Collator
from tests.builders import RESOURCES

pytestmark = pytest.mark.slow

DOCUMENTS = 16
Measured = tuple[Bran, list[Example], Batch]


@pytest.fixture(scope="module")
def graph(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Graph:
    out = tmp_path_factory.mktemp("graph") / "graph"
    mesh = [shared_folder / "mesh" / "2017MeshTree.tsv.gz"]
    ctd = [shared_folder / "ctd_rows" / "chemical_disease_marker_pmids.tsv.gz"]
    build_graph.run(BuildGraph.model_validate({"mesh": mesh, "ctd": ctd, "out": out}))
    return Graph(read_triples(out))


@pytest.fixture(scope="module")
def shared_folder() -> Path:
    folder = Path(os.environ.get("BIOREL_SHARED_DATA", RESOURCES.parents[1] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}")
    return folder


def batch(folder: Path, graph: Graph, branches: int) -> Measured:
    """A network, and the first abstracts of CDR's test set as examples and as one batch."""
    name = os.environ.get("BIOREL_BERT")
    schema = load_schema(RESOURCES / "relations" / "cdr.toml")
    documents = list(read_documents([folder / "cdr" / "CDR_TestSet.PubTator.txt.gz"], Counts()))[:DOCUMENTS]
    labels = ner_labels(("Chemical", "Disease"))
    sizes = {"relations": 2, "ner_labels": len(labels), "pair_features": 0, "branches": branches}
    if name:
        from biorel.training.bert import read_bert

        bert = read_bert(name)
        tokenizer = bert.tokenizer
        network = BranConfig(
            vocabulary=tokenizer.get_vocab_size(),
            encoder="bert",
            bert=bert.config,
            width=bert.width,
            positions=bert.positions,
            cls_id=bert.cls_id,
            sep_id=bert.sep_id,
            unk_id=bert.unk_id,
            **sizes,
        )
        model = Bran(network)
    else:
        texts = (annotated.document.text for annotated in documents)
        tokenizer = import_subword_nmt(folder / "bran" / "just_train_2500.merges.txt", texts)
        model = Bran(BranConfig(vocabulary=tokenizer.get_vocab_size(), **sizes))
    featurizer, inject = Featurizer(tokenizer, schema.labels, labels), Injector(graph, tokenizer, branches)
    examples = []
    for annotated in documents:
        linked = link(annotated.mentions, "drop")
        pairs = candidates(annotated.document.doc_id, entities(linked), schema)
        example = featurizer.example(annotated.document, annotated.mentions, linked, pairs, Counts())
        examples.append(inject(example, annotated.document.text) if branches else example)
    types = tuple((relation.head, relation.tail) for relation in schema.relations)
    return model, examples, Collator("mentions", types, features=0)(examples, all_pairs(examples))


@pytest.mark.parametrize("branches", [0, 1, 2, 4])
def test_cost_of_a_training_step(benchmark, shared_folder, graph, branches):
    torch.set_num_threads(1)
    model, examples, inputs = batch(shared_folder, graph, branches)

    def step() -> None:
        output = model.train()(inputs)
        loss = task_loss(output, inputs, positive_weight=1.0) + ner_loss(
            output.ner_scores, inputs.ner_labels, inputs.token_mask
        )
        loss.backward()

    with torch.profiler.profile(profile_memory=True) as profile:
        step()
    text_tokens = sum(len(example.token_ids) for example in examples) / len(examples)
    branch_tokens = sum(len(tokens) for example in examples for tokens in example.branch_tokens) / len(examples)
    benchmark.extra_info["tokens of text"] = round(text_tokens, 1)
    benchmark.extra_info["tokens of branches"] = round(branch_tokens, 1)
    benchmark.extra_info["peak MiB of the step, an abstract"] = round(_peak(profile) / 2**20 / len(examples), 1)
    benchmark.pedantic(step, rounds=3, warmup_rounds=1)
    print(f"\n{branches} branches: {benchmark.extra_info}")
    assert (branch_tokens > 0) == (branches > 0)


def _peak(profile: torch.profiler.profile) -> int:
    """The largest number of bytes held at one time, from all allocations and releases in order."""
    held = most = 0
    for event in profile.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    return most

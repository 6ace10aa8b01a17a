"""Lists the commands. Each command is one file with one public function `run(config, progress) -> Artifact`.

`COMMANDS` is the only list of the commands. The command line, the pipelines and the tests read this list. To add a
command, write a file in `config/` and a file here, and add a line to `COMMANDS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module

from biorel.artifacts import Artifact
from biorel.config import Config
from biorel.progress import SILENT, Progress

# the headings of `biorel --help`, in their order
EXTRACT = "Extract relations"
DATA = "Find entities and build datasets"
TRAIN = "Train and evaluate"
KNOWLEDGE = "Knowledge and questions"
TOOLS = "Pipelines and tools"

# the help of each first word of a two-word command
GROUPS = {
    "fetch": "Download abstracts, annotations, curations, vocabularies or corpora. "
    "Downloads are verified, and can be resumed.",
}


@dataclass(frozen=True)
class Command:
    """How to find and run one command. The modules of a command are imported only when needed, to keep `--help` fast.

    Attributes:
        config: full name of the command's options class.
        module: full name of the module whose `run` does the work.
        group: the heading under which `biorel --help` lists the command.
        suffix: suffix of the command's output file in a pipeline; empty if the output is a folder.
        gathers: whether, in a pipeline over several seeds, one run of the command takes the outputs of all seeds.
        in_pipelines: whether a pipeline may use the command as a stage.
    """

    config: str
    module: str
    group: str
    suffix: str = ""
    gathers: bool = False
    in_pipelines: bool = True

    @cached_property
    def config_class(self) -> type[Config]:
        """The class of the command's options."""
        module, _, name = self.config.rpartition(".")
        kind: type[Config] = getattr(import_module(module), name)
        return kind

    def run(self, config: Config, progress: Progress = SILENT) -> Artifact:
        """Run the command.

        Args:
            config: an instance of `config_class`.

        Raises:
            BiorelError: the command failed.
        """
        result: Artifact = import_module(self.module).run(config, progress)
        return result


COMMANDS: Mapping[str, Command] = {
    "extract": Command("biorel.config.extract.Extract", "biorel.commands.extract", EXTRACT, suffix=".jsonl"),
    "aggregate": Command("biorel.config.aggregate.Aggregate", "biorel.commands.aggregate", EXTRACT, suffix=".parquet"),
    "export": Command("biorel.config.export.Export", "biorel.commands.export", EXTRACT),
    "tag": Command("biorel.config.tag.Tag", "biorel.commands.tag", DATA),
    "build-dataset": Command("biorel.config.build_dataset.BuildDataset", "biorel.commands.build_dataset", DATA),
    "fetch pubmed": Command(
        "biorel.config.fetch_pubmed.FetchPubmed", "biorel.commands.fetch_pubmed", DATA, in_pipelines=False
    ),
    "fetch pubtator": Command(
        "biorel.config.fetch_pubtator.FetchPubtator", "biorel.commands.fetch_pubtator", DATA, in_pipelines=False
    ),
    "fetch ctd": Command("biorel.config.fetch_ctd.FetchCtd", "biorel.commands.fetch_ctd", DATA, in_pipelines=False),
    "fetch mesh": Command("biorel.config.fetch_mesh.FetchMesh", "biorel.commands.fetch_mesh", DATA, in_pipelines=False),
    "fetch corpus": Command(
        "biorel.config.fetch_corpus.FetchCorpus", "biorel.commands.fetch_corpus", DATA, in_pipelines=False
    ),
    "pretrain": Command("biorel.config.pretrain.Pretrain", "biorel.commands.pretrain", TRAIN),
    "train": Command("biorel.config.train.Train", "biorel.commands.train", TRAIN),
    "ensemble": Command("biorel.config.ensemble.Ensemble", "biorel.commands.ensemble", TRAIN, gathers=True),
    "evaluate": Command("biorel.config.evaluate.Evaluate", "biorel.commands.evaluate", TRAIN),
    "train-tagger": Command("biorel.config.train_tagger.TrainTagger", "biorel.commands.train_tagger", TRAIN),
    "build-linker": Command("biorel.config.build_linker.BuildLinker", "biorel.commands.build_linker", TRAIN),
    "build-graph": Command("biorel.config.build_graph.BuildGraph", "biorel.commands.build_graph", KNOWLEDGE),
    "build-questions": Command(
        "biorel.config.build_questions.BuildQuestions", "biorel.commands.build_questions", KNOWLEDGE
    ),
    "train-reader": Command("biorel.config.train_reader.TrainReader", "biorel.commands.train_reader", KNOWLEDGE),
    "evaluate-reader": Command(
        "biorel.config.evaluate_reader.EvaluateReader", "biorel.commands.evaluate_reader", KNOWLEDGE
    ),
    "ask": Command("biorel.config.ask.Ask", "biorel.commands.ask", KNOWLEDGE, suffix=".jsonl"),
    "run": Command("biorel.config.run.Run", "biorel.commands.run", TOOLS, in_pipelines=False),
    "doctor": Command("biorel.config.doctor.Doctor", "biorel.commands.doctor", TOOLS, in_pipelines=False),
}

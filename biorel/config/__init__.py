"""One frozen model per command, a file for each family of commands; all are imported from here.

A field is a flag: its name is the flag's, its description the help.
"""

from __future__ import annotations

from biorel.config.aggregate import Aggregate
from biorel.config.ask import Ask
from biorel.config.base import Config, load
from biorel.config.build_dataset import BuildDataset
from biorel.config.build_graph import BuildGraph
from biorel.config.build_linker import BuildLinker
from biorel.config.build_questions import BuildQuestions
from biorel.config.doctor import Doctor
from biorel.config.ensemble import Ensemble
from biorel.config.evaluate import Evaluate
from biorel.config.evaluate_reader import EvaluateReader
from biorel.config.export import Export
from biorel.config.extract import Extract
from biorel.config.fetch_corpus import FetchCorpus
from biorel.config.fetch_ctd import FetchCtd
from biorel.config.fetch_mesh import FetchMesh
from biorel.config.fetch_pubmed import FetchPubmed
from biorel.config.fetch_pubtator import FetchPubtator
from biorel.config.pretrain import Pretrain
from biorel.config.run import Run
from biorel.config.tag import Tag
from biorel.config.train import Train
from biorel.config.train_reader import TrainReader
from biorel.config.train_tagger import TrainTagger

__all__ = [
    "Aggregate",
    "Ask",
    "BuildDataset",
    "BuildGraph",
    "BuildLinker",
    "BuildQuestions",
    "Config",
    "Doctor",
    "Ensemble",
    "Evaluate",
    "EvaluateReader",
    "Export",
    "Extract",
    "FetchCorpus",
    "FetchCtd",
    "FetchMesh",
    "FetchPubmed",
    "FetchPubtator",
    "Pretrain",
    "Run",
    "Tag",
    "Train",
    "TrainReader",
    "TrainTagger",
    "load",
]

"""One frozen model per command, a file for each family of commands; all are imported from here.

A field is a flag: its name is the flag's, its description the help.
"""

from __future__ import annotations

from biorel.config.aggregation import Aggregate
from biorel.config.base import Config, load
from biorel.config.dataset import BuildDataset
from biorel.config.diagnosis import Doctor
from biorel.config.ensemble import Ensemble
from biorel.config.evaluation import Evaluate
from biorel.config.extraction import Export, Extract
from biorel.config.fetching import FetchCorpus, FetchCtd, FetchMesh, FetchPubmed, FetchPubtator
from biorel.config.knowledge import BuildGraph
from biorel.config.pipeline import Run
from biorel.config.pretraining import Pretrain
from biorel.config.questions import BuildQuestions
from biorel.config.reader import Ask, EvaluateReader, TrainReader
from biorel.config.tagging import BuildLinker, Tag, TrainTagger
from biorel.config.training import Train

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

"""A small artificial corpus that a reader can learn in seconds: a drug induces the disease named after `caused`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from biorel.commands import build_dataset, build_questions, train_reader
from biorel.config.build_dataset import BuildDataset
from biorel.config.build_questions import BuildQuestions
from biorel.config.train_reader import TrainReader
from tests.command_runs import pubtator

DRUGS = ("lithium", "aspirin", "morphine", "digoxin", "heparin", "insulin")
DISEASES = ("tremor", "ulcer", "nausea", "vertigo", "anemia", "asthma")
TINY: dict[str, Any] = {
    "width": 16,
    "embedding": 16,
    "positions": 4,
    "dilations": (1, 2, 4),
    "epochs": 3,
    "warmup": 5,
    "learning_rate": 0.01,
    "token_budget": 500,
    "threads": 1,
}


def story(number: int) -> str:
    """An abstract in which one drug causes a disease; another drug and another disease are only mentioned."""
    drug, other = DRUGS[number % 6], DRUGS[(number + 1 + number // 6) % 6]
    disease, bystander = DISEASES[(number * 5 + 2) % 6], DISEASES[(number * 5 + 3) % 6]
    return pubtator(
        str(100 + number),
        f"Case {number}: {drug} caused {disease}.",
        f"The patient had {bystander} before and took {other}. After {drug} the {disease} began.",
        [
            (drug, "Chemical", f"D00000{number % 6}"),
            (disease, "Disease", f"D10000{(number * 5 + 2) % 6}"),
            (bystander, "Disease", f"D10000{(number * 5 + 3) % 6}"),
            (other, "Chemical", f"D00000{(number + 1 + number // 6) % 6}"),
            (drug, "Chemical", f"D00000{number % 6}"),
            (disease, "Disease", f"D10000{(number * 5 + 2) % 6}"),
        ],
        [(f"D00000{number % 6}", f"D10000{(number * 5 + 2) % 6}")],
    )


def stories(folder: Path, name: str, numbers: range) -> Path:
    path = folder / f"{name}.txt"
    path.write_text("".join(map(story, numbers)), encoding="utf-8")
    return path


def small_questions(folder: Path) -> Path:
    """Questions about 18 training, 6 dev and 6 test abstracts."""
    given = {"train": range(18), "dev": range(18, 24), "test": range(24, 30)}
    paths = {split: [stories(folder, split, numbers)] for split, numbers in given.items()}
    dataset = BuildDataset.model_validate(
        {**paths, "schema": "cdr", "hypernyms": "off", "vocabulary": 200, "out": folder / "dataset"}
    )
    build_dataset.run(dataset)
    return build_questions.run(BuildQuestions(dataset=folder / "dataset", out=folder / "questions")).path


def tiny_reader(questions: Path, out: Path, **options: Any) -> Path:
    return train_reader.run(TrainReader.model_validate({"questions": questions, "out": out, **TINY, **options})).path


def jsonl(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path

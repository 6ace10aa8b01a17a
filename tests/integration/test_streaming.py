"""build-dataset streams: three times the documents need no more memory, but for what is kept by document."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_runs import SAMPLE, build

# In MB of peak memory. Measured: 338 for 48 documents, 361 for 960, when the buffers of the tables are full, 366 for
# 3,840: ids, the allocator. With all rows of the tables held until the end it was 80 more for 960.
GROWTH = 15
CODE = """
import json, re, sys
from pathlib import Path
from biorel.config.build_dataset import BuildDataset
from biorel.commands import build_dataset
config = BuildDataset.model_validate(json.loads(sys.argv[1]))
build_dataset.run(config)
# not of getrusage, whose peak a process inherits from the one that started it
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024)
"""


def copies(folder: Path, times: int) -> Path:
    """The sample `times` over, each copy with different PMIDs."""
    text = (SAMPLE / "abstracts.pubtator.txt").read_text(encoding="utf-8")
    path = folder / f"{times}.txt"
    with path.open("w", encoding="utf-8") as stream:
        for number in range(times):
            stream.write(re.sub(r"^99(?=\d{6}[|\t])", str(100 + number), text, flags=re.MULTILINE).strip() + "\n\n")
    return path


def peak(source: Path, out: Path) -> tuple[float, dict]:
    """Peak memory in MB of a build in a separate process, and its stats.json."""
    options = {
        "train": [str(source)],
        "schema": "cdr",
        "mesh": [str(SAMPLE / "mesh.tsv")],
        "tokenizer_file": str(out.parent / "tokenizer.json"),
        "out": str(out),
    }
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps(options)],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        check=True,
        timeout=120,
    )
    return float(done.stdout), json.loads((out / "stats.json").read_text())


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_documents(tmp_path):
    build(tmp_path / "first", train=[copies(tmp_path, 1)], schema="cdr", vocabulary=500)
    shutil.copyfile(tmp_path / "first" / "tokenizer.json", tmp_path / "tokenizer.json")
    small, some = peak(copies(tmp_path, 20), tmp_path / "some")
    large, many = peak(copies(tmp_path, 60), tmp_path / "many")
    for count in ("documents", "positives", "negatives", "dropped_hypernym", "too_long"):
        assert many["total"][count] == 3 * some["total"][count]
    assert many["total"]["documents"] == 2880
    assert large - small < GROWTH
    assert large < 1000

"""The fuzzer by hand: `python -m tests.fuzz.run [--reader X ...] [--cases 10000] [--seed 1] [--no-hostile]`.

Each reader runs in a process of its own, so that a crash is seen and its memory is its own. A table at the end tells
cases, other exceptions, the slowest case and the peak of memory; the exit code is 1 where a rule was broken.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.fuzz.hostile import HUNDRED_MB, hostile
from tests.fuzz.mutations import mutated
from tests.fuzz.readers import READERS
from tests.fuzz.trial import MOST_SECONDS, Outcome, attempt

MOST_MEGABYTES = 1000
_LIBRARIES = 150  # MB that a process of its own holds before it reads; that of a test suite holds far more
_MEMORY_LIMIT = 6 * 2**30
_FAULTS_SHOWN = 8
_LONGEST = 900  # seconds of all cases of a reader


def fuzz(name: str, cases: int, seed: int, large: int, folder: Path) -> dict[str, Any]:
    """Run the cases of one reader in this process; a row of the table, with the first faults."""
    reader = READERS[name]
    seeds = reader.seeds()
    path = folder / reader.file
    for other, content in reader.beside().items():
        (folder / other).write_bytes(content)
    if large:
        _forget_peak()
    most_held = max(MOST_MEGABYTES, _peak() + MOST_MEGABYTES - _LIBRARIES)
    faults: list[str] = []
    told: deque[str] = deque(maxlen=2)
    slowest, slowest_case, refused, count = 0.0, "", 0, 0

    def one(case: str, content: Callable[[], bytes]) -> None:
        nonlocal slowest, slowest_case, refused, count
        path.write_bytes(content())
        (folder / "case").write_text(case, encoding="utf-8")
        if large:
            _forget_peak()
        outcome: Outcome = attempt(reader, path)
        count += 1
        refused += bool(outcome.told)
        told.append(outcome.told[:200])
        if outcome.fault:
            faults.append(f"{case}: {outcome.fault}")
        if outcome.seconds > MOST_SECONDS:
            faults.append(f"{case}: {outcome.seconds:.1f} s")
        if outcome.seconds > slowest:
            slowest, slowest_case = outcome.seconds, case

    for content in seeds:
        one("a sound file", partial(bytes, content))
    if refused or faults:
        raise SystemExit(f"{name}: a sound file is refused: {faults or told}")
    for number in range(cases):
        one(f"case {number}", partial(mutated, seeds, random.Random(f"{seed}/{name}/{number}")))
    most = _peak()
    for case, content in hostile(seeds, large) if large else ():
        one(case, content)
        peak = _peak()
        most = max(most, peak)
        if peak > most_held:
            faults.append(f"{case}: {peak:.0f} MB")
    return {
        "reader": name,
        "cases": count,
        "refused": refused,
        "faults": faults,
        "slowest": round(slowest, 2),
        "slowest_case": slowest_case,
        "megabytes": round(most),
    }


def _peak() -> float:
    """The most memory that this process held since `_forget_peak`, in MB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1000


def _forget_peak() -> None:
    """What was held to make a file is no memory of its reader."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def _in_process(name: str, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        command = [sys.executable, "-m", "tests.fuzz.run", "--reader", name, "--child", folder]
        command += ["--cases", str(options.cases), "--seed", str(options.seed), "--large", str(options.large)]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=_LONGEST)
        except subprocess.TimeoutExpired:
            case = (Path(folder) / "case").read_text(encoding="utf-8")
            return {"reader": name, "faults": [f"{case}: no end in {_LONGEST} s"]}
        if done.returncode:
            case = (Path(folder) / "case").read_text(encoding="utf-8")
            kept = Path(tempfile.gettempdir()) / f"crash-{name}"
            kept.write_bytes((Path(folder) / READERS[name].file).read_bytes())
            return {"reader": name, "faults": [f"{case}: the process ended with {done.returncode}; see {kept}"]}
        return dict(json.loads(done.stdout))


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reader", nargs="*", choices=sorted(READERS), default=list(READERS))
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", type=int, default=HUNDRED_MB, help="bytes of the large files; 0: without them")
    parser.add_argument("--scratch", type=Path, help="where files are written")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_LIMIT, _MEMORY_LIMIT))
        print(json.dumps(fuzz(options.reader[0], options.cases, options.seed, options.large, options.child)))
        return
    broken = False
    print("| reader | cases | refused in one line | other exceptions | slowest (s) | peak (MB) |")
    print("|---|---|---|---|---|---|", flush=True)
    for name in options.reader:
        row = _in_process(name, options)
        cells = [
            name,
            row.get("cases"),
            row.get("refused"),
            len(row["faults"]),
            row.get("slowest"),
            row.get("megabytes"),
        ]
        print("|", " | ".join(map(str, cells)), "|", flush=True)
        broken = broken or bool(row["faults"])
        for fault in row["faults"][:_FAULTS_SHOWN]:
            print("   ", name, fault, file=sys.stderr, flush=True)
    sys.exit(broken)


if __name__ == "__main__":
    _main()

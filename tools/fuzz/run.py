"""The fuzzer: mutated and hostile files for every reader, and a table of what happened.

Each reader runs in its own process, so that a crash is noticed and memory is measured for one reader alone. The exit
code is 1 if any reader failed with an unexpected exception, took too long or used too much memory.
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

from tools.fuzz.hostile import HUNDRED_MB, hostile_files
from tools.fuzz.mutations import mutate
from tools.fuzz.readers import READERS
from tools.fuzz.trial import MAX_SECONDS, Outcome, attempt

MAX_MEGABYTES = 1000
_LIBRARIES = 150  # MB of a fresh process with the libraries loaded; a running test suite holds far more
_MEMORY_LIMIT = 6 * 2**30
_FAULTS_SHOWN = 8
_TIMEOUT = 900  # seconds for all cases of one reader


def fuzz(name: str, cases: int, seed: int, large: int, folder: Path) -> dict[str, Any]:
    """Run the cases of one reader in this process.

    Args:
        name: a key of `READERS`.
        cases: number of mutated files.
        seed: of the mutations.
        large: size of the hostile files in bytes; 0 leaves them out.
        folder: where the files are written.

    Returns:
        one row of the table, with all faults.
    """
    reader = READERS[name]
    seeds = reader.seeds()
    path = folder / reader.file
    for other, content in reader.companions().items():
        (folder / other).write_bytes(content)
    if large:
        _reset_peak()
    memory_limit = max(MAX_MEGABYTES, _peak() + MAX_MEGABYTES - _LIBRARIES)
    faults: list[str] = []
    messages: deque[str] = deque(maxlen=2)
    slowest, slowest_case, refused, count = 0.0, "", 0, 0

    def run_case(case: str, content: Callable[[], bytes]) -> None:
        nonlocal slowest, slowest_case, refused, count
        path.write_bytes(content())
        (folder / "case").write_text(case, encoding="utf-8")
        if large:
            _reset_peak()
        outcome: Outcome = attempt(reader, path)
        count += 1
        refused += bool(outcome.message)
        messages.append(outcome.message[:200])
        if outcome.fault:
            faults.append(f"{case}: {outcome.fault}")
        if outcome.seconds > MAX_SECONDS:
            faults.append(f"{case}: {outcome.seconds:.1f} s")
        if outcome.seconds > slowest:
            slowest, slowest_case = outcome.seconds, case

    for content in seeds:
        run_case("a valid file", partial(bytes, content))
    if refused or faults:
        raise SystemExit(f"{name}: a valid file is refused: {faults or messages}")
    for number in range(cases):
        run_case(f"case {number}", partial(mutate, seeds, random.Random(f"{seed}/{name}/{number}")))
    peak = _peak()
    for case, content in hostile_files(seeds, large) if large else ():
        run_case(case, content)
        case_peak = _peak()
        peak = max(peak, case_peak)
        if case_peak > memory_limit:
            faults.append(f"{case}: {case_peak:.0f} MB")
    return {
        "reader": name,
        "cases": count,
        "refused": refused,
        "faults": faults,
        "slowest": round(slowest, 2),
        "slowest_case": slowest_case,
        "megabytes": round(peak),
    }


def _peak() -> float:
    """The peak memory of this process since `_reset_peak`, in MB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1000


def _reset_peak() -> None:
    """Start measuring again, so that memory used to make a file is not counted as memory of its reader."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def _fuzz_in_process(name: str, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        command = [sys.executable, "-m", "tools.fuzz", "--reader", name, "--child", folder]
        command += ["--cases", str(options.cases), "--seed", str(options.seed), "--large", str(options.large)]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=_TIMEOUT)
        except subprocess.TimeoutExpired:
            case = (Path(folder) / "case").read_text(encoding="utf-8")
            return {"reader": name, "faults": [f"{case}: not finished after {_TIMEOUT} s"]}
        if done.returncode:
            case = (Path(folder) / "case").read_text(encoding="utf-8")
            kept = Path(tempfile.gettempdir()) / f"crash-{name}"
            kept.write_bytes((Path(folder) / READERS[name].file).read_bytes())
            return {"reader": name, "faults": [f"{case}: the process ended with {done.returncode}; see {kept}"]}
        return dict(json.loads(done.stdout))


def main() -> None:
    """Parse the options, run the readers, print the table and exit."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("--reader", nargs="*", choices=sorted(READERS), default=list(READERS), help="default: all")
    parser.add_argument("--cases", type=int, default=10_000, help="mutated files for each reader")
    parser.add_argument("--seed", type=int, default=1, help="of the mutations")
    parser.add_argument("--large", type=int, default=HUNDRED_MB, help="bytes of the hostile files; 0: leave them out")
    parser.add_argument("--scratch", type=Path, help="folder for the files")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_LIMIT, _MEMORY_LIMIT))
        print(json.dumps(fuzz(options.reader[0], options.cases, options.seed, options.large, options.child)))
        return
    failed = False
    print("| reader | cases | refused in one line | faults | slowest (s) | peak (MB) |")
    print("|---|---|---|---|---|---|", flush=True)
    for name in options.reader:
        row = _fuzz_in_process(name, options)
        cells = [
            name,
            row.get("cases"),
            row.get("refused"),
            len(row["faults"]),
            row.get("slowest"),
            row.get("megabytes"),
        ]
        print("|", " | ".join(map(str, cells)), "|", flush=True)
        failed = failed or bool(row["faults"])
        for fault in row["faults"][:_FAULTS_SHOWN]:
            print("   ", name, fault, file=sys.stderr, flush=True)
    sys.exit(failed)

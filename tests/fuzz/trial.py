"""One file through one reader: what came of it, how long it took, and whether all that was read fits the tables."""

from __future__ import annotations

import signal
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import astuple, dataclass, is_dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa

from biorel.errors import BiorelError
from biorel.records import Annotated
from biorel.schemas import SCHEMAS, to_row
from tests.fuzz.readers import Reader

MOST_SECONDS = 5.0
_GIVEN_UP = 120


@dataclass(frozen=True)
class Outcome:
    """What came of a case: `told` is a BiorelError's line, `fault` another exception's; empty where there was none."""

    seconds: float
    told: str = ""
    fault: str = ""


def attempt(reader: Reader, path: Path) -> Outcome:
    """Read the file to its end; the time is that of the processor, so that a busy machine makes no case slow."""
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(_GIVEN_UP)
    began = time.process_time()
    try:
        records = list(reader.read(path))
        seconds = time.process_time() - began
        _check(records)
    except BiorelError as error:
        seconds = time.process_time() - began
        long = len(f"{error.message}{error.hint}".replace(str(path.parent), "")) > 1000
        fault = "a message of more than a line" if "\n" in error.message or long else ""
        return Outcome(seconds, error.message, fault)
    except Exception as error:  # this is what is looked for
        return Outcome(time.process_time() - began, "", f"{type(error).__name__}: {error}"[:300])
    finally:
        signal.alarm(0)
    return Outcome(seconds)


def _give_up(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"no end in {_GIVEN_UP} s")


def _check(records: Iterable[Any]) -> None:
    """Raises where a record would not fit its table, or a text is not writable as UTF-8."""
    by_kind: defaultdict[type, list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        parts = (record.document, *record.mentions, *record.curations) if isinstance(record, Annotated) else (record,)
        for part in parts:
            if type(part) in SCHEMAS:
                by_kind[type(part)].append(to_row(part))
            else:
                _encode(part)
        if isinstance(record, Annotated):
            text = record.document.text
            for mention in record.mentions:
                assert text[mention.start : mention.end] == mention.text, mention
    for kind, rows in by_kind.items():
        pa.Table.from_pylist(rows, schema=SCHEMAS[kind])


def _encode(value: Any) -> None:
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, dict):
        for item in value.items():
            _encode(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            _encode(item)
    elif is_dataclass(value) and not isinstance(value, type):
        _encode(astuple(value))

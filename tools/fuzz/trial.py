"""One file through one reader: the outcome, the time, and whether the records fit biorel's tables."""

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
from tools.fuzz.readers import Reader

MAX_SECONDS = 5.0
_TIMEOUT = 120
_MAX_MESSAGE = 1000  # characters


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case.

    Attributes:
        seconds: of processor time.
        message: of a BiorelError; empty if there was none.
        fault: the violated rule or an unexpected exception; empty if there was none.
    """

    seconds: float
    message: str = ""
    fault: str = ""


def attempt(reader: Reader, path: Path) -> Outcome:
    """Read a whole file. Processor time is measured, so that a busy machine does not make a case look slow."""
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(_TIMEOUT)
    began = time.process_time()
    try:
        records = list(reader.read(path))
        seconds = time.process_time() - began
        _check(records)
    except BiorelError as error:
        seconds = time.process_time() - began
        too_long = len(f"{error.message}{error.hint}".replace(str(path.parent), "")) > _MAX_MESSAGE
        fault = "the message is longer than a line" if "\n" in error.message or too_long else ""
        return Outcome(seconds, error.message, fault)
    except Exception as error:  # unexpected exceptions are the faults that the fuzzer looks for
        return Outcome(time.process_time() - began, "", f"{type(error).__name__}: {error}"[:300])
    finally:
        signal.alarm(0)
    return Outcome(seconds)


def _give_up(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"not finished after {_TIMEOUT} s")


def _check(records: Iterable[Any]) -> None:
    """Raise if a record does not fit its table or a text cannot be encoded as UTF-8."""
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

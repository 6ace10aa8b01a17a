"""Write the values of a training run to an event file for TensorBoard.

The training process writes each event at once. torch's SummaryWriter writes from a thread: on a full disk the thread
dies with a traceback, and the file is never closed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

WriteValues = Callable[[int, Mapping[str, float]], None]
# the version by which readers recognise event files
_FORMAT = "brain.Event:2"


@contextmanager
def event_file(folder: Path, first_step: int) -> Iterator[WriteValues]:
    """Open a new event file in a folder; yields a function that writes values by name, `write_values(step, values)`.

    The values are in the file when the function returns.

    Args:
        folder: created where it is missing; it may hold the files of a killed run.
        first_step: TensorBoard ignores the values of older files in the folder from this step on.

    Raises:
        OSError: the disk is full or the folder cannot be written. The file is then closed as well.
    """
    folder.mkdir(exist_ok=True)
    # TensorBoard reads the files of a folder in the order of their names
    with (folder / f"events.out.tfevents.{time.time_ns()}").open("xb") as stream:
        writer = RecordWriter(stream)

        def write(event: Event) -> None:
            event.wall_time = time.time()
            writer.write(event.SerializeToString())
            stream.flush()

        def write_values(step: int, values: Mapping[str, float]) -> None:
            rows = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
            write(Event(step=step, summary=Summary(value=rows)))

        write(Event(step=first_step, file_version=_FORMAT))
        write(Event(step=first_step, session_log=SessionLog(status=SessionLog.START)))
        yield write_values

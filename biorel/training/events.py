"""What TensorBoard shows of a training: a file of events, one row of values a step.

The training writes it itself and at once. torch's SummaryWriter has a thread for that: when the disk is full the thread
dies with a traceback of its own, and the file is never closed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

Tell = Callable[[int, Mapping[str, float]], None]
# as readers of event files know them
_FORMAT = "brain.Event:2"


@contextmanager
def event_file(folder: Path, first_step: int) -> Iterator[Tell]:
    """Open a new file of events in a folder; what is told as `tell(step, values by name)` stands in it on return.

    Args:
        folder: is made where it is missing; the files of a killed training may be in it.
        first_step: from which step on TensorBoard is to forget what those files hold.

    Raises:
        OSError: the disk is full, or the folder cannot be written; the file is closed then, too.
    """
    folder.mkdir(exist_ok=True)
    # files of a folder are read in the order of their names
    with (folder / f"events.out.tfevents.{time.time_ns()}").open("xb") as stream:
        writer = RecordWriter(stream)

        def write(event: Event) -> None:
            event.wall_time = time.time()
            writer.write(event.SerializeToString())
            stream.flush()

        def tell(step: int, values: Mapping[str, float]) -> None:
            rows = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
            write(Event(step=step, summary=Summary(value=rows)))

        write(Event(step=first_step, file_version=_FORMAT))
        write(Event(step=first_step, session_log=SessionLog(status=SessionLog.START)))
        yield tell

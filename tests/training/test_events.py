"""Event files: TensorBoard reads them, also after a killed training and on a full disk."""

from __future__ import annotations

import gc
import threading
import warnings

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from biorel.training.events import event_file
from tests.full_disk import room_for


def values_of(folder, name):
    return [(event.step, event.value) for event in EventAccumulator(str(folder)).Reload().Scalars(name)]


def test_tensorboard_reads_the_written_values(tmp_path):
    with event_file(tmp_path / "events", 1) as write_values:
        write_values(1, {"dev/f1": 0.25, "loss": 3.0})
        write_values(2, {"dev/f1": 0.5})
        # these values survive if the training is killed here
        assert values_of(tmp_path / "events", "dev/f1") == [(1, 0.25), (2, 0.5)]
    assert values_of(tmp_path / "events", "loss") == [(1, 3.0)]


def test_a_resumed_training_replaces_only_the_steps_that_it_repeats(tmp_path):
    for first, value in ((1, 0.25), (3, 0.5)):
        with event_file(tmp_path, first) as write_values:
            for step in range(first, first + 3):
                write_values(step, {"dev/f1": value})
    assert values_of(tmp_path, "dev/f1") == [(1, 0.25), (2, 0.25), (3, 0.5), (4, 0.5), (5, 0.5)]


@pytest.mark.parametrize("size", [0, 50, 200])
def test_a_full_disk_raises_an_error_and_the_file_is_closed(tmp_path, size):
    def train():
        with event_file(tmp_path, 1) as write_values:
            assert threading.active_count() == threads
            for step in range(1, 20):
                write_values(step, {"dev/f1": 0.5})

    threads = threading.active_count()
    with warnings.catch_warnings(record=True) as warned, room_for(size):
        # an unclosed file would give a warning
        warnings.simplefilter("always")
        with pytest.raises(OSError, match="File too large"):
            train()
        gc.collect()
    assert not warned

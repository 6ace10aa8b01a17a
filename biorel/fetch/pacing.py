"""How fast a service may be asked, and the clock by which that is kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

# between two requests pass 1/rate seconds and a tenth more: a delay on the way must not bunch them on arrival
_MARGIN = 1.1


class Clock(NamedTuple):
    """Seconds that only grow, and a pause of some; a test gives its own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


CLOCK = Clock()


class Pace:
    """Holds requests back so that no host gets more than `per_second` of them in any second."""

    def __init__(self, per_second: float, clock: Clock = CLOCK) -> None:
        self._interval = _MARGIN / per_second
        self._clock = clock
        self._next: dict[str, float] = {}

    def wait(self, host: str) -> None:
        """Return when the host may be asked again."""
        now = self._clock.now()
        due = self._next.get(host, now)
        if due > now:
            self._clock.sleep(due - now)
        self._next[host] = max(due, now) + self._interval

"""The number of examples for each property: few in CI, `BIOREL_EXAMPLES=2000 pytest tests/properties` by hand."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

FEW = 25
PROPERTY = settings(
    max_examples=int(os.environ.get("BIOREL_EXAMPLES", FEW)),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

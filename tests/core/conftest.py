"""The examples of a property are the same in every run, unless ``PODSTEP_PROPERTY_RUNS`` asks for more."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.core.trials import ASKED_FOR

# Nor does a property fail because others keep the machine busy.
settings.register_profile(
    "podstep",
    derandomize=not ASKED_FOR,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("podstep")

"""The examples of a property are the same in every run, unless ``PODSTEP_PROPERTY_RUNS`` asks for more."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from scheduler_core.schedulers.columns import placements
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


@pytest.fixture(params=[0, placements.FEW], ids=["summed", "some one by one"])
def counted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sum what the pods of every stretch count for, then only those of long stretches."""
    monkeypatch.setattr(placements, "FEW", request.param)

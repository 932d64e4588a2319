"""The tables of a run with pods that wait, are preempted and are placed."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_core.__main__ import main
from scheduler_core.authoring.examples import find


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the tables of the example `making-room`."""
    made = tmp_path_factory.mktemp("run")
    example = find("making-room")
    assert example is not None
    bundle = made / "bundle.yaml"
    bundle.write_text(example.read(), encoding="utf-8")
    assert main(["query", str(bundle), "SELECT 1", "--save", str(made / "tables")]) == 0
    return made / "tables"

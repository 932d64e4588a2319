"""What a process may import before Django is set up."""

from __future__ import annotations

import subprocess
import sys

from tests.parts import REPOSITORY


def test_uvicorn_loads_the_protocols_before_django_is_set_up() -> None:
    """With several web processes each loads ``--http`` and ``--ws`` first: they may not import models."""
    loaded = subprocess.run(
        [sys.executable, "-c", "import playground.serving.protocols"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert loaded.returncode == 0, loaded.stderr[-2000:]

"""Parts that not every machine has: where they are, and what becomes of a test whose part is missing.

A missing part skips the test. Under ``CI=true`` the skip is a failure (``tests/conftest.py``), with one
exception: what reads the folder of recorded clusters and decisions, where that folder does not exist.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("PODSTEP_SHARED", REPOSITORY.parent / "shared"))
NO_SHARED = "the folder of recordings is not there"
IN_CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def shared(name: str) -> Path:
    """Return the path of a recording, or skip the test where there are no recordings at all."""
    if not SHARED.is_dir():
        pytest.skip(f"{NO_SHARED}: {SHARED}")
    path = SHARED / name
    assert path.exists(), f"{SHARED} has no {name}"
    return path


def program(*names: str) -> str:
    """Return the path of the first of these programs that is installed, or skip the test."""
    # Debian keeps PostgreSQL's server programs off the PATH, a folder per version.
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    folders = os.pathsep.join([os.environ.get("PATH", os.defpath), *map(str, reversed(versions))])
    for name in names:
        if found := shutil.which(name, path=folders):
            return found
    pytest.skip(f"{' or '.join(names)} is not installed (`make test` installs it where it may)")


def chromium() -> str | None:
    """Return the path of the system's Chromium; None stands for the build that Playwright brought."""
    for name in ("chromium-headless-shell", "chromium", "google-chrome"):
        if found := shutil.which(name):
            return found
    if any((Path.home() / ".cache/ms-playwright").glob("chromium*")):
        return None
    pytest.skip("no Chromium is installed (`make test` installs it where it may)")

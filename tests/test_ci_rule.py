"""In CI a skipped test is a failure, unless it reads recordings that are nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts import REPOSITORY

FILES = {
    "test": "import pytest\ndef test_it():\n    pytest.skip('no browser')\n",
    "mark": "import pytest\n@pytest.mark.skip(reason='no browser')\ndef test_it():\n    pass\n",
    "file": "import pytest\npytest.skip('no browser', allow_module_level=True)\n",
    "recordings": "from tests.parts import shared\ndef test_it():\n    shared('dumps')\n",
    "xfail": "import pytest\n@pytest.mark.xfail\ndef test_it():\n    assert False\n",
}


@pytest.mark.parametrize(
    ("name", "ci", "passes"),
    [
        ("test", "true", False),
        ("test", "", True),
        ("mark", "true", False),
        ("file", "true", False),
        ("recordings", "true", True),
        ("xfail", "true", True),
    ],
)
def test_nothing_is_skipped_in_ci(tmp_path: Path, name: str, ci: str, passes: bool) -> None:
    """CI=true fails what is skipped in a test, by a mark or for a whole file; elsewhere it stays a skip."""
    (tmp_path / "test_one.py").write_text(FILES[name])
    env = {**os.environ, "CI": ci, "PODSTEP_SHARED": str(tmp_path / "nowhere")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-c", "pyproject.toml"]
    done = subprocess.run(
        [*command, "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=REPOSITORY,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    # 5: nothing was collected, as when a whole file is skipped
    assert (done.returncode == 0) is passes, done.stdout + done.stderr
    if not passes:
        assert "no browser" in done.stdout

"""In CI a skipped test is a failure, unless it reads recordings that are nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts import REPOSITORY

FILES = {
    "test_call": "import pytest\ndef test_it():\n    'It.'\n    pytest.skip('no browser')\n",
    "test_mark": "import pytest\n@pytest.mark.skip(reason='no browser')\ndef test_it():\n    'It.'\n",
    "test_file": "import pytest\npytest.skip('no browser', allow_module_level=True)\n",
    "test_shared": "from tests.parts import shared\ndef test_it():\n    'It.'\n    shared('dumps')\n",
    "test_xfail": "import pytest\n@pytest.mark.xfail\ndef test_it():\n    'It.'\n    assert False\n",
}


@pytest.mark.parametrize(
    ("ci", "outcomes"),
    [
        ("true", {"test_call": "FAILED", "test_mark": "ERROR", "test_file": "ERROR"}),
        ("", {"test_call": "SKIPPED", "test_mark": "SKIPPED", "test_file": "SKIPPED"}),
    ],
)
def test_nothing_is_skipped_in_ci(tmp_path: Path, ci: str, outcomes: dict[str, str]) -> None:
    """CI=true fails what is skipped in a test, by a mark or for a whole file; elsewhere it stays a skip."""
    for name, text in FILES.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    env = {**os.environ, "CI": ci, "PODSTEP_SHARED": str(tmp_path / "nowhere")}
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # Django and the rest have no part in it
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "tests.conftest"]
    command += ["-c", str(tmp_path / "pytest.ini"), "--continue-on-collection-errors", str(tmp_path)]
    done = subprocess.run(command, cwd=REPOSITORY, env=env, capture_output=True, text=True, check=False)
    _, _, summary = done.stdout.partition("short test summary info")
    # A skip is shown by where it was called, which for a recording is the function that looks for it.
    for name, outcome in {**outcomes, "tests/parts": "SKIPPED", "test_xfail": "XFAIL"}.items():
        lines = [line for line in summary.splitlines() if line.startswith(outcome)]
        assert any(f"{name}.py" in line for line in lines), (name, outcome, done.stdout)
    assert (done.returncode != 0) is bool(ci)


@pytest.mark.xdist_group("rule")
def test_a_group_of_tests_stays_together(request: pytest.FixtureRequest) -> None:
    """Pytest-xdist knows the groups: under a newer pytest than its own it spreads them, and says nothing."""
    grouped = request.config.getoption("loadgroup", default=False)
    assert request.node.nodeid.endswith("@rule" if grouped else request.node.name)

"""The modules in the guides are written as the project's own: the linter and the formatter accept them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.guides.guide import ROOT, blocks

MODULES = {
    path: text
    for guide in sorted((ROOT / "docs").glob("adding-*.md"))
    for path, anchor, text in blocks(guide.name)
    if not anchor and path.endswith(".py")
}


@pytest.mark.parametrize("path", MODULES)
@pytest.mark.parametrize("command", [("check", "--quiet"), ("format", "--check")], ids=["check", "format"])
def test_a_guides_module_needs_no_change(path: str, command: tuple[str, ...]) -> None:
    """Whoever copies it has nothing to correct before the change is accepted."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--stdin-filename", path, "-"],
        cwd=ROOT,
        input=MODULES[path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr

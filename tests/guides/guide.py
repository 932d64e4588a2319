"""Follow a guide: write its code blocks into a copy of the project, and run code there.

A guide names each file literally. "`path`:" followed by a block is a new file; "`path`, below `line`:" adds
the block below the line that contains the text, indented like it, or by four more if it opens a table.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent, indent

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^`([\w./-]+)`(?:, below `([^`\n]+)`)?:\n\n((?:    .*\n|\n)+)", re.MULTILINE)
#: Bytecode is copied with its sources, whose times it knows: compiling them took most of a test's time. What
#: another process writes at the moment has a number behind its name.
IGNORED = shutil.ignore_patterns("*.pyc.*", "node_modules")


class GuideError(AssertionError):
    """A step of a guide that cannot be done as it is written."""


@dataclass(slots=True)
class Followed:
    """A copy of the project with a guide's blocks, and the files that they touched."""

    root: Path
    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which Python imports the copy, and everything else from the project."""
        return {
            **os.environ,
            "PYTHONPATH": f"{self.root}{os.pathsep}{ROOT}",
            "PYTHONDONTWRITEBYTECODE": "",
            "DJANGO_SETTINGS_MODULE": "tests.settings",
        }

    def check(self, code: str) -> str:
        """Run Python code in the copy; return what it prints. Fails with its errors."""
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def test(self, *names: str) -> None:
        """Run test files of the application in a whole copy. Fails with what pytest prints."""
        self.run_tests(*(f"tests/playground/{name}" for name in names))

    def run_tests(self, *paths: str) -> None:
        """Run tests, by their paths, in a whole copy. Fails with what pytest prints."""
        shutil.copy(ROOT / "pyproject.toml", self.root)
        options = ("-q", "-n", "0", "-p", "no:cacheprovider", "--nomigrations")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *paths],
            cwd=self.root,
            env={
                **self.environment,
                "PYTHONPATH": str(self.root),
                "PLAYGROUND_DATA_DIR": f"{self.root}/data",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def blocks(guide: str) -> list[tuple[str, str, str]]:
    """Return each block of a guide: its file, the text of the line above it ("" for a new file), its text."""
    found = BLOCK.findall((ROOT / "docs" / guide).read_text())
    return [(path, anchor, dedent(block).strip("\n") + "\n") for path, anchor, block in found]


def follow(guide: str, root: Path, *copied: str) -> Followed:
    """Write a guide's blocks into a copy of some folders of the project."""
    for name in copied:
        shutil.copytree(ROOT / name, root / name, ignore=IGNORED)
    if "static" in copied:
        # The pages' modules are bundled from what the guide adds, with the libraries of the project.
        (root / "node_modules").symlink_to(ROOT / "node_modules")
        shutil.copy(ROOT / "package-lock.json", root)
    followed = Followed(root)
    for path, anchor, text in blocks(guide):
        place = root / path
        if not anchor:
            if place.exists():
                raise GuideError(f"{path} is not a new file")
            place.parent.mkdir(exist_ok=True)  # one new folder, at most
            place.write_text(text)
            followed.new.append(path)
            continue
        place.write_text(_inserted(path, place.read_text(), anchor, text))
        if path not in followed.changed:
            followed.changed.append(path)
    return followed


def _inserted(path: str, before: str, anchor: str, text: str) -> str:
    lines = before.splitlines(keepends=True)
    found = [number for number, line in enumerate(lines) if anchor in line]
    if len(found) != 1:
        raise GuideError(f"{path} has {len(found)} lines with {anchor}")
    above = lines[found[0]]
    blank = above[: len(above) - len(above.lstrip())]
    opened = "    " if above.rstrip().endswith(("(", "[", "{")) else ""
    return "".join([*lines[: found[0] + 1], indent(text, blank + opened), *lines[found[0] + 1 :]])

"""A fresh environment, without a network: a wheel, and of the packages here only what it declares."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement


def environment(folder: Path, wheel: Path) -> Path:
    """Make an environment with a wheel and its dependencies; returns its folder of programs."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    install = ("install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel))
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *install], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    (installed,) = Distribution.discover(path=[str(packages)])
    for name in _closure(installed.requires or []):
        _link(distribution(name), packages)
    return python.parent


def _closure(requirements: list[str]) -> set[str]:
    """Return the names of all distributions that requirements need, directly or not."""
    found: set[tuple[str, frozenset[str]]] = set()
    waiting = [Requirement(text) for text in requirements]
    while waiting:
        needed = waiting.pop()
        key = (needed.name, frozenset(needed.extras))
        if key in found or (needed.marker and not needed.marker.evaluate({"extra": ""})):
            continue
        found.add(key)
        inner = [Requirement(text) for text in distribution(needed.name).requires or []]
        waiting += [one for one in inner if _holds(one, needed.extras)]
    return {name for name, _ in found}


def _holds(one: Requirement, extras: set[str]) -> bool:
    if one.marker is None:
        return True
    known = {name: str(value) for name, value in default_environment().items()}
    if any(one.marker.evaluate({**known, "extra": extra}) for extra in ("", *extras)):
        one.marker = None
        return True
    return False


def _link(of: Distribution, packages: Path) -> None:
    """Link a distribution's packages and modules, each with its data, into ``packages``."""
    for top in {file.parts[0] for file in of.files or []} - {"..", "__pycache__"}:
        target = packages / top
        if not target.exists():
            target.symlink_to(Path(str(of.locate_file(top))))

"""Build the distributions: podstep, with the pages inside, and podstep-engine, scheduler_core alone.

``python .ci/distributions.py DIR`` writes a wheel and an sdist of each, and what krew installs. Equal sources
give equal bytes: SOURCE_DATE_EPOCH is the time of every file, by default that of the commit. Hatchling
loads this file too, from the repository as from an sdist, for the folders beside the packages.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parents[1]
SITE = {"sdist": "", "wheel": "playground/site/"}
"""Where each target has the folders of pages; settings.SITE_DIR finds them."""
PATTERNS = (
    *("docs/*.md", "docs/*.json", "docs/decisions/*.md", "templates/**/*", "package-lock.json"),
    *("static/css/**/*", "static/img/**/*", "static/js/**/*", "static/vendor/[a-z]*"),
)
ENGINE = "scheduler_core"


class SiteHook(BuildHookInterface):  # type: ignore[type-arg]
    """Include the pages' files, of those that are bundled only the newest."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add each file; raises ValueError where the pages are not bundled, or from other sources."""
        root = Path(self.root)
        if version != "editable":
            build_data["force_include"] |= {
                str(root / name): SITE[self.target_name] + name for name in site_files(root)
            }


def site_files(root: Path) -> Iterator[str]:
    """Yield the paths of the pages' files below ``root``."""
    for pattern in PATTERNS:
        yield from sorted(path.relative_to(root).as_posix() for path in root.glob(pattern) if path.is_file())
    static = root / "static"
    try:
        made = json.loads((static / "built" / "made.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        made = {}
    if made.get("of") != runpy.run_path(str(root / "playground/serving/built.py"))["digest"](static):
        raise ValueError("static/built is not of these sources: run `make setup` first")
    yield from ("static/built/made.json", *(f"static/{name}" for name in sorted(made["files"])))


def main(target: str) -> None:
    """Build both into a folder."""
    os.environ.setdefault("SOURCE_DATE_EPOCH", _committed())
    folder = Path(target).resolve()
    _build(ROOT, folder)
    with tempfile.TemporaryDirectory() as staged:
        _stage_engine(Path(staged))
        _build(Path(staged), folder)
    _pack_plugin(folder / "kubectl-podstep.tar.gz")


def _pack_plugin(path: Path) -> None:
    """Write the launcher of ``kubectl podstep`` with the version, and the licence, as krew unpacks them."""
    version = runpy.run_path(str(ROOT / ENGINE / "__init__.py"))["__version__"]
    launcher = (ROOT / ".ci" / "kubectl-podstep").read_text(encoding="utf-8").replace("@VERSION@", version)
    contents = {
        "kubectl-podstep": (launcher.encode(), 0o755),
        "LICENSE": ((ROOT / "LICENSE").read_bytes(), 0o644),
    }
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for name, (data, mode) in contents.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode, member.mtime = len(data), mode, int(os.environ["SOURCE_DATE_EPOCH"])
            archive.addfile(member, io.BytesIO(data))


def _committed() -> str:
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def _build(root: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(command, cwd=root, check=True)


def _stage_engine(folder: Path) -> None:
    """Copy the engine and write its pyproject.toml from what this one says."""
    shutil.copytree(ROOT / ENGINE, folder / ENGINE, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "README.md"):
        shutil.copy(ROOT / name, folder)
    described = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (folder / "pyproject.toml").write_text("\n".join(_engine_lines(described)), encoding="utf-8")


def _engine_lines(described: dict[str, Any]) -> Iterator[str]:
    """Yield the engine's pyproject.toml; JSON's strings and lists are TOML's too."""
    project = described["project"]
    names = set(described["tool"]["podstep"]["engine"]["dependencies"])
    needed = [one for one in project["dependencies"] if _name(one) in names]
    kept = ("description", "readme", "requires-python", "license", "dynamic")
    yield from (
        "[build-system]",
        *(f"{key} = {json.dumps(one)}" for key, one in described["build-system"].items()),
    )
    yield from ("[project]", 'name = "podstep-engine"', f"dependencies = {json.dumps(needed)}")
    yield from (f"{key} = {json.dumps(project[key])}" for key in kept)
    yield "[project.optional-dependencies]"
    yield from (f"{key} = {json.dumps(one)}" for key, one in project["optional-dependencies"].items())
    yield "[project.scripts]"
    yield from (f"{key} = {json.dumps(one)}" for key, one in project["scripts"].items())
    yield from ("[tool.hatch.version]", f'path = "{ENGINE}/__init__.py"')
    yield from ("[tool.hatch.build.targets.wheel]", f'packages = ["{ENGINE}"]', "")


def _name(requirement: str) -> str:
    """Return the name of a requirement such as ``uvicorn[standard]>=0.34``."""
    return (
        requirement.split("[", maxsplit=1)[0]
        .split(">", maxsplit=1)[0]
        .split("=", maxsplit=1)[0]
        .split("<", maxsplit=1)[0]
    )


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The pages' modules and style sheets, bundled into a few small files in ``static/built/`` at set-up.

The workbench has well over a hundred modules, and a browser with a cold cache spends most of a second
requesting them. ``python playground/serving/built.py`` (run by ``.ci/browser-packages``) has esbuild bundle
`ENTRIES` under names that contain their content's hash. The build records a digest of its sources: if a
source has changed since, or there is no build, pages refer to the sources themselves, which work unbundled.
Only the standard library is used, because the script runs before podstep's dependencies are installed.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

STATIC = Path(__file__).resolve().parents[2] / "static"
BUILT = "built"
SOURCES = ("js", "css")
#: The files that pages refer to, relative to ``static/``.
ENTRIES = (
    "js/base.js",
    "js/compare/main.js",
    "js/pages/review.js",
    "js/pages/rules.js",
    "js/pages/run.js",
    "js/pages/runs.js",
    "js/pages/start.js",
    "js/workbench/main.js",
    "css/sheets/compare.css",
    "css/sheets/reference.css",
    "css/sheets/site.css",
    "css/sheets/start.css",
    "css/sheets/workbench.css",
)
OPTIONS = (
    "--bundle",
    "--splitting",
    "--format=esm",
    "--target=es2022,chrome110,firefox110,safari16.4",
    "--minify",
    "--log-level=warning",
    "--entry-names=[name]-[hash]",
    "--chunk-names=part-[hash]",
    # Libraries stay single files: they are built once and shared with pages that import the sources.
    "--external:./static/vendor/*",
)
MADE = "made.json"  # the digest of the build's sources, and the output file of each entry
PACKED = 1_000  # bytes from which a file is also stored gzipped
KEPT_SECONDS = 24 * 3600


class Output(NamedTuple):
    """The output of an entry: its file, and the files that it imports, relative to ``static/``."""

    name: str
    imports: tuple[str, ...]


def digest(static: Path = STATIC) -> str:
    """Return a digest of every source that a build may include, and of the build's options."""
    seen = hashlib.sha256("\n".join(OPTIONS + ENTRIES).encode())
    for folder in SOURCES:
        for path in sorted((static / folder).rglob("*")):
            if path.is_file():
                seen.update(f"{path.relative_to(static).as_posix()}\n{path.stat().st_size}\n".encode())
                seen.update(path.read_bytes())
    return seen.hexdigest()


def outputs(static: Path = STATIC) -> dict[str, Output]:
    """Return the output of each entry; empty if there is no build or its sources have changed."""
    try:
        made = json.loads((static / BUILT / MADE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(made, dict) or made["of"] != digest(static):
        return {}
    return {entry: Output(one["name"], tuple(one["imports"])) for entry, one in made["outputs"].items()}


def make(static: Path = STATIC) -> None:
    """Rebuild if the sources have changed; raises CalledProcessError if esbuild fails."""
    if outputs(static):
        return
    root = static.parent
    # The native binary: the script in node_modules/.bin needs Node, which is not installed.
    esbuild = next(root.glob("node_modules/@esbuild/*/bin/esbuild"))
    of = digest(static)
    entries = [f"static/{entry}" for entry in ENTRIES]
    _tidy(static / BUILT)
    metafile = root / "node_modules" / f"built-{os.getpid()}.json"
    command = [str(esbuild), *entries, *OPTIONS, "--outbase=static", f"--outdir=static/{BUILT}"]
    subprocess.run([*command, f"--metafile={metafile}"], cwd=root, check=True)  # noqa: S603 - our own arguments
    meta = json.loads(metafile.read_text(encoding="utf-8"))["outputs"]
    metafile.unlink()
    files = [_below(name) for name in meta]
    for name in tuple(files):
        content = (static / name).read_bytes()
        if len(content) >= PACKED:
            files.append(f"{name}.gz")
            _write(static / files[-1], gzip.compress(content, mtime=0))
    found = {
        one["entryPoint"].removeprefix("static/"): {"name": _below(name), "imports": _imports(meta, name)}
        for name, one in meta.items()
        if one.get("entryPoint", "") in entries
    }
    # Last, so that an interrupted build does not count as a build.
    _write(static / BUILT / MADE, json.dumps({"of": of, "outputs": found, "files": files}).encode())


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically: another build, or a server, may be using the same one."""
    made = path.with_name(f"{path.name}.{os.getpid()}")
    made.write_bytes(content)
    made.replace(path)


def _tidy(folder: Path) -> None:
    """Remove the files of earlier builds a day after they were replaced: a running server may use them."""
    now = time.time()
    replaced: list[str] = []
    with suppress(OSError, ValueError, KeyError):  # no build, or one without this list
        replaced = json.loads((folder / MADE).read_text(encoding="utf-8"))["files"]
    for name in replaced:
        with suppress(FileNotFoundError):
            os.utime(folder.parent / name)
    for path in folder.glob("*"):
        with suppress(FileNotFoundError):  # another build may be tidying too
            if path.name == MADE or now - path.stat().st_mtime > KEPT_SECONDS:
                path.unlink()


def _imports(meta: dict[str, dict[str, object]], entry: str) -> list[str]:
    """Return the files that an entry imports statically, directly or indirectly, nearest first."""
    order = [entry]
    for name in order:
        for one in meta[name]["imports"]:  # type: ignore[attr-defined]
            if one["kind"] == "import-statement" and not one.get("external") and one["path"] not in order:
                order.append(one["path"])
    return [_below(name) for name in order[1:]]


def _below(name: str) -> str:
    return name.removeprefix("static/")


if __name__ == "__main__":
    try:
        make()
    except (OSError, StopIteration, subprocess.CalledProcessError) as error:
        sys.exit(f"The pages' modules cannot be packed: {error or 'esbuild is not there'}")

"""The pages' modules and style sheets, bundled into a few small files in ``static/built/`` at set-up.

The workbench has well over a hundred modules, and a browser with a cold cache spends most of a second
requesting them. ``python playground/serving/built.py`` (run by ``.ci/browser-packages``) has esbuild bundle
`BUILDS` under names that contain their content's hash; components (``.tsx``) and npm's packages run in no
browser without it. The build records a digest of its sources: a server that starts after a source has changed
builds again, as does every page under DEBUG.
Only the standard library is used, because the script runs before podstep's dependencies are installed.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

_PACKAGE = Path(__file__).resolve().parents[1]
_WHEEL = _PACKAGE / "site"
STATIC = (_WHEEL if _WHEEL.is_dir() else _PACKAGE.parent) / "static"
BUILT = "built"
SOURCES = ("js", "css")
LOCK_FILE = "package-lock.json"  # the versions of what the modules import from node_modules
#: The files that pages refer to, relative to ``static/``.
ENTRIES = (
    "js/base.js",
    "js/compare/main.tsx",
    "js/lesson/account.ts",
    "js/lesson/done.tsx",
    "js/lesson/author/main.tsx",
    "js/lesson/gallery.ts",
    "js/lesson/main.tsx",
    "js/lesson/review.tsx",
    "js/lesson/sends.ts",
    "js/pages/greed.tsx",
    "js/pages/class.tsx",
    "js/pages/kit.tsx",
    "js/pages/review.tsx",
    "js/pages/rules.js",
    "js/pages/run.tsx",
    "js/pages/runs.js",
    "js/pages/sweep.tsx",
    "js/pages/sweepform.ts",
    "css/sheets/compare.css",
    "css/sheets/kit.css",
    "css/sheets/learn.css",
    "css/sheets/reference.css",
    "css/sheets/site.css",
    "css/sheets/start.css",
    "css/sheets/workbench.css",
)
#: The pages that people come to: each is built by itself, with ``js/base.js``. What it shared with each set
#: of other pages would be a file of its own, nearly fifty for the workbench.
ALONE = ("js/pages/start.js", "js/workbench/page/main.ts")
#: What a file holds inline: each a single script, which imports nothing.
INLINE = ("js/recorded/main.ts", "js/recorded/lesson.ts")
OPTIONS = (
    "--bundle",
    "--jsx=automatic",
    "--jsx-import-source=preact",
    "--tsconfig-raw={}",  # the image builds without tsconfig.json
    "--target=es2022,chrome110,firefox110,safari16.4",
    "--minify",
    "--log-level=warning",
    "--entry-names=[name]-[hash]",
    "--outbase=static",
)
#: The editor and the writer of films stay single files, which are loaded when they are first used.
SPLIT = ("--splitting", "--format=esm", "--chunk-names=part-[hash]", "--external:./static/vendor/*")
#: A recording holds the editor, and writes no films.
WHOLE = ("--format=iife", "--external:./static/vendor/mediabunny.js")
BUILDS = ((ENTRIES, SPLIT), *(((entry,), SPLIT) for entry in ALONE), (INLINE, WHOLE))
MADE = "made.json"  # the digest of the build's sources, and the output file of each entry
PACKED = 1_000  # bytes from which a file is also stored gzipped
KEPT_SECONDS = 24 * 3600


class Output(NamedTuple):
    """The output of an entry: its file, and the files that it imports, relative to ``static/``."""

    name: str
    imports: tuple[str, ...]


class BuildError(Exception):
    """The pages cannot be bundled: the message names the reason and the remedy."""


def digest(static: Path = STATIC) -> str:
    """Return a digest of every source that a build may include, of packages' versions and of the options."""
    seen = hashlib.sha256(repr((OPTIONS, BUILDS)).encode())
    with suppress(FileNotFoundError):
        seen.update((static.parent / LOCK_FILE).read_bytes())
    for folder in SOURCES:
        for path in sorted((static / folder).rglob("*")):
            if path.is_file() and not path.name.endswith(".d.ts"):  # types: some are made after a build
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


def make(static: Path = STATIC) -> dict[str, Output]:
    """Return the output of each entry, built again if a source has changed; raises BuildError."""
    if found := outputs(static):
        return found
    root = static.parent
    # The native binary: the script in node_modules/.bin needs Node, which is not installed.
    esbuild = next(root.glob("node_modules/@esbuild/*/bin/esbuild"), None)
    if esbuild is None:
        raise BuildError("the pages are not bundled, and esbuild is not in node_modules: run `make setup`")
    with _alone(root / "node_modules" / ".built"):
        if not outputs(static):
            _bundle(static, esbuild)
    return outputs(static)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Wait until no other process builds."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _bundle(static: Path, esbuild: Path) -> None:
    of = digest(static)
    _tidy(static / BUILT)
    found: dict[str, object] = {}
    files: list[str] = []
    for entries, options in BUILDS:
        meta = _run(static, esbuild, [f"static/{entry}" for entry in entries], options)
        files += map(_below, meta)
        found |= {
            one["entryPoint"].removeprefix("static/"): {"name": _below(name), "imports": _imports(meta, name)}
            for name, one in meta.items()
            if one.get("entryPoint", "").removeprefix("static/") in entries
        }
    for name in tuple(files):
        content = (static / name).read_bytes()
        if len(content) >= PACKED:
            files.append(f"{name}.gz")
            _write(static / files[-1], gzip.compress(content, mtime=0))
    # Last, so that an interrupted build does not count as a build.
    _write(static / BUILT / MADE, json.dumps({"of": of, "outputs": found, "files": files}).encode())


def _run(
    static: Path, esbuild: Path, entries: list[str], options: tuple[str, ...]
) -> dict[str, dict[str, Any]]:
    """Bundle entries, and return what esbuild says of each output."""
    root = static.parent
    metafile = root / "node_modules" / f"built-{os.getpid()}.json"
    command = [str(esbuild), *entries, *OPTIONS, *options, f"--outdir=static/{BUILT}"]
    command.append(f"--metafile={metafile}")
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)  # noqa: S603 - our own arguments
    if done.returncode:
        raise BuildError(f"esbuild cannot bundle the pages:\n{done.stderr.strip()}")
    meta: dict[str, dict[str, Any]] = json.loads(metafile.read_text(encoding="utf-8"))["outputs"]
    metafile.unlink()
    return meta


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


def _imports(meta: dict[str, dict[str, Any]], entry: str) -> list[str]:
    """Return the files that an entry imports statically, directly or indirectly, nearest first."""
    order = [entry]
    for name in order:
        for one in meta[name]["imports"]:
            if one["kind"] == "import-statement" and not one.get("external") and one["path"] not in order:
                order.append(one["path"])
    return [_below(name) for name in order[1:]]


def _below(name: str) -> str:
    return name.removeprefix("static/")


if __name__ == "__main__":
    try:
        make()
    except (OSError, BuildError) as error:
        sys.exit(f"The pages' modules cannot be bundled: {error}")

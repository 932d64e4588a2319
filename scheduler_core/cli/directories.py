"""A directory that a command names: its files, in the order of their paths, and what is left out of them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from scheduler_core.formats.archive import PEEKED, glance
from scheduler_core.formats.folder import LINK, Folder
from scheduler_core.formats.limits import FormatError, Limits, too_large

_SPECIAL = "a device, a pipe or a socket"


def read_directory(name: str, limits: Limits) -> Folder:
    """Read the files below a directory, up to the limits' bytes and levels.

    Hidden files are skipped. A link to a file is followed if that file is in the directory, as in a mounted
    ConfigMap; a link to a directory never is. Raises FormatError, and OSError for what cannot be read.
    """
    top = Path(name)
    real = top.resolve()
    folder = Folder(name, separator="" if name.endswith(os.sep) else os.sep)
    seen: set[Path] = set()
    size = 0
    for path in _walk(top, limits):
        shown = str(path.relative_to(top))
        target = path.resolve()
        if path.is_symlink():
            if not target.is_file() or not target.is_relative_to(real):
                folder.left.append((shown, LINK))
                continue
        elif not stat.S_ISREG(path.stat().st_mode):
            folder.left.append((shown, _SPECIAL))
            continue
        if target in seen:
            continue
        seen.add(target)
        with path.open("rb") as file:
            data = file.read(PEEKED)
            why = glance(path.name, data)
            if why is not None:
                folder.left.append((shown, why))
                continue
            data += file.read(max(0, limits.size - size - len(data)) + 1)
        size += len(data)
        if size > limits.size:
            raise too_large(limits, "all files of the directory together are ")
        folder.files.append((shown, data))
    return folder


def _walk(top: Path, limits: Limits) -> Iterator[Path]:
    """Yield the paths that are not directories, sorted, without hidden names."""
    count = 0
    waiting = [(top, 0)]
    while waiting:
        path, depth = waiting.pop()
        if depth and (path.is_symlink() or not path.is_dir()):
            yield path
            continue
        if depth > limits.levels:
            raise FormatError(f"directories nested deeper than {limits.levels} levels: pass a subdirectory")
        below = []
        with os.scandir(path) as listed:
            for entry in listed:
                count += 1
                if count > limits.entries:
                    message = (
                        f"more than {limits.entries:,} files and directories below it: pass a subdirectory"
                    )
                    raise FormatError(message)
                if not entry.name.startswith("."):
                    below.append((path / entry.name, depth + 1))
        waiting += sorted(below, reverse=True)

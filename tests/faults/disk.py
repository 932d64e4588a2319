"""A small disk that can be filled, for who may mount one."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

MIB = 1024 * 1024


@contextlib.contextmanager
def small_disk(place: Path, mib: int) -> Iterator[None]:
    """Mount a file system of so many MiB at a folder that is made for it. Raises PermissionError."""
    place.mkdir(parents=True, exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={mib}m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        raise PermissionError(mounted.stderr.decode())
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@contextlib.contextmanager
def filled(folder: Path) -> Iterator[None]:
    """Leave not a byte free of the disk that a folder is on, at most a GiB."""
    filler = folder / "filler"
    try:
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            for size in (MIB, 4096, 1):
                with contextlib.suppress(OSError):
                    while file.tell() < 1024 * MIB:
                        file.write(b"\0" * size)
            os.fsync(file.fileno())
        yield
    finally:
        filler.unlink(missing_ok=True)

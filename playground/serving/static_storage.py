"""Where ``collectstatic`` puts the static files, with a compressed form of each."""

from __future__ import annotations

from collections.abc import Iterator
from filecmp import cmp
from pathlib import Path
from shutil import copyfile
from typing import Any

from django.core.files.storage import FileSystemStorage
from whitenoise.storage import CompressedStaticFilesStorage

SOURCES = ("*.ts", "*.tsx")
"""What pages read as bundles alone (:mod:`playground.serving.built`)."""


class StaticFiles(CompressedStaticFilesStorage):
    """Compresses only what has changed since the last start, and has no compressed form at its source."""

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[tuple[str, str, bool] | tuple[str, None, RuntimeError]]:
        """Compress the files at ``paths``, and yield what was written, as Django asks of a storage."""
        left = {
            path: found
            for path, found in paths.items()
            if not dry_run and (self._is_replaced(path, *found) or not self._is_compressed(path, paths))
        }
        return super().post_process(left, dry_run, **options)

    def _is_replaced(self, path: str, source: FileSystemStorage, name: str) -> bool:
        """Copy a file that differs from its copy though it is older, which Django does not look at."""
        given, copied = source.path(name), self.path(path)
        return not cmp(given, copied, shallow=False) and bool(copyfile(given, copied))

    def _is_compressed(self, path: str, paths: dict[str, Any]) -> bool:
        name = f"{path}.gz"
        if name in paths:
            return True
        made = Path(self.path(name))
        # WhiteNoise gives a form the time of its file once it is written: one that was cut off has another.
        return made.exists() and made.stat().st_mtime == Path(self.path(path)).stat().st_mtime

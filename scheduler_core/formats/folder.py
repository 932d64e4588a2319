"""The files of a directory or an archive, and which of them are manifests, by their content.

A repository or a chart has other files than manifests. They are left out and listed by name in one
warning per reason; a file that was passed directly is always read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePosixPath

from msgspec import Struct, field

from scheduler_core.formats.kustomize import KUSTOMIZATION, PATCH, applied_files, is_kustomization
from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.text import to_text

NOT_A_MANIFEST = "no manifest found"
LINK = "a symbolic link; links are not followed"
NESTED = "a nested archive: pass it as a separate file"

_MANIFEST_SUFFIXES = (".yaml", ".yml", ".json", ".jsonl", ".ndjson")
_NEVER = (".md", ".markdown", ".rst", ".adoc", ".tpl", ".html")  # they may quote manifests
_NAMED = 6  # files that a warning lists

# A first line with content: a YAML key, a list item, a JSON object or array.
_BEGINS = re.compile(r"""(?:-\s+)?["']?[A-Za-z][\w.-]*["']?\s*:(?:\s|$)|[{\[]""")
_PASSED = re.compile(r"\s*(?:#.*|---(?:\s.*)?|%YAML.*|\{\{.*\}\}\s*)?")
_KIND = re.compile(r"""(?:^[- ]{0,4}|[{,]\s*)["']?kind["']?\s*:\s*["']?(?:[A-Z]|\{\{)""", re.MULTILINE)
_VERSION = re.compile(r"""(?:^[- ]{0,4}|[{,]\s*)["']?apiVersion["']?\s*:""", re.MULTILINE)
_RECORD = re.compile(r'"resource"\s*:')
_SNAPSHOT = re.compile(r'"(?:nodes|pods)"\s*:\s*(?:\[|null)')
# An object as Go's clients marshal it: without kind and apiVersion.
_GO_OBJECT = re.compile(r'^\s*\{\s*"metadata"\s*:\s*\{.*"(?:spec|status)"\s*:\s*\{', re.DOTALL)
_TABLE = re.compile(r"(?:sn|name),(?:[a-z_]+,)*(?:cpu_milli|memory_mib)\b")


class Folder(Struct):
    """The files of a directory or an archive, by relative path; ``left`` has those left out, with reasons."""

    name: str
    files: list[tuple[str, bytes | str]] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    separator: str = "/"

    def path_of(self, path: str) -> str:
        """Return the name of one of its files in messages."""
        return f"{self.name.rstrip('/')}{self.separator}{path}" if self.name else path

    def texts(self, limits: Limits) -> Iterator[tuple[str, str | FormatError]]:
        """Yield path and text of every manifest, or the error in reading it; add other files to ``left``."""
        applied = applied_files(self._kustomizations(limits), limits)
        for path, data in self.files:
            why = KUSTOMIZATION if is_kustomization(path) else PATCH if path in applied else ""
            if why:
                self.left.append((path, why))
                continue
            suffixes = [suffix.lower() for suffix in PurePosixPath(path).suffixes]
            try:
                text = to_text(data, limits)
            except FormatError as error:
                if any(suffix in _MANIFEST_SUFFIXES for suffix in suffixes[-2:]):
                    yield path, error
                else:
                    self.left.append((path, NOT_A_MANIFEST))
                continue
            if (suffixes[-1:] and suffixes[-1] in _NEVER) or not is_manifest(text):
                self.left.append((path, NOT_A_MANIFEST))
            else:
                yield path, text

    def _kustomizations(self, limits: Limits) -> Iterator[tuple[str, str]]:
        for path, data in self.files:
            if is_kustomization(path):
                with suppress(FormatError):
                    yield path, to_text(data, limits)

    def read(self, limits: Limits) -> Folder:
        """Return only the manifests, as texts; a file that cannot be decoded is left out with the reason."""
        files: list[tuple[str, bytes | str]] = []
        for path, text in self.texts(limits):
            if isinstance(text, FormatError):
                self.left.append((path, text.message))
            else:
                files.append((path, text))
        return Folder(self.name, files, self.left, self.separator)

    def notes(self) -> list[str]:
        """Return one sentence per reason for leaving out files."""
        by_reason: dict[str, list[str]] = {}
        for path, why in sorted(self.left):
            by_reason.setdefault(why, []).append(path)
        return [f"{_files(paths)} left out: {why}" for why, paths in by_reason.items()]


def _files(paths: list[str]) -> str:
    shown = ", ".join(path[:80] for path in paths[:_NAMED])
    if len(paths) == 1:
        return f"{shown} is"
    more = f" and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else ""
    return f"{len(paths):,} files ({shown}{more}) are"


def is_manifest(text: str, *, beginning: bool = False) -> bool:
    """Return whether a text looks like one that :func:`~scheduler_core.formats.bundle.read_files` reads.

    In a file's ``beginning`` an apiVersion is enough: kubectl prints ``kind`` after the data.
    """
    first = next((line for line in _lines(text) if not _PASSED.fullmatch(line)), "").strip()
    if _TABLE.match(first):
        return True
    if not _BEGINS.match(first):
        return False
    if _KIND.search(text) or (beginning and _VERSION.search(text)):
        return True
    if first[0] not in "{[":
        return False
    if _GO_OBJECT.search(text):
        return True
    return _SNAPSHOT.search(text) is not None or ('"event"' in first and _RECORD.search(first) is not None)


def _lines(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


_NOT_JOINABLE = re.compile(r"^(?:%|\.\.\.|[{\[])", re.MULTILINE)


def joined(folder: Folder) -> list[tuple[str, str]]:
    """Join a folder's YAML texts into one, each under a comment with its path; others remain files.

    A text that cannot be part of a YAML stream remains a file: tables, JSON, texts with directives. Comments
    at the top name the files that were left out.
    """
    parts: list[str] = [f"# {_comment(f'{folder.name}: {note}')}\n" for note in folder.notes()]
    rest: list[tuple[str, str]] = []
    count = 0
    for path, text in folder.files:
        assert isinstance(text, str)
        if _TABLE.match(text.lstrip()) or _NOT_JOINABLE.search(text):
            rest.append((folder.path_of(path), text))
            continue
        mark, end = "---\n" if count else "", "" if text.endswith("\n") else "\n"
        parts.append(f"{mark}# {_comment(path)}\n{text}{end}")
        count += 1
    return [(folder.name, "".join(parts)), *rest] if count else rest


def _comment(text: str) -> str:
    return re.sub(r"[^\x20-\x7e\xa1-\ud7ff\ue000-\ufffd]", "?", text)

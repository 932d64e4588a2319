"""Kustomizations of a directory: which files they apply as patches or read as settings of kustomize.

Nobody applies them here. The resources that they list are read as they are.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scheduler_core.formats.limits import FormatError, Limits
from scheduler_core.formats.skipped_kinds import ValueTally
from scheduler_core.formats.yaml_documents import read_documents

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
KUSTOMIZATION = "not applied: pass the output of `kubectl kustomize` for its directory"
PATCH = "patches and settings of a kustomization: pass the output of `kubectl kustomize` for its directory"

_LISTS = (
    "patches", "patchesStrategicMerge", "patchesJson6902", "configurations", "transformers", "generators",
    "validators", "replacements", "crds",
)  # fmt: skip
"""Fields that list files which are no resources, by their paths or as objects with a path."""


def is_kustomization(path: str) -> bool:
    """Return whether kustomize reads a file as a kustomization, by its name."""
    return path.rpartition("/")[2] in NAMES


def applied_files(kustomizations: Iterable[tuple[str, str]], limits: Limits) -> frozenset[str]:
    """Return the paths of the files that kustomizations apply or read as settings.

    ``kustomizations`` are paths with texts; one that is not valid YAML names no files.
    """
    return frozenset(path for each in kustomizations for path in _named_in(*each, limits))


def _named_in(path: str, text: str, limits: Limits) -> Iterator[str]:
    try:
        documents = list(read_documents(text, limits, ValueTally(limits)))
    except FormatError:
        return
    for _, value in documents:
        for named in _paths(value if isinstance(value, Mapping) else {}):
            yield posixpath.normpath(posixpath.join(posixpath.dirname(path), named))


def _paths(value: Mapping[str, Any]) -> Iterator[str]:
    for field in _LISTS:
        listed = value.get(field)
        for entry in listed if isinstance(listed, list) else ():
            named = entry.get("path") if isinstance(entry, Mapping) else entry
            if isinstance(named, str) and "\n" not in named:
                yield named
    openapi = value.get("openapi")
    if isinstance(openapi, Mapping) and isinstance(openapi.get("path"), str):
        yield openapi["path"]

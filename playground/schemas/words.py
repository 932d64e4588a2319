"""The descriptions in ``words.yaml``, by name."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).with_name("words.yaml")


@cache
def words() -> dict[str, dict[str, Any]]:
    """Return the tables: kinds, fields, choices, labels, annotations, resources."""
    read: dict[str, dict[str, Any]] = yaml.safe_load(FILE.read_text())
    return read


def of_field(path: str) -> str:
    """Return the description of a field, by its path or by the last names of the path; "" without one."""
    fields = words()["fields"]
    parts = path.split(".")
    endings = ("*." + ".".join(parts[-count:]) for count in (2, 1))
    return next((str(fields[name]) for name in (path, *endings) if name in fields), "")


def of_choice(path: str, word: str) -> str:
    """Return the description of one of the possible values of a field."""
    return str(words()["choices"].get(f"{path.rpartition('.')[2]}.{word}", ""))

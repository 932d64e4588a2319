"""docker-compose.yml as the tests read it: its variables filled in, its addresses moved to this machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.parts import REPOSITORY

FILE = REPOSITORY / "docker-compose.yml"
VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def variables(text: str) -> set[str]:
    """Return the names of the variables that a compose file takes from the shell."""
    return {match[1] for match in VARIABLE.finditer(text)}


def read(values: Mapping[str, str], path: Path = FILE) -> dict[str, Any]:
    """Return the compose file with its ``${NAME:-default}`` replaced, as Compose does at first."""

    def value(match: re.Match[str]) -> str:
        # `:-` takes the default for an empty value, too
        return values.get(match[1]) or match[2] or ""

    return fill(yaml.safe_load(path.read_text()), value)


def fill(node: Any, value: Any) -> Any:
    """Return a YAML tree with the variables in its strings replaced."""
    if isinstance(node, dict):
        return {key: fill(item, value) for key, item in node.items()}
    if isinstance(node, list):
        return [fill(item, value) for item in node]
    return VARIABLE.sub(value, node) if isinstance(node, str) else node


def moved(text: str, places: Mapping[str, str]) -> str:
    """Return a word of a command or a value with the addresses of containers replaced by this machine's."""
    # One pass, since a replacement may look like an address itself (port 48000 holds "8000").
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(there)}(?!\w)" for there in places))
    return pattern.sub(lambda match: places[match[0]], text)

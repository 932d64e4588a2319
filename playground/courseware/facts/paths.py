"""A value inside documents: ``spec.containers[0].name``, ``steps[job=a].share``, ``items#``."""

from __future__ import annotations

import re
from typing import Any

from playground.courseware.expression import FactError
from scheduler_core.kubernetes.names import did_you_mean

LONGEST = 200  # characters of a path
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+|[\w-]+=[^\[\]]+)\]")


def inside(value: Any, path: str) -> Any:
    """Return the text, number or list of texts at a path; ``#`` at its end counts. Raises FactError."""
    if len(path) > LONGEST:
        raise FactError(f"a path has at most {LONGEST} characters")
    for key, item in _STEP.findall(path.removesuffix("#")):
        value = _item(value, item) if item else _field(value, key)
    if path.endswith("#"):
        return len(value) if isinstance(value, (list, dict)) else 0
    if isinstance(value, dict):
        raise FactError(f"{path} has fields: name one of {', '.join(list(value)[:20])}")
    if isinstance(value, list) and not all(isinstance(one, str) for one in value):
        raise FactError(f"{path} is a list of {len(value)}: name an item by its number, or count them by #")
    return "" if value is None else value


def _field(value: Any, key: str) -> Any:
    if not isinstance(value, dict):
        raise FactError(f"there is no {key!r} in what has no fields")
    if key not in value:
        meant = did_you_mean(key, value) or f": there are {', '.join(list(value)[:30])}"
        raise FactError(f"there is no {key!r}{meant}")
    return value[key]


def _item(value: Any, item: str) -> Any:
    if not isinstance(value, list):
        raise FactError(f"[{item}] is an item of a list, and this is none")
    name, equals, wanted = item.partition("=")
    if not equals:
        if int(item) >= len(value):
            raise FactError(f"there is no item {item} in a list of {len(value)}")
        return value[int(item)]
    found = next((one for one in value if isinstance(one, dict) and str(one.get(name)) == wanted), None)
    if found is None:
        raise FactError(f"no item has the {name} {wanted!r}")
    return found

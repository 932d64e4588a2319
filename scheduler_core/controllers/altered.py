"""A faster ``dataclasses.replace`` for pods, the objects that change most often."""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import Any

from scheduler_core.objects.model import Pod

_NAMES = tuple(field.name for field in fields(Pod))
_PLACES = {name: place for place, name in enumerate(_NAMES)}
_values = attrgetter(*_NAMES)


def altered(pod: Pod, **changes: Any) -> Pod:
    """Return a copy of the pod with some fields changed."""
    values = list(_values(pod))
    for name, value in changes.items():
        values[_PLACES[name]] = value
    return Pod(*values)

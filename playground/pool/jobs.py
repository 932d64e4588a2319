"""The modules of the functions run by the pool's processes, imported before a process is forked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_MODULES: dict[str, None] = {}  # in the order of registration


def pool_job(function: F) -> F:
    """Register the function's module, so that each process has imported it already; return the function."""
    _MODULES[function.__module__] = None
    return function


def modules() -> list[str]:
    """Return the names of the modules of all functions registered so far."""
    return list(_MODULES)

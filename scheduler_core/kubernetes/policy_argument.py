"""The argument with which a v1 Policy creates a predicate or a priority."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class PolicyArgument(NamedTuple):
    """One kind of argument, with its ``fields`` and an ``example`` of them.

    The policy's reader knows each field by its name: ``label``, ``labels``, ``presence`` and ``shape``. It
    passes their values to ``make`` as keywords.
    """

    kind: str
    fields: tuple[str, ...]
    example: str
    make: Callable[..., Any]

    @property
    def outline(self) -> str:
        """The kind with the names of its fields."""
        return f"{self.kind} {{{', '.join(self.fields)}}}"

    @property
    def text(self) -> str:
        """The syntax in a policy, by an example."""
        return f"{self.kind}: {self.example}"

"""Where a kube-scheduler deviates from its documentation, and which code reproduces it.

A release has a table of its quirks. The code that reproduces one is marked with :func:`quirk`, so that a
row without code, or code without a row, is detected. A rule that is subject to a quirk has a method
``under``, which returns the rule with other quirks in force; :func:`in_variant` calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from msgspec import Struct

T = TypeVar("T", bound=Callable[..., Any])
Rule = TypeVar("Rule")

UPSTREAM = "https://github.com/kubernetes/kubernetes"


class Upstream(Struct, frozen=True):
    """An issue or pull request of kubernetes/kubernetes, and how it relates to the quirk."""

    number: int
    about: str
    pull: bool = True

    @property
    def name(self) -> str:
        """Return the reference as GitHub writes it."""
        return f"kubernetes/kubernetes#{self.number}"

    @property
    def url(self) -> str:
        """Return the URL of the issue or pull request."""
        return f"{UPSTREAM}/{'pull' if self.pull else 'issues'}/{self.number}"


class Quirk(Struct, frozen=True):
    """One deviation: ``does`` is the behaviour, reproduced exactly, ``should`` the documented behaviour.

    ``where`` is the key of the predicate or priority, ``Preemption`` or ``Policy``; ``function`` is the
    function of v1.11 that causes it. ``upstream`` is empty if no issue is known.
    """

    id: str
    where: str
    does: str
    should: str
    function: str
    upstream: tuple[Upstream, ...] = ()


REPRODUCED_BY: dict[str, str] = {}
"""Quirk id to the qualified name of the code that reproduces it; filled when that code is imported."""


def quirk(name: str) -> Callable[[T], T]:
    """Mark the function or class that reproduces the quirk with an id."""

    def mark(code: T) -> T:
        REPRODUCED_BY[name] = f"{code.__module__}.{code.__qualname__}"
        return code

    return mark


def in_variant(rule: Rule, quirks: frozenset[str]) -> Rule:
    """Return a rule with exactly these quirks in force; return one without quirks unchanged."""
    under = getattr(rule, "under", None)
    return rule if under is None else cast("Rule", under(quirks))

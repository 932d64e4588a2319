"""The facts of a played scenario that a lesson may use: a function each, in the module of its subject.

A module names its facts in its ``FACTS``; docs/writing-a-lesson.md has a row for each. The first argument,
the moment, is not an expression's. ``at`` is a step, else that of the stop; ``of`` another scenario of the
lesson. Pods are named without the namespace ``default``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from playground.courseware.expression import FactError, called, evaluate
from playground.courseware.facts import (
    amounts,
    best,
    cache,
    claims,
    cycle,
    extenders,
    lists,
    outcomes,
    preemption,
    queue,
    scores,
    timeline,
    trace,
)
from playground.courseware.facts.moment import ShownMoment
from playground.courseware.model import LessonError
from scheduler_core import interrupts
from scheduler_core.kubernetes.names import did_you_mean

Fact = Callable[..., Any]
_SUBJECTS = (
    cycle,
    scores,
    preemption,
    outcomes,
    best,
    timeline,
    queue,
    cache,
    extenders,
    claims,
    amounts,
    lists,
    trace,
)
FACTS: Mapping[str, Fact] = {fact.__name__: fact for subject in _SUBJECTS for fact in subject.FACTS}
"""The facts by name."""

WORKED_OUT = frozenset(
    (
        "allocatable", "requested", "free", "request", "quantity", "written", "tipping", "count", "distinct",
        "largest", "smallest", "absolute",
    )
)  # fmt: skip
"""The facts that no view shows, and learners work out, from manifests or from scores that they see."""


def check_names(text: str, further: Sequence[str] = ()) -> None:
    """Refuse an expression that calls a fact that there is not. Raises FactError."""
    known = (*FACTS, *further)
    for name in called(text):
        if name not in known:
            suggestion = did_you_mean(name, known) or f": the facts are {', '.join(known)}"
            raise FactError(f"there is no fact {name!r}{suggestion}")


def value(
    text: str,
    moment: ShownMoment,
    names: Mapping[str, Any] | None = None,
    further: Mapping[str, Fact] | None = None,
) -> Any:
    """Compute an expression at a moment. Raises FactError.

    ``names`` are variables; ``further`` are facts of the task beside :data:`FACTS`.
    """
    facts = {name: partial(fact, moment) for name, fact in FACTS.items()}
    interrupts.look()
    try:
        return evaluate(text, {**facts, **(further or {})}, names or {})
    except LessonError as error:
        raise FactError(str(error)) from None


def at_question(moment: ShownMoment) -> ShownMoment:
    """Return the moment as learners see it while the question is open."""
    return replace(moment, open_question=True)


def signature(name: str) -> str:
    """Return a fact's name with its parameters, as the document of lessons has it."""
    parameters = list(inspect.signature(FACTS[name]).parameters.values())[1:]
    shown = [
        f"*{one.name}"
        if one.kind is one.VAR_POSITIONAL
        else one.name
        if one.default is one.empty
        else f"{one.name}=…"
        for one in parameters
    ]
    return f"{name}({', '.join(shown)})"

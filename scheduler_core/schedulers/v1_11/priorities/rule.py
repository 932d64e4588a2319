"""The declaration of a priority: everything that other packages have to know about it.

A module of this package declares its priorities as ``RULES``;
:mod:`scheduler_core.schedulers.v1_11.priorities` finds them there. The providers, the plugins' tables, the
descriptions of scores and the reference pages are derived from the declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct, field

from scheduler_core.kubernetes.policy_argument import PolicyArgument
from scheduler_core.schedulers.columns.reads import Reads
from scheduler_core.schedulers.profiles.priority import Mapped, MapReduce, Priority
from scheduler_core.schedulers.v1_11.priorities.line import Description, LineQuestion

DEFAULT_PROVIDER = "DefaultProvider"
AUTOSCALER_PROVIDER = "ClusterAutoscalerProvider"

TENTHS = "scores are whole numbers from 0 to 10, not 0 to 100"


class ScorePlugin(NamedTuple):
    """The plugin that evaluates the priority at score; ``differs`` is what today's does otherwise."""

    name: str
    differs: str = ""


class PriorityRule(Struct, frozen=True, kw_only=True):
    """A priority, by its name in v1.11; ``place`` sorts the names, and one in between inserts.

    ``text`` and ``formula`` are shown on the reference page. ``run`` is ``None`` if a policy's argument,
    whose kind is then the name, creates the priority: ``made`` is its class.
    ``weights`` are those in v1.11's algorithm providers. ``describe`` explains a score, from the question
    and the priority's steps; without it the nearest base class's description is used.
    """

    name: str
    place: int
    run: Priority | None = None
    made: type[MapReduce] | None = None
    argument: PolicyArgument | None = None
    text: str = ""
    formula: str = ""
    weights: Mapping[str, int] = field(default_factory=dict)
    plugins: tuple[ScorePlugin, ...] = ()
    describe: Callable[[LineQuestion, Any], Description] | None = None

    @property
    def steps(self) -> type:
        """The class of the priority, or of its Map and Reduce."""
        return self.made or type(self.run.steps if isinstance(self.run, Mapped) else self.run)

    @property
    def reads(self) -> Reads:
        """The fields that a score depends on."""
        source = self.run or self.made
        if source is None:
            raise ValueError(f"{self.name} declares neither a priority nor its class")
        return source.reads


def in_both(weight: int) -> dict[str, int]:
    """Return the same weight for both providers."""
    return {DEFAULT_PROVIDER: weight, AUTOSCALER_PROVIDER: weight}

"""What a scheduler runs in a cycle: predicates in order, priorities with weights, and options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from scheduler_core.kubernetes.problems import Problem
from scheduler_core.schedulers.extenders.configuration import Extender
from scheduler_core.schedulers.profiles.predicate import Predicate
from scheduler_core.schedulers.profiles.priority import Priority
from scheduler_core.settings.settings import DEFAULT_SETTINGS, Settings

DEFAULT_HARD_POD_AFFINITY_WEIGHT = 1


class WeightedPriority(Struct, frozen=True):
    """A priority under its name in the policy."""

    name: str
    weight: int
    run: Priority


class Profile(Struct, frozen=True):
    """The predicates, priorities and options that run in a cycle.

    ``never_run`` names predicates that are configured but not evaluated, ``quirks`` the ids of the
    deviations in force (:data:`scheduler_core.schedulers.v1_11.quirks.QUIRKS`), ``arguments`` the policy's
    arguments of predicates and priorities, by their name. ``preempts`` is whether pods without a feasible
    node preempt others, ``framework_preemption`` whether they do so by the rules of 1.22's DefaultPreemption:
    of pods with equal priority those that started last are evicted, and a node without victims cannot be
    chosen. ``extenders`` are asked in order.
    """

    order: tuple[str, ...]
    predicates: tuple[Predicate, ...]
    priorities: tuple[WeightedPriority, ...]
    always_check_all: bool = False
    never_run: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()
    quirks: frozenset[str] = frozenset()
    hard_weight: int = DEFAULT_HARD_POD_AFFINITY_WEIGHT
    settings: Settings = DEFAULT_SETTINGS
    arguments: Mapping[str, Any] = field(default_factory=dict)
    preempts: bool = True
    framework_preemption: bool = False
    extenders: tuple[Extender, ...] = ()

    def summary(self) -> dict[str, Any]:
        """Return the JSON summary of the profile that the workbench displays."""
        return {
            "predicates": list(self.order),
            "neverRun": list(self.never_run),
            "priorities": [[p.name, p.weight] for p in self.priorities],
            "arguments": dict(self.arguments),
            "hardPodAffinitySymmetricWeight": self.hard_weight,
            "alwaysCheckAllPredicates": self.always_check_all,
            "quirks": self.settings.quirks,
            "predicateOrder": self.settings.predicate_order,
            "cache": self.settings.cache,
            "equivalenceClass": self.settings.equivalence_class,
            "audit": self.settings.audit,
            "staleWrites": self.settings.stale_writes,
            "extenders": [extender.url for extender in self.extenders],
            "warnings": [problem.message for problem in self.warnings],
        }

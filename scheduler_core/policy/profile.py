"""A v1 ``Policy`` compiled to what the scheduler runs: predicates in order, priorities with weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from scheduler_core.policy.order import UNREGISTERED, expanded, keys_of, static_order
from scheduler_core.policy.providers import (
    DEFAULT_HARD_POD_AFFINITY_WEIGHT,
    DEFAULT_PREDICATES,
    DEFAULT_PRIORITIES,
    MANDATORY_PREDICATES,
)
from scheduler_core.predicates import PREDICATES, CheckNodeLabelPresence, CheckServiceAffinity, Predicate
from scheduler_core.priorities import (
    PRIORITIES,
    InterPodAffinity,
    LabelPreference,
    Mapped,
    Priority,
    ResourceAllocation,
    ServiceAntiAffinity,
    Shape,
)
from scheduler_core.quirks import quirk
from scheduler_core.scenario import Problem
from scheduler_core.settings import DEFAULT_SETTINGS, Settings


class PolicyError(ValueError):
    """A policy that cannot be used. ``problems`` holds everything wrong with it, at once."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("; ".join(f"{p.path}: {p.message}" for p in problems[:10]))


@dataclass(frozen=True, slots=True)
class WeightedPriority:
    """A priority under the name that the policy gives it."""

    name: str
    weight: int
    run: Priority


@dataclass(frozen=True, slots=True)
class Profile:
    """What runs in a cycle.

    ``never_run`` names predicates that are configured and not evaluated, ``quirks`` the ids of the
    deviations in force (:data:`scheduler_core.quirks.QUIRKS`), ``arguments`` what the policy gives to
    its predicates and priorities, by their name.
    """

    order: tuple[str, ...]
    predicates: tuple[Predicate, ...]
    priorities: tuple[WeightedPriority, ...]
    always_check_all: bool = False
    never_run: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()
    quirks: frozenset[str] = DEFAULT_SETTINGS.quirk_ids
    hard_weight: int = DEFAULT_HARD_POD_AFFINITY_WEIGHT
    settings: Settings = DEFAULT_SETTINGS
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def summary(self) -> dict[str, Any]:
        """Describe the profile as the workbench shows it."""
        return {
            "predicates": list(self.order),
            "neverRun": list(self.never_run),
            "priorities": [[p.name, p.weight] for p in self.priorities],
            "arguments": dict(self.arguments),
            "hardPodAffinitySymmetricWeight": self.hard_weight,
            "alwaysCheckAllPredicates": self.always_check_all,
            "quirks": self.settings.quirks,
            "predicateOrder": self.settings.predicate_order,
            "warnings": [problem.message for problem in self.warnings],
        }


def compile_policy(policy: Mapping[str, Any] | None, settings: Settings = DEFAULT_SETTINGS) -> Profile:
    """Compile a Policy document; ``None`` is the DefaultProvider.

    A predicate without ``order`` runs in the static order that ``settings`` names, one that is not in
    that order never runs; predicates with ``order`` come first, ascending (proposal predicates-ordering).

    Raises:
        PolicyError: With everything that is wrong, each with its path.
    """
    reader = _Reader(policy or {})
    hard_weight = reader.hard_weight()
    predicates = reader.predicates()
    predicates = _taken_apart(predicates, settings)
    order, never_run = _arrange(predicates, settings, reader)
    priorities = reader.priorities(hard_weight)
    always = reader.flag("alwaysCheckAllPredicates")
    if reader.problems:
        raise PolicyError(reader.problems)
    return Profile(
        order,
        tuple(predicates[key].run for key in order),
        priorities,
        always,
        never_run,
        tuple(reader.warnings),
        settings.quirk_ids,
        hard_weight,
        settings,
        reader.arguments(),
    )


@dataclass(frozen=True, slots=True)
class _Named:
    """A predicate and its ``order``; ``entry`` is the path of what named it, which may name several."""

    run: Predicate
    order: int | None = None
    entry: str = ""


def _taken_apart(predicates: Mapping[str, _Named], settings: Settings) -> dict[str, _Named]:
    """Put the members in the place of a bundle that the static order does not list.

    A bundle that the policy itself gives an ``order`` stays one: its place is the policy's to choose.
    """
    apart: dict[str, _Named] = {}
    for key, named in predicates.items():
        members = expanded(settings.predicate_order, key) if named.order is None else ()
        for member in members:
            apart.setdefault(member, predicates.get(member, _Named(PREDICATES[member])))
        if not members:
            apart[key] = named
    return apart


@quirk("unknown-predicate-never-run")
def _arrange(
    predicates: Mapping[str, _Named], settings: Settings, reader: _Reader
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the keys in the order they run in, and those that never do."""
    static = static_order(settings.predicate_order)
    place = {key: number for number, key in enumerate(static)}
    ordered = [
        (p.order, place.get(key, len(static)), key) for key, p in predicates.items() if p.order is not None
    ]
    given = {p.entry: p.order for p in predicates.values() if p.order is not None}
    if len(set(given.values())) < len(given):
        reader.warn("predicates", "the order among predicates with an equal order is not guaranteed")
    first = [key for _, _, key in sorted(ordered, key=lambda entry: entry[:2])]
    rest = [key for key in static if key in predicates and predicates[key].order is None]
    unplaced = tuple(key for key in predicates if key not in first and key not in rest)
    if "unknown-predicate-never-run" not in settings.quirk_ids:
        return (*first, *rest, *unplaced), ()
    for key in unplaced:
        reader.warn("predicates", f"{key} is registered but never evaluated: it is not in the static order")
    return (*first, *rest), unplaced


class _Reader:
    """Reads a policy field by field and collects what is wrong."""

    def __init__(self, policy: Mapping[str, Any]) -> None:
        self.policy = policy
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []

    def fail(self, path: str, message: str) -> None:
        self.problems.append(Problem(message, path))

    def warn(self, path: str, message: str) -> None:
        self.warnings.append(Problem(message, path))

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of a policy that was read without a problem, by name."""
        listed = [*(self.policy.get("predicates") or ()), *(self.policy.get("priorities") or ())]
        given = [(entry["name"], entry["argument"]) for entry in listed if entry.get("argument") is not None]
        return {key: argument for name, argument in given for key in keys_of(name)}

    def flag(self, name: str) -> bool:
        value = self.policy.get(name)
        if value is not None and not isinstance(value, bool):
            self.fail(name, "must be true or false")
        return value is True

    def hard_weight(self) -> int:
        value = self.policy.get("hardPodAffinitySymmetricWeight")
        if value is None or value == 0:
            return DEFAULT_HARD_POD_AFFINITY_WEIGHT
        if not _is_integer(value) or not 1 <= value <= 100:
            self.fail("hardPodAffinitySymmetricWeight", "must be an integer from 1 to 100")
            return DEFAULT_HARD_POD_AFFINITY_WEIGHT
        return int(value)

    def _entries(self, name: str) -> list[tuple[str, Mapping[str, Any]]] | None:
        listed = self.policy.get(name)
        if listed is None:
            return None
        if not isinstance(listed, list):
            self.fail(name, "must be a list")
            return []
        entries = []
        for place, entry in enumerate(listed):
            path = f"{name}[{place}]"
            if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str) or not entry["name"]:
                self.fail(path, "must be an object with a name")
            else:
                entries.append((path, entry))
        return entries

    def predicates(self) -> dict[str, _Named]:
        entries = self._entries("predicates")
        if entries is None:
            return {key: _Named(PREDICATES[key]) for key in DEFAULT_PREDICATES}
        found: dict[str, _Named] = {}
        for path, entry in entries:
            order = self._order(path, entry)
            for key in keys_of(entry["name"]):
                run = self._predicate(path, key, entry)
                if key in found:
                    self.fail(f"{path}.name", f"{entry['name']} is named twice")
                elif run is not None:
                    found[key] = _Named(run, order, path)
        for key in MANDATORY_PREDICATES:
            found.setdefault(key, _Named(PREDICATES[key]))
        return found

    def _order(self, path: str, entry: Mapping[str, Any]) -> int | None:
        order = entry.get("order")
        if order is None:
            return None
        if not _is_integer(order) or order <= 0:
            self.fail(f"{path}.order", "must be a positive integer")
            return None
        return int(order)

    def _predicate(self, path: str, key: str, entry: Mapping[str, Any]) -> Predicate | None:
        argument = entry.get("argument")
        if argument is not None:
            return self._custom_predicate(f"{path}.argument", argument)
        if key in UNREGISTERED:
            self.fail(f"{path}.name", f"{key} is not registered in v1.11 with its default feature gates")
            return None
        if key not in PREDICATES:
            known = ", ".join(sorted(PREDICATES))
            self.fail(f"{path}.name", f"unknown predicate {key!r}; known without an argument: {known}")
            return None
        return PREDICATES[key]

    def _custom_predicate(self, path: str, argument: Any) -> Predicate | None:
        kind, body = self._single(path, argument, ("labelsPresence", "serviceAffinity"))
        labels = body.get("labels")
        if kind and (not isinstance(labels, list) or not all(isinstance(label, str) for label in labels)):
            self.fail(f"{path}.{kind}.labels", "must be a list of label names")
            return None
        match kind:
            case "labelsPresence":
                return CheckNodeLabelPresence(tuple(labels or ()), presence=body.get("presence") is True)
            case "serviceAffinity":
                return CheckServiceAffinity(tuple(labels or ()))
        return None

    def _single(self, path: str, argument: Any, known: tuple[str, ...]) -> tuple[str, Mapping[str, Any]]:
        """Read an argument object, in which exactly one of the known kinds must be set."""
        if isinstance(argument, Mapping):
            given = [name for name in known if argument.get(name) is not None]
            if len(given) == 1 and isinstance(argument[given[0]], Mapping):
                return given[0], argument[given[0]]
        self.fail(path, f"must hold exactly one of {', '.join(known)}")
        return "", {}

    def priorities(self, hard_weight: int) -> tuple[WeightedPriority, ...]:
        entries = self._entries("priorities")
        if entries is None:
            return tuple(
                WeightedPriority(name, weight, _priority(name, hard_weight))
                for name, weight in DEFAULT_PRIORITIES
            )
        found: dict[str, WeightedPriority] = {}
        for path, entry in entries:
            name, weight = entry["name"], entry.get("weight")
            if not _is_integer(weight) or not 0 < weight < 2**31:
                self.fail(f"{path}.weight", "must be a positive integer")
                continue
            if name in found:
                self.fail(f"{path}.name", f"{name} is named twice")
            run = self._priority(path, name, entry.get("argument"), hard_weight)
            if run is not None:
                found[name] = WeightedPriority(name, int(weight), run)
        return tuple(found.values())

    def _priority(self, path: str, name: str, argument: Any, hard_weight: int) -> Priority | None:
        if argument is None:
            if name in PRIORITIES:
                return _priority(name, hard_weight)
            known = ", ".join(sorted(PRIORITIES))
            self.fail(f"{path}.name", f"unknown priority {name!r}; known without an argument: {known}")
            return None
        path = f"{path}.argument"
        kind, body = self._single(path, argument, tuple(PRIORITY_ARGUMENTS))
        if not kind:
            return None
        try:
            return PRIORITY_ARGUMENTS[kind](body)
        except (KeyError, TypeError, ValueError) as error:
            self.fail(f"{path}.{kind}", str(error))
            return None


def _priority(name: str, hard_weight: int) -> Priority:
    return InterPodAffinity(hard_weight) if name == "InterPodAffinityPriority" else PRIORITIES[name]


def _label(body: Mapping[str, Any]) -> str:
    label = body.get("label")
    if not isinstance(label, str) or not label:
        raise ValueError("label must be a label name")
    return label


def _shape(body: Mapping[str, Any]) -> Priority:
    points = body.get("shape")
    if not isinstance(points, list) or not points:
        raise ValueError("shape must be a list of at least one point")
    read: list[tuple[int, int]] = []
    for place, point in enumerate(points):
        if not isinstance(point, Mapping):
            raise TypeError(f"shape[{place}] must be an object with utilization and score")
        x, y = point.get("utilization", 0), point.get("score", 0)
        if not _is_integer(x) or not 0 <= x <= 100:
            raise ValueError(f"shape[{place}].utilization must be an integer from 0 to 100")
        if not _is_integer(y) or not 0 <= y <= 10:
            raise ValueError(f"shape[{place}].score must be an integer from 0 to 10")
        if read and x <= read[-1][0]:
            raise ValueError(f"shape[{place}].utilization must be greater than the one before")
        read.append((x, y))
    return Mapped(ResourceAllocation(Shape(tuple(read))))


PRIORITY_ARGUMENTS: Mapping[str, Callable[[Mapping[str, Any]], Priority]] = {
    "serviceAntiAffinity": lambda body: Mapped(ServiceAntiAffinity(_label(body))),
    "labelPreference": lambda body: Mapped(
        LabelPreference(_label(body), presence=body.get("presence") is True)
    ),
    "requestedToCapacityRatioArguments": _shape,
}


def _is_integer(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)

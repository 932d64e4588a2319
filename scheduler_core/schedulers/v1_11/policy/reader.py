"""Parsing and validation of a v1 ``Policy``, with all errors at once, each with its path.

The rules are those of v1.11's ``api/validation`` and ``factory/plugins.go``, where kube-scheduler exits
at the first error; ``order`` follows the proposal predicates-ordering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard, cast

from msgspec import Struct

from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.policy_argument import PolicyArgument
from scheduler_core.kubernetes.problems import Problem
from scheduler_core.kubernetes.readers import kind_of, show
from scheduler_core.schedulers.extenders.configuration import POLICY, Extender, read_extenders
from scheduler_core.schedulers.profiles.predicate import Predicate
from scheduler_core.schedulers.profiles.priority import Priority
from scheduler_core.schedulers.profiles.profile import DEFAULT_HARD_POD_AFFINITY_WEIGHT, WeightedPriority
from scheduler_core.schedulers.v1_11.policy.order import ALIASES, UNREGISTERED, keys_of
from scheduler_core.schedulers.v1_11.policy.providers import (
    DEFAULT_PREDICATES,
    DEFAULT_PRIORITIES,
    MANDATORY_PREDICATES,
)
from scheduler_core.schedulers.v1_11.predicates import PREDICATES, RULES
from scheduler_core.schedulers.v1_11.priorities import PRIORITIES, InterPodAffinityPriority
from scheduler_core.schedulers.v1_11.priorities import RULES as PRIORITY_RULES

MAX_SCORE = 10
MAX_TOTAL = 2**63 - 1  # schedulerapi.MaxTotalPriority
MAX_WEIGHT = MAX_TOTAL // MAX_SCORE  # weights must be below it
MAX_ORDER = 2**31 - 1

_ALSO_TRUE = ("false", "true")


class NamedPredicate(Struct, frozen=True):
    """A predicate and its ``order``; ``entry`` is the path of its entry, which may name several."""

    run: Predicate
    order: int | None = None
    entry: str = ""


class PolicyReader:
    """Reads a policy and collects errors and warnings."""

    def __init__(self, policy: Mapping[str, Any]) -> None:
        self.policy = policy
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []

    def fail(self, path: str, message: str) -> None:
        """Report an error, which makes the policy unusable."""
        self.problems.append(Problem(message, path))

    def warn(self, path: str, message: str) -> None:
        """Report a warning."""
        self.warnings.append(Problem(message, path))

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of a policy that was read without errors, by name."""
        listed = [*(self.policy.get("predicates") or ()), *(self.policy.get("priorities") or ())]
        given = [(entry["name"], entry["argument"]) for entry in listed if entry.get("argument") is not None]
        return {key: argument for name, argument in given for key in keys_of(name)}

    def flag(self, name: str) -> bool:
        """Read a boolean of the policy; the default is false."""
        return self.presence(name, self.policy.get(name))

    def _integer(self, path: str, value: Any, wanted: str, low: int, high: int) -> int | None:
        if not _is_integer(value):
            quoted = " (without quotes)" if isinstance(value, str) and value.lstrip("-").isdecimal() else ""
            self.fail(path, f"must be {wanted}{quoted}, not {show(value)}")
        elif not low <= value <= high:
            bound = f"at most {high}, " if value > high else ""
            self.fail(path, f"must be {bound}{wanted}, not {show(value)}")
        else:
            return value
        return None

    def hard_weight(self) -> int:
        """Read ``hardPodAffinitySymmetricWeight``; 0 means the default."""
        name = "hardPodAffinitySymmetricWeight"
        value = self.policy.get(name)
        read = None if value is None else self._integer(name, value, "an integer from 1 to 100", 0, 100)
        return read or DEFAULT_HARD_POD_AFFINITY_WEIGHT

    def extenders(self) -> tuple[Extender, ...]:
        """Read the extenders, in order."""
        found, problems, warnings = read_extenders(self.policy.get("extenders"), POLICY)
        self.problems += problems
        self.warnings += warnings
        return found

    def _entries(self, name: str) -> list[tuple[str, Mapping[str, Any]]] | None:
        listed = self.policy.get(name)
        if listed is None:
            return None
        if not isinstance(listed, list):
            dash = ": put a '-' before it" if isinstance(listed, Mapping) else ""
            self.fail(name, f"must be a list, not {kind_of(listed)}{dash}")
            return []
        return [
            (f"{name}[{place}]", entry)
            for place, entry in enumerate(listed)
            if self._has_name(f"{name}[{place}]", entry)
        ]

    def _has_name(self, path: str, entry: Any) -> bool:
        if not isinstance(entry, Mapping):
            wanted = f"such as {{name: {entry[:60]}}}" if isinstance(entry, str) else "with a name"
            self.fail(path, f"must be an object {wanted}, not {kind_of(entry)}")
        elif entry.get("name") is None:
            self.fail(f"{path}.name", "name is missing")
        elif not isinstance(entry["name"], str) or not entry["name"]:
            self.fail(f"{path}.name", f"must be a name such as PodFitsResources, not {show(entry['name'])}")
        else:
            return True
        return False

    # --- predicates

    def predicates(self) -> dict[str, NamedPredicate]:
        """Read the predicates to evaluate, including the mandatory ones, by key."""
        entries = self._entries("predicates")
        if entries is None:
            return {key: NamedPredicate(PREDICATES[key]) for key in DEFAULT_PREDICATES}
        found: dict[str, NamedPredicate] = {}
        first: dict[str, str] = {}
        for path, entry in entries:
            order = self._order(path, entry)
            run = self._predicate(path, entry)
            for key in keys_of(entry["name"]):
                if key in first:
                    self.fail(f"{path}.name", _twice(entry["name"], key, first[key]))
                    break
                first[key] = path
                if run is not None or key in PREDICATES:
                    found[key] = NamedPredicate(run or PREDICATES[key], order, path)
        for key in MANDATORY_PREDICATES:
            found.setdefault(key, NamedPredicate(PREDICATES[key]))
        return found

    def _order(self, path: str, entry: Mapping[str, Any]) -> int | None:
        order = entry.get("order")
        if order is None:
            return None
        return self._integer(f"{path}.order", order, "a positive integer", 1, MAX_ORDER)

    def _predicate(self, path: str, entry: Mapping[str, Any]) -> Predicate | None:
        """Create a predicate from an argument; return None for a name without one, which is validated."""
        name, argument = entry["name"], entry.get("argument")
        if argument is not None:
            return cast("Predicate | None", self._made(f"{path}.argument", argument, PREDICATE_ARGUMENTS))
        for key in keys_of(name):
            if key in UNREGISTERED:
                self.fail(f"{path}.name", f"{key} is not registered in v1.11 with its default feature gates")
            elif key in ARGUMENT_OF:
                self.fail(f"{path}.argument", f"{key} needs an argument: {ARGUMENT_OF[key].outline}")
            elif key not in PREDICATES:
                known = [*PREDICATES, *ALIASES, *ARGUMENT_OF]
                self.fail(f"{path}.name", _unknown("predicate", key, known, PREDICATES, PRIORITIES))
        return None

    def _made(self, path: str, argument: Any, known: Mapping[str, PolicyArgument]) -> Any:
        """Create the predicate or priority of an argument; return None after an error."""
        kind, body = self._single(path, argument, known)
        if not kind:
            return None
        read = {
            name: FIELDS[name](self, f"{path}.{kind}.{name}", body.get(name)) for name in known[kind].fields
        }
        return None if None in read.values() else known[kind].make(**read)

    def _single(self, path: str, argument: Any, known: Iterable[str]) -> tuple[str, Mapping[str, Any]]:
        """Read an argument object, in which exactly one of the known kinds must be set."""
        listed = tuple(known)
        wanted = f"must hold exactly one of {', '.join(listed)}"
        if not isinstance(argument, Mapping):
            self.fail(path, f"{wanted}, not be {kind_of(argument)}")
            return "", {}
        given = [name for name in listed if argument.get(name) is not None]
        if len(given) != 1:
            other = next((did_you_mean(str(key), listed) for key in argument if key not in listed), "")
            self.fail(path, f"{wanted}, not {' and '.join(given) or 'none'}{other}")
        elif not isinstance(argument[given[0]], Mapping):
            self.fail(f"{path}.{given[0]}", f"must be an object, not {kind_of(argument[given[0]])}")
        else:
            return given[0], argument[given[0]]
        return "", {}

    # --- priorities

    def priorities(self, hard_weight: int) -> tuple[WeightedPriority, ...]:
        """Read the priorities with their weights."""
        entries = self._entries("priorities")
        if entries is None:
            return tuple(
                WeightedPriority(name, weight, _priority(name, hard_weight))
                for name, weight in DEFAULT_PRIORITIES
            )
        found: dict[str, WeightedPriority] = {}
        first: dict[str, str] = {}
        total = 0
        for path, entry in entries:
            name = entry["name"]
            weight = self._weight(path, entry)
            run = self._priority(path, name, entry.get("argument"), hard_weight)
            if name in first:
                self.fail(f"{path}.name", _twice(name, name, first[name]))
            first.setdefault(name, path)
            if weight is None or run is None:
                continue
            total += weight * MAX_SCORE
            if total > MAX_TOTAL >= total - weight * MAX_SCORE:
                self.fail(
                    f"{path}.weight", f"all weights together must be at most {MAX_WEIGHT}, or totals overflow"
                )
            found.setdefault(name, WeightedPriority(name, weight, run))
        return tuple(found.values())

    def _weight(self, path: str, entry: Mapping[str, Any]) -> int | None:
        if entry.get("weight") is None:
            self.fail(f"{path}.weight", "weight is missing: write a positive integer, such as weight: 1")
            return None
        return self._integer(f"{path}.weight", entry["weight"], "a positive integer", 1, MAX_WEIGHT - 1)

    def _priority(self, path: str, name: str, argument: Any, hard_weight: int) -> Priority | None:
        if argument is None:
            if name in PRIORITIES:
                return _priority(name, hard_weight)
            known = [*PREDICATES, *ALIASES]
            self.fail(f"{path}.name", _unknown("priority", name, PRIORITIES, PRIORITIES, known))
            return None
        return cast("Priority | None", self._made(f"{path}.argument", argument, PRIORITY_ARGUMENTS))

    # --- fields of arguments

    def presence(self, path: str, value: Any) -> bool:
        """Read a boolean; the default is false."""
        if value is not None and not isinstance(value, bool):
            quoted = " (without quotes)" if isinstance(value, str) and value.lower() in _ALSO_TRUE else ""
            self.fail(path, f"must be true or false{quoted}, not {show(value)}")
        return value is True

    def labels(self, path: str, value: Any) -> tuple[str, ...] | None:
        """Read the names of labels."""
        if isinstance(value, list) and all(isinstance(label, str) and label for label in value):
            return tuple(value)
        self.fail(path, f"must be a list of label names, not {show(value)}")
        return None

    def label(self, path: str, value: Any) -> str | None:
        """Read the name of a label."""
        if isinstance(value, str) and value:
            return value
        wrong = "label is missing: write" if value is None else f"must be a label's name, not {show(value)}:"
        self.fail(path, f"{wrong} a node label such as rack")
        return None

    def shape(self, path: str, points: Any) -> tuple[tuple[int, int], ...] | None:
        """Read points with ascending utilization, as pairs of utilization and score."""
        if not isinstance(points, list) or not points:
            self.fail(path, f"must be a list of at least one point, not {show(points) if points else 'none'}")
            return None
        read: list[tuple[int, int]] = []
        for place, point in enumerate(points):
            at = f"{path}[{place}]"
            if not isinstance(point, Mapping):
                self.fail(at, f"must be an object with utilization and score, not {kind_of(point)}")
                continue
            ranges = (("utilization", 100), ("score", MAX_SCORE))
            x, y = (
                self._integer(f"{at}.{name}", point.get(name, 0), f"an integer from 0 to {most}", 0, most)
                for name, most in ranges
            )
            if x is None or y is None:
                continue
            if read and x <= read[-1][0]:
                least = read[-1][0]
                self.fail(f"{at}.utilization", f"must be greater than the one before, {least}, not {x}")
            read.append((x, y))
        return tuple(read) if len(read) == len(points) else None


FIELDS: Mapping[str, Callable[[PolicyReader, str, Any], Any]] = {
    "label": PolicyReader.label,
    "labels": PolicyReader.labels,
    "presence": PolicyReader.presence,
    "shape": PolicyReader.shape,
}
"""The fields of arguments, each with its reader, which returns None after an error."""

ARGUMENT_OF: Mapping[str, PolicyArgument] = {
    rule.key: rule.argument for rule in RULES if rule.argument is not None
}
"""The predicates that exist only with an argument, by key."""

PREDICATE_ARGUMENTS: Mapping[str, PolicyArgument] = {one.kind: one for one in ARGUMENT_OF.values()}
PRIORITY_ARGUMENTS: Mapping[str, PolicyArgument] = {
    rule.argument.kind: rule.argument for rule in PRIORITY_RULES if rule.argument is not None
}
"""The arguments of predicates and of priorities, by kind."""


def _priority(name: str, hard_weight: int) -> Priority:
    return InterPodAffinityPriority(hard_weight) if name == "InterPodAffinityPriority" else PRIORITIES[name]


_OTHER = {"predicate": ("priority", "priorities"), "priority": ("predicate", "predicates")}


def _twice(name: str, key: str, first: str) -> str:
    what = name if name == key else f"{name}, which is {key},"
    return f"{what} is named twice: the first is {first}"


def _unknown(what: str, name: str, known: Iterable[str], listed: Iterable[str], others: Iterable[str]) -> str:
    """Return the message for an unknown name: a suggestion, the list it belongs to, or the known names."""
    if name in others:
        other, place = _OTHER[what]
        return f"{name} is a {other}: name it under {place}"
    hint = did_you_mean(name, known) or f"; known without an argument: {', '.join(sorted(listed))}"
    return f"unknown {what} {show(name)}{hint}"


def _is_integer(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)

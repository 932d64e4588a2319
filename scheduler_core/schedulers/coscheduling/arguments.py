"""The plugin's arguments: defaults and validation (validation.ValidateCoschedulingArgs)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.schedulers.coscheduling.editions import Edition

INT64 = 2**63


class ArgumentsError(ValueError):
    """Arguments with which the plugin would not start. ``problems`` holds the messages, in table order."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")


class Arguments(Struct, frozen=True):
    """Seconds, and a percentage from 0 to 100. Arguments unknown to an edition keep their defaults."""

    permit_waiting_seconds: int = 60
    denied_seconds: int = 20
    backoff_seconds: int = 0
    reject_percentage: int = 10


FIELDS = {
    "permitWaitingTimeSeconds": "permit_waiting_seconds",
    "deniedPGExpirationTimeSeconds": "denied_seconds",
    "podGroupBackoffSeconds": "backoff_seconds",
    "podGroupRejectPercentage": "reject_percentage",
}
_NOT_ARGUMENTS = frozenset({"apiVersion", "kind"})


def read_arguments(edition: Edition, written: Mapping[str, Any]) -> Arguments:
    """Default and validate the arguments, as the plugin does when it starts; null counts as absent.

    Raises:
        ArgumentsError: With the text of Kubernetes' field errors; classic validates no ranges.
    """
    known = {argument.name: argument for argument in edition.arguments}
    problems = [f'unknown field "{name}"' for name in written if name not in known.keys() | _NOT_ARGUMENTS]
    values: dict[str, int] = {}
    for name, argument in known.items():
        value = written.get(name)
        value = argument.default if value is None else value
        if type(value) is not int or not -INT64 <= value < INT64:
            problems.append(f"{name}: Invalid value: {_shown(value)}: must be an integer")
            continue
        too_low = argument.low is not None and value < argument.low
        too_high = argument.high is not None and value > argument.high
        if too_low or too_high:
            problems.append(f"{name}: Invalid value: {value}: {argument.text}")
        values[FIELDS[name]] = value
    if problems:
        raise ArgumentsError(problems)
    if edition.reject_percentage is not None:
        values["reject_percentage"] = edition.reject_percentage
    return Arguments(**values)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"

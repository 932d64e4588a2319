"""The fields of a v1 Policy, and its validation by the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.kubernetes.policy_argument import PolicyArgument
from scheduler_core.kubernetes.problems import PolicyError
from scheduler_core.kubernetes.readers import At, Field, Reader, list_of, opaque, outlined, place_of, record
from scheduler_core.schedulers.profiles.profile import Profile
from scheduler_core.schedulers.v1_11.policy.compiler import compile_policy
from scheduler_core.schedulers.v1_11.policy.reader import PREDICATE_ARGUMENTS, PRIORITY_ARGUMENTS
from scheduler_core.settings.settings import Settings


def _named(unread: str, **fields: Reader) -> Reader:
    """Create a reader that knows a part's fields by name; the engine validates their values."""
    table = {name: Field(name, _mild(read)) for name, read in fields.items()}
    return record(dict, table, unread=unread)


def _mild(read: Reader) -> Reader:
    """Create a reader that reads a value only if its shape is right; the engine reports any other."""

    def look(value: Any, at: At) -> Any:
        items = value if isinstance(value, list) else [value]
        return read(value, at) if items and all(isinstance(item, dict) for item in items) else None

    return outlined(look, read)


def _arguments(kinds: Mapping[str, PolicyArgument]) -> Reader:
    """Create a reader of the argument that is one of some kinds."""
    shapes = {"shape": list_of(_named("utilization score"))}
    fields = {
        kind: _named(
            " ".join(name for name in argument.fields if name not in shapes),
            **{name: shapes[name] for name in argument.fields if name in shapes},
        )
        for kind, argument in kinds.items()
    }
    return _named("", **fields)


_PREDICATE = _named("name order", argument=_arguments(PREDICATE_ARGUMENTS))
_PRIORITY = _named("name weight", argument=_arguments(PRIORITY_ARGUMENTS))
POLICY = record(
    dict,
    {
        "predicates": Field("predicates", _mild(list_of(_PREDICATE))),
        "priorities": Field("priorities", _mild(list_of(_PRIORITY))),
        "extenders": Field("extenders", opaque),
    },
    unread="apiVersion kind metadata hardPodAffinitySymmetricWeight alwaysCheckAllPredicates",
)


def check_policy(value: Mapping[str, Any], settings: Settings, at: At) -> Profile | None:
    """Report all errors and warnings of a Policy; return it compiled, or None if it cannot be used."""
    POLICY(dict(value), at)
    try:
        profile = compile_policy(value, settings)
    except PolicyError as error:
        for problem in error.problems:
            place_of(at, problem.path).error(problem.message)
        return None
    for problem in profile.warnings:
        place_of(at, problem.path).warn(problem.message)
    return profile

"""What v1.37 refuses of plugins' arguments beyond the checks that it shares with the framework."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.readers import (
    At,
    Field,
    Reader,
    boolean,
    enum,
    integer,
    list_of,
    opaque,
    record,
    text,
)
from scheduler_core.schedulers.v1_22.configuration.arguments import READERS
from scheduler_core.schedulers.v1_37.plugins.declaration import Argument
from scheduler_core.schedulers.v1_37.plugins.node_resources_fit import STRATEGIES
from scheduler_core.schedulers.v1_37.plugins.table import declared
from scheduler_core.schedulers.v1_37.pod_spec import PREFERRED, REQUIRED
from scheduler_core.schedulers.v1_37.profiles import CompiledConfiguration
from scheduler_core.schedulers.v1_37.selectors import node_term

CAPACITY_GATE = "StorageCapacityScoring"


_BY_TYPE: Mapping[str, Callable[[Argument], Reader]] = {
    "choice": lambda argument: enum(*argument.choices),
    "integer": lambda argument: integer(argument.least, argument.most),
    "flag": lambda _: boolean,
    "names": lambda _: list_of(text),
}
"""The readers of declared arguments, by type; any other is read by its plugin alone."""


def check_arguments(policy: Document, base: CompiledConfiguration, at: At) -> None:
    """Report arguments with which a release does not start; the structure of ``policy`` is known to be right.

    ``base`` has the release and its feature gates.
    """
    scores_capacity = base.gate(CAPACITY_GATE)
    for place, name, args in _given(policy, at):
        if name == "NodeResourcesFit":
            _check_strategy(args.get("scoringStrategy"), place.child("scoringStrategy"))
        elif name == "NodeAffinity":
            _check_added(args.get("addedAffinity") or {}, place.child("addedAffinity"))
        elif name == "VolumeBinding" and args.get("shape") is not None and not scores_capacity:
            place.child("shape").error(f"has to be left out while the feature gate {CAPACITY_GATE} is off")
        elif name not in READERS and declared(name).arguments:
            _reader(declared(name).arguments)(args, place)


def _given(policy: Document, at: At) -> Iterator[tuple[At, str, Mapping[str, Any]]]:
    for number, profile in enumerate(policy.get("profiles") or ()):
        configs = at.child("profiles").child(number).child("pluginConfig")
        for place, entry in enumerate(profile.get("pluginConfig") or ()):
            if isinstance(entry.get("args"), Mapping):
                yield configs.child(place).child("args"), str(entry.get("name")), entry["args"]


def _check_strategy(strategy: Any, at: At) -> None:
    """Report a strategy without type: the default is that of an absent strategy alone."""
    if isinstance(strategy, Mapping) and not strategy.get("type"):
        at.child("type").error(
            f"type is missing: write {', '.join(STRATEGIES[:-1])} or {STRATEGIES[-1]}, or leave "
            "scoringStrategy out"
        )


def _check_added(affinity: Mapping[str, Any], at: At) -> None:
    """Report terms that cannot be parsed, which match no node in a pod's own affinity."""
    required, preferred = at.child(REQUIRED), at.child(PREFERRED)
    terms = [
        *(
            (term, required.child("nodeSelectorTerms").child(number))
            for number, term in enumerate((affinity.get(REQUIRED) or {}).get("nodeSelectorTerms") or ())
        ),
        *(
            (one.get("preference") or {}, preferred.child(number).child("preference"))
            for number, one in enumerate(affinity.get(PREFERRED) or ())
        ),
    ]
    for term, place in terms:
        if node_term(term).unusable:
            place.error("cannot be parsed: keys and values have to be those of labels, and fit the operator")


def _reader(arguments: tuple[Argument, ...]) -> Reader:
    """Return a reader of the arguments of a plugin that the framework's tables do not know."""
    fields = {one.path: Field(one.path, _read_one(one)) for one in arguments if "." not in one.path}
    nested = {one.path.split(".")[0]: Field(one.path, opaque) for one in arguments if "." in one.path}
    return record(dict, {**nested, **fields}, unread="apiVersion kind metadata")


def _read_one(argument: Argument) -> Reader:
    make = _BY_TYPE.get(argument.type)
    return opaque if make is None else make(argument)

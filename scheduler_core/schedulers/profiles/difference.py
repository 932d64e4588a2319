"""The differences between two profiles, in phrases: the changes by a restart with another policy."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.schedulers.profiles.profile import Profile

LISTED = 6  # names listed in one phrase
FLAGS = {True: "every predicate runs on every node", False: "evaluation stops at a node's first failure"}
QUIRKS = {"v1.11": "the quirks of v1.11 are reproduced", "fixed": "the quirks of v1.11 are fixed"}
ORDERS = {"v1.11": "the static order is v1.11's", "proposal": "the static order is the proposal's"}


def differences(before: Profile, after: Profile) -> Iterator[str]:
    """Yield the differences of ``after`` from ``before``; none if both schedule alike."""
    yield from _phrase([key for key in before.order if key not in after.order], "no longer evaluated")
    yield from _phrase([key for key in after.order if key not in before.order], "evaluated")
    common = [key for key in before.order if key in after.order]
    moved = common != [key for key in after.order if key in before.order]
    orders = before.settings.predicate_order, after.settings.predicate_order
    if orders[0] != orders[1]:
        yield ORDERS[orders[1]]
    elif moved:
        yield "the order of the predicates differs"
    yield from _weights(before, after)
    for name in before.arguments.keys() & after.arguments.keys():
        if before.arguments[name] != after.arguments[name]:
            yield f"{name} has another argument"
    if before.hard_weight != after.hard_weight:
        yield f"hardPodAffinitySymmetricWeight is {after.hard_weight} instead of {before.hard_weight}"
    if before.always_check_all != after.always_check_all:
        yield FLAGS[after.always_check_all]
    if before.extenders != after.extenders:
        asked = ", ".join(extender.url for extender in after.extenders[:LISTED])
        yield f"the extenders are {asked}" if asked else "no extender is asked"
    if before.settings.quirks != after.settings.quirks:
        yield QUIRKS[after.settings.quirks]
    if before.settings.cache != after.settings.cache:
        yield f"the equivalence cache is {after.settings.cache}"


def _weights(before: Profile, after: Profile) -> Iterator[str]:
    old = {priority.name: priority.weight for priority in before.priorities}
    new = {priority.name: priority.weight for priority in after.priorities}
    yield from _phrase([name for name in old if name not in new], "no longer used")
    for name, weight in new.items():
        if name not in old:
            yield f"{name} is used with weight {weight:,}"
        elif old[name] != weight:
            yield f"{name} weighs {weight:,} instead of {old[name]:,}"


def _phrase(names: list[str], what: str) -> Iterator[str]:
    """Yield one phrase about several names; of many, the first ones and a count."""
    if not names:
        return
    shown = names if len(names) <= LISTED else [*names[: LISTED - 1], f"{len(names) - LISTED + 1} more"]
    *first, last = shown
    subject = f"{', '.join(first)} and {last}" if first else last
    yield f"{subject} {'are' if first else 'is'} {what}"

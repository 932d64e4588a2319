"""What a bundle's ``ExtenderAnswers`` and its configuration lack of each other, as warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.config.release import V1_11
from scheduler_core.extenders.answers import Answers, Table
from scheduler_core.extenders.approval import transport
from scheduler_core.extenders.configuration import POLICY, VERBS, Extender, read_extenders
from scheduler_core.objects.reading import At


def warn_of_policy(policy: Mapping[str, Any], answers: Iterable[Answers], at: At, release: str) -> None:
    """Warn of the extenders of a Policy that are not asked, at their entries."""
    table, place = Table(answers), at.child("extenders")
    extenders, _, _ = read_extenders(policy.get("extenders"), POLICY)
    for number, extender in enumerate(extenders):
        told = _unasked(extender, table) if release == V1_11 else _of_release(extender, release)
        if told:
            place.child(number).warn(told)


def warn_of_later(extenders: Iterable[Extender], answers: Iterable[Answers], at: At) -> None:
    """Warn of the extenders that operations bring and that are not asked; ``at`` is the Scenario."""
    table = Table(answers)
    for told in dict.fromkeys(_unasked(extender, table) for extender in extenders):
        if told:
            at.warn(told)


def warn_of_strangers(extenders: Iterable[Extender], answers: Iterable[Answers], at: At) -> None:
    """Warn of answers whose extender no configuration names; ``at`` is the place of their list."""
    known = {extender.url.rstrip("/") for extender in extenders}
    for place, one in enumerate(answers):
        if one.url.rstrip("/") not in known:
            told = f"no extender of the configuration has the urlPrefix {one.url}: its answers have no effect"
            at.child(place).warn(told)


def settled(extenders: Iterable[Extender], before: Iterable[Answers], after: Iterable[Answers]) -> set[str]:
    """Return the warnings of extenders that no longer hold with more answers."""
    tables = Table(before), Table(after)
    told = ([_unasked(extender, table) for table in tables] for extender in extenders)
    return {earlier for earlier, now in told if earlier != now}


def _of_release(extender: Extender, release: str) -> str:
    return f"extender {extender.url} is not called: {release} is simulated without extenders"


def _unasked(extender: Extender, table: Table) -> str:
    """Return why an extender, or some of its verbs, has no effect; "" if all of it has."""
    calls = transport()
    verbs = [verb for verb in VERBS if verb in extender.verbs]
    open_verbs = [verb for verb in verbs if calls is None or not calls.approves(extender.address(verb))]
    missing = [verb for verb in open_verbs if not table.has(extender.url, verb)]
    if not missing:
        return ""
    told = f"extender {extender.url} is not called"
    if missing != verbs:
        told += f" to {' or '.join(missing)}"
    return f"{told}: its URL is not approved; declare its answers in ExtenderAnswers (docs/extenders.md)"

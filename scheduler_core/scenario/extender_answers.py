"""What a bundle's ``ExtenderAnswers`` and its configuration lack of each other, as warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.kubernetes.readers import At
from scheduler_core.schedulers.extenders.answers import Answers, Table
from scheduler_core.schedulers.extenders.approval import transport
from scheduler_core.schedulers.extenders.configuration import (
    CONFIGURATION,
    POLICY,
    VERBS,
    Extender,
    read_extenders,
)
from scheduler_core.settings.release import CONFIGURATION_KIND, POLICY_KIND, ROWS, is_framework_document

_BY_KIND = {POLICY_KIND: POLICY, CONFIGURATION_KIND: CONFIGURATION}
FORMS = {row.name: _BY_KIND[row.reads] for row in ROWS if row.asks_extenders}
"""How the configuration that each release reads writes its extenders."""

ASKING = frozenset(FORMS)
"""The releases that ask extenders."""


def warn_of_configuration(
    document: Mapping[str, Any], answers: Iterable[Answers], at: At, release: str
) -> None:
    """Warn of the extenders of a scheduler's configuration that are not asked, at their entries."""
    table, place = Table(answers), at.child("extenders")
    form = CONFIGURATION if is_framework_document(document) else POLICY
    extenders, _, _ = read_extenders(document.get("extenders"), form)
    for number, extender in enumerate(extenders):
        warning = _unasked(extender, table) if FORMS.get(release) is form else _of_release(extender, release)
        if warning:
            place.child(number).warn(warning)


def warn_of_later(extenders: Iterable[Extender], answers: Iterable[Answers], at: At) -> None:
    """Warn of the extenders that operations bring and that are not asked; ``at`` is the Scenario."""
    table = Table(answers)
    for warning in dict.fromkeys(_unasked(extender, table) for extender in extenders):
        if warning:
            at.warn(warning)


def warn_of_strangers(extenders: Iterable[Extender], answers: Iterable[Answers], at: At) -> None:
    """Warn of answers whose extender no configuration names; ``at`` is the place of their list."""
    known = {extender.url.rstrip("/") for extender in extenders}
    for place, one in enumerate(answers):
        if one.url.rstrip("/") not in known:
            text = f"no extender of the configuration has the urlPrefix {one.url}: its answers have no effect"
            at.child(place).warn(text)


def settled(extenders: Iterable[Extender], before: Iterable[Answers], after: Iterable[Answers]) -> set[str]:
    """Return the warnings of extenders that no longer hold with more answers."""
    tables = Table(before), Table(after)
    warnings = ([_unasked(extender, table) for table in tables] for extender in extenders)
    return {earlier for earlier, now in warnings if earlier != now}


def _of_release(extender: Extender, release: str) -> str:
    why = "reads no such configuration" if release in FORMS else "is simulated without extenders"
    return f"extender {extender.url} is not called: {release} {why}"


def _unasked(extender: Extender, table: Table) -> str:
    """Return why an extender, or some of its verbs, has no effect; "" if all of it has."""
    calls = transport()
    verbs = [verb for verb in VERBS if verb in extender.verbs]
    open_verbs = [verb for verb in verbs if calls is None or not calls.approves(extender.address(verb))]
    missing = [verb for verb in open_verbs if not table.has(extender.url, verb)]
    if not missing:
        return ""
    text = f"extender {extender.url} is not called"
    if missing != verbs:
        text += f" to {' or '.join(missing)}"
    return f"{text}: its URL is not approved; declare its answers in ExtenderAnswers (docs/extenders.md)"

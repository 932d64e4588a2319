"""A scenario under another kube-scheduler than the one that it asks for itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from playground.storage import bundles, texts
from scheduler_core.authoring.policy_edits import edited
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.problems import BundleError, Problem
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.release import ALONE, CONFIGURATION_KIND, POLICY_KIND, row_of
from scheduler_core.settings.settings import ONLY_V1_11, SETTINGS_KIND


class ReleaseError(BundleError):
    """A scenario asks for what the other kube-scheduler does not have."""

    def __init__(self, message: str) -> None:
        super().__init__([Problem(message)])


def _by_policy(scenario: Scenario, release: str) -> Scenario:
    """Return the scenario under kube-scheduler v1.11: its own Policy, or the default provider."""
    policies = [scenario.policy, *(op.configuration.policy for op in scenario.operations if op.configuration)]
    if any(policy is not None and policy.get("kind") == CONFIGURATION_KIND for policy in policies[1:]):
        raise ReleaseError(
            f"v1.11 has no {CONFIGURATION_KIND}, to which an operation of the scenario changes."
        )
    own = scenario.policy
    policy = None if own is not None and own.get("kind") == CONFIGURATION_KIND else own
    if scenario.row.daemons_pending:  # its controllers create pods otherwise
        scenario = bundles.reread(scenario, release)
    return scenario.under(policy, replace(scenario.settings, time="instant", scheduler=release))


def _read_again(scenario: Scenario, release: str) -> Scenario:
    return scenario if scenario.release == release else bundles.reread(scenario, release)


#: The schedulers that a scenario can be put under.
SCHEDULERS: dict[str, Callable[[Scenario], Scenario]] = {
    row.name: partial(_by_policy if row.reads == POLICY_KIND else _read_again, release=row.name)
    for row in ALONE
}


def under(scenario: Scenario, scheduler: str) -> Scenario:
    """Return the scenario under one of SCHEDULERS; "" leaves it as it is.

    Raises BundleError if that scheduler cannot read it: a ReleaseError if it is what it asks for.
    """
    return SCHEDULERS[scheduler](scenario) if scheduler else scenario


def written_under(scenario: Scenario, text: str, scheduler: str) -> tuple[Scenario, str]:
    """Return what :func:`under` does, with a text that names the scheduler and so needs no other word.

    ``text`` is what ``scenario`` was read from; the rest of it stays as it is. Raises BundleError.
    """
    before = scenario.documents
    after = tuple(
        _alone(one, scheduler)
        for one in edited(before, "setting", "scheduler", scheduler)
        if row_of(scheduler).reads != POLICY_KIND or one.get("kind") != CONFIGURATION_KIND
    )
    named = texts.spliced(text, before, after) or bundles.bundle_text(replace(scenario, documents=after))
    return bundles.parse([("", named)], scenario.title), named


#: Settings that a scheduler does not have when it answers alone.
_OTHERS: dict[str, frozenset[str]] = {
    row.name: frozenset({"schedulers", "design", *(("time",) if row.has_cache else ONLY_V1_11)})
    for row in ALONE
}


def _alone(document: Document, scheduler: str) -> Document:
    """Return a document; SimulationSettings without what the scheduler does not have."""
    if document.get("kind") != SETTINGS_KIND:
        return document
    return {name: value for name, value in document.items() if name not in _OTHERS[scheduler]}

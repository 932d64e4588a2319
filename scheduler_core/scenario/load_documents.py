"""The passes over the documents of a bundle: what each is, and what is wrong with it."""

from __future__ import annotations

from itertools import chain

from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.formats.duplicates import duplicate_findings
from scheduler_core.kubernetes.readers import At
from scheduler_core.progress import counted
from scheduler_core.scenario.configuration_choice import choose
from scheduler_core.scenario.load_state import LoadState
from scheduler_core.schedulers.firmament.flags import flag_warnings
from scheduler_core.schedulers.kube_batch.document import (
    BATCH_CONFIGURATION,
)
from scheduler_core.schedulers.table import SUPPORT
from scheduler_core.settings.descheduler import DESCHEDULER_POLICY
from scheduler_core.settings.release import (
    CONFIGURATION_KIND,
)
from scheduler_core.settings.settings import SETTINGS_KIND


def report_files(state: LoadState) -> None:
    """Report what was found in the files themselves: of their formats, and flags of command lines."""
    bundle = state.bundle
    for source, warning in bundle.warnings:
        At(state.report, None, BundleEntry({}, source=source)).warn(warning)
    for source in {id(one): one for one, _ in bundle.flags}.values():
        for text in flag_warnings(flag for one, flag in bundle.flags if one is source):
            At(state.report, None, BundleEntry({}, source=source)).warn(text)
    for place, note in bundle.notes:
        At(state.report, None, place).warn(note)


def take_entries(state: LoadState) -> None:
    """Take each document as what it is."""
    entries = state.bundle.entries
    for entry in counted(entries, "checking", len(entries), state.watch):
        state.take(entry)


def choose_configurations(state: LoadState) -> None:
    """Choose one configuration of each kind; a second one, or one for another release, is an error."""
    configuring = (
        (state.policies, "Policy"),
        (state.configurations, CONFIGURATION_KIND),
        (state.batches, BATCH_CONFIGURATION),
    )
    for listed, kind in (*configuring, (state.deschedulers, DESCHEDULER_POLICY)):
        choose(listed, kind, state.report)
    for several, kind in (*configuring, (state.scenarios, "Scenario"), (state.settings, SETTINGS_KIND)):
        for entry in several[1:]:
            At(state.report, None, entry).child("kind").error(f"a second {kind}: a bundle has one at most")
    if state.policies and state.configurations:
        text = f"a {CONFIGURATION_KIND} and a Policy both configure the scheduler: keep one of them"
        At(state.report, None, state.configurations[0]).child("kind").error(text)


def report_duplicates(state: LoadState) -> None:
    """Report objects that a later document replaced."""
    errors, warnings = duplicate_findings(state.replaced, state.report)
    for finding, message in errors:
        finding.error(message)
    for finding, message in warnings:
        finding.warn(message)


def check_further(state: LoadState) -> None:
    """Find what else is wrong in single documents, where errors keep the cluster from being read."""
    if not (state.errors or state.report.errors):
        return
    wrong = {id(at.root) for at, _ in state.report.errors}
    sound = [one for one in state.decoded if id(one.entry) not in wrong]
    unread = [one for one in chain(*state.ignored.values()) if id(one) not in wrong]
    row = SUPPORT.get(state.chosen.scheduler or state.release_presumed())
    if row is not None and row.check_objects is not None:
        row.check_objects(sound, unread, state.report)
    state.assembly.check_workloads(sound)


def refuse(state: LoadState) -> None:
    """Raise BundleError with all errors, if there are any."""
    state.refuse_if_wrong()


def check_objects(state: LoadState) -> None:
    """Check what the schedulers that run read beside the typed objects."""
    for check in state.checks():
        check(state.decoded, state.unread(), state.report)

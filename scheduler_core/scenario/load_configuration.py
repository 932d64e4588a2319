"""The passes that read who schedules, and choose what answers."""

from __future__ import annotations

from typing import Any, cast

from msgspec.structs import replace

from scheduler_core.formats.bundle import BundleEntry
from scheduler_core.kubernetes.readers import At
from scheduler_core.scenario.chosen_releases import has_controllers, releases_written
from scheduler_core.scenario.configuration_choice import adopted, policies_of, with_passes
from scheduler_core.scenario.controller_work import asks_for_pass
from scheduler_core.scenario.descheduler import read_descheduler
from scheduler_core.scenario.load_state import LoadState
from scheduler_core.schedulers.kube_batch.document import (
    check_batch_configuration,
)
from scheduler_core.schedulers.table import checked
from scheduler_core.settings.descheduler import DESCHEDULER_POLICY
from scheduler_core.settings.feature_gates import check_locked, read_gates
from scheduler_core.settings.release import (
    GATED,
    PASSING_TIME,
    TIMED,
    chosen_release,
    in_time,
    row_of,
    row_with_controllers,
)
from scheduler_core.settings.settings import SETTINGS_KIND, read_settings


def read_chosen_settings(state: LoadState) -> None:
    """Read the settings, over which the options go."""
    options, settings = state.options, state.chosen
    for entry in state.settings[:1]:
        settings = read_settings(entry.value, At(state.report, None, entry))
    if options["scheduler"]:
        settings = replace(settings, scheduler=options["scheduler"])
    if options["only_v1_11"]:
        settings = replace(settings, names_v1_11=True)
    if options["feature_gates"]:
        given = At(state.report, None, BundleEntry({}, SETTINGS_KIND)).child("featureGates")
        gates = read_gates({**dict(settings.feature_gates), **options["feature_gates"]}, given)
        check_locked(gates or (), settings.scheduler, given)
        settings = replace(settings, feature_gates=gates or ())
    state.chosen = settings


def read_configuration(state: LoadState) -> None:
    """Read the scheduler's configuration, or the one in a ConfigMap where a bundle has no other."""
    own = bool(state.policies or state.configurations)
    state.configurations += adopted(state.contained, state.chosen, state.report, configured=own)
    state.configuration = replace(state.configuration, settings=state.chosen)
    for entry in (*state.policies[:1], *state.configurations[:1]):
        state.configuration = checked(entry.value, state.chosen, At(state.report, None, entry))
        if state.configuration.policy is not None:
            # Without plugins from outside of kube-scheduler.
            entry.value = cast("dict[str, Any]", state.configuration.policy)


def read_batch_configuration(state: LoadState) -> None:
    """Check the configuration of kube-batch."""
    for entry in state.batches[:1]:
        state.batch = check_batch_configuration(entry.value, At(state.report, None, entry)) or ""


def read_descheduler_policy(state: LoadState) -> None:
    """Check the policy that the settings or an operation run, which is then no ignored document."""
    settings = state.chosen
    if settings.descheduler is None and any(asks_for_pass(entry.value) for entry in state.scenarios):
        settings = with_passes(settings, state.deschedulers, state.contained, state.report)
    state.chosen = settings
    runs = settings.descheduler is not None
    if runs:
        state.ignored.pop(DESCHEDULER_POLICY, None)
    policies = policies_of(state.deschedulers, state.contained, state.report, runs=runs)
    at = At(state.report, None, state.settings_entry)
    state.descheduler = read_descheduler(settings.descheduler, policies, state.decoded, state.namespaces, at)


def choose_release(state: LoadState) -> None:
    """Choose the release that answers, from the start or by an operation on the configuration."""
    settings = state.configuration.settings
    state.with_controllers = all(has_controllers(entry.value) for entry in state.scenarios)
    if not state.with_controllers:
        state.assembly.expand, state.assembly.recorded = False, True
    later = [one for entry in state.scenarios[:1] for one in releases_written(entry.value)]
    state.timed = settings.is_virtual or PASSING_TIME in later
    chosen = chosen_release(
        [state.configuration.release, *later],
        state.kubelets,
        only_v1_11=settings.only_v1_11,
        timed=state.timed,
        batch=state.asks_batch,
    )
    state.release = chosen or in_time(state.release_presumed(), timed=state.timed)


def choose_clock(state: LoadState) -> None:
    """Let time pass where controllers or the descheduler have work, or where a plugin holds pods."""
    release, works = state.release, state.has_work()
    state.lives = row_of(release).clock == "own" and (works or state.holds_pods())
    state.row = row_with_controllers(release) if state.lives else row_of(release)
    if state.descheduler is not None and not (state.row.is_timed and state.with_controllers):
        lack = (
            f"under {release}, which has no controllers: write scheduler: {GATED}, or time: virtual"
            if state.with_controllers
            else "on a recording: its operations say what became of the pods"
        )
        text = f"the descheduler has no effect {lack}"
        At(state.report, None, state.settings[0]).child("descheduler").warn(text)
        state.descheduler = None
    state.plane = state.descheduler is not None or (state.lives and state.with_controllers)


def report_settings_without_effect(state: LoadState) -> None:
    """Warn of feature gates and further schedulers that the release does not have."""
    settings, release = state.chosen, state.release
    if settings.feature_gates and not state.checks():
        text = f"kube-scheduler {release} has no such feature gates here: write scheduler: {GATED}"
        At(state.report, None, state.settings_entry).child("featureGates").warn(text)
    if settings.have_views and (state.lives or not state.row.is_timed):
        lack = (
            f"under {release}, which answers alone: write scheduler: {TIMED}"
            if state.lives
            else "without virtual time: add time: virtual"
        )
        text = f"schedulers and design have no effect {lack}"
        At(state.report, None, state.settings[0]).child("schedulers").warn(text)

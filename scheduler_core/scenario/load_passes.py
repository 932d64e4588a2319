"""The passes that make a scenario of a bundle, in order: each adds to the state, or refuses it."""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.scenario.load_cluster import (
    assemble,
    check_assembled,
    finish,
    read_extender_answers,
    read_history,
    take_cron_jobs,
    take_dump,
    take_queues,
)
from scheduler_core.scenario.load_configuration import (
    choose_clock,
    choose_release,
    read_batch_configuration,
    read_chosen_settings,
    read_configuration,
    read_descheduler_policy,
    report_settings_without_effect,
)
from scheduler_core.scenario.load_documents import (
    check_further,
    check_objects,
    choose_configurations,
    refuse,
    report_duplicates,
    report_files,
    take_entries,
)
from scheduler_core.scenario.load_state import LoadState
from scheduler_core.scenario.scenario import Scenario

PASSES: tuple[Callable[[LoadState], None], ...] = (
    report_files,
    take_entries,
    choose_configurations,
    read_chosen_settings,
    read_configuration,
    read_batch_configuration,
    read_descheduler_policy,
    report_duplicates,
    check_further,
    refuse,
    choose_release,
    choose_clock,
    take_dump,
    take_cron_jobs,
    take_queues,
    report_settings_without_effect,
    check_objects,
    refuse,
    assemble,
    refuse,
    check_assembled,
    read_history,
    refuse,
    read_extender_answers,
    finish,
)


def scenario_of(state: LoadState) -> Scenario:
    """Return what the passes make of a bundle.

    Raises:
        BundleError: The bundle has errors.
    """
    for each in PASSES:
        each(state)
    assert state.scenario is not None
    return state.scenario

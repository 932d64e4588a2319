"""Starting, showing and cancelling runs."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from django.db import transaction
from django.utils import timezone

from playground.limits import limit
from playground.models import (
    CANCELLED,
    CANCELLING,
    DONE,
    QUEUED,
    RUNNING,
    UNFINISHED,
    Run,
    Scenario,
    Share,
    new_run_id,
    token_hash,
)
from playground.playback import over_time
from playground.playback.packed_runs import engine_code
from playground.runs import cells, delivery, fairness, queue_choice, several
from playground.runtime import log_context
from playground.storage import bundles, quotas, store
from scheduler_core.authoring.policy_edits import edited
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.scenario import scenario as core
from scheduler_core.settings.release import CONFIGURATION_KIND, CONFIGURATION_V1, can_read, row_of
from scheduler_core.settings.settings import SETTINGS_KIND


class TooManyRunsError(RuntimeError):
    """The limit of unfinished runs, of the visitor, the address or in total, is reached."""


class ConfigError(ValueError):
    """The run's configuration does not have the documented form."""


CONFIG_KINDS = {"policy": ("v1", "Policy"), "settings": ("podstep/v1", SETTINGS_KIND)}
"""The parts of a run's configuration, with the apiVersion and kind of the document that each becomes."""


def configured(scenario: core.Scenario, config: Any) -> core.Scenario:
    """Return the scenario that a run with ``config`` simulates.

    ``config`` may have ``policy``, a v1 Policy or, by its kind, a KubeSchedulerConfiguration, and
    ``settings``, the fields of a SimulationSettings document; each replaces the scenario's own. Raises
    ConfigError, or BundleError for an invalid document.
    """
    if config is None or config == {}:
        return scenario
    if not isinstance(config, dict) or not set(config) <= set(CONFIG_KINDS):
        raise ConfigError(f"config must be an object with {' and '.join(CONFIG_KINDS)} at most")
    documents: list[Document] = []
    for name, (version, kind) in CONFIG_KINDS.items():
        if name not in config:
            continue
        if not isinstance(config[name], dict):
            raise ConfigError(f"config.{name} must be an object: what a {kind} holds")
        try:
            head = {"apiVersion": version, "kind": kind}
            if name == "policy" and config[name].get("kind") == CONFIGURATION_KIND:
                head = {"apiVersion": CONFIGURATION_V1, "kind": CONFIGURATION_KIND}
            text = json.dumps({**head, **config[name], "kind": head["kind"]})
        except RecursionError as error:
            raise ConfigError(f"config.{name} is nested too deeply") from error
        documents += bundles.read_documents(text)
    replaced = {CONFIG_KINDS[name][1] for name in config}
    if "policy" in config:
        replaced.add(CONFIGURATION_KIND)
    after = list(scenario.documents)
    for document in documents:
        kinds = (
            {document.get("kind")} if document.get("kind") == SETTINGS_KIND else replaced - {SETTINGS_KIND}
        )
        places = [place for place, old in enumerate(after) if old.get("kind") in kinds]
        at = places[0] if places else len(after)
        after[at:] = [document, *(old for old in after[at:] if old.get("kind") not in kinds)]
    if "policy" in config and not config.get("settings", {}).get("scheduler"):
        named = next((one.get("scheduler") for one in after if one.get("kind") == SETTINGS_KIND), "")
        if not can_read(str(named or ""), documents[0]):  # then the configuration chooses
            after = list(edited(after, "setting", "scheduler", ""))
    changed = msgspec.structs.replace(scenario, documents=tuple(after))
    # A configuration that chooses no release does not take the scenario to another one.
    return bundles.reread(changed, presumed="" if row_of(scenario.release).is_timed else scenario.release)


def _check_room(owner: str, address: str) -> None:
    """Raise TooManyRunsError if another run would exceed a limit."""
    alone = Run.objects.filter(sweep=None)  # sweeps have limits of their own
    unfinished = alone.filter(state__in=UNFINISHED)
    for name, runs, text in (
        ("RUNS_PER_OWNER", unfinished.filter(owner=owner), "You have {} unfinished runs."),
        ("RUNS_PER_ADDRESS", unfinished.filter(address=address), "Your address has {} unfinished runs."),
        ("RUNS_QUEUED", alone.filter(state=QUEUED), "{} runs wait for a worker."),
    ):
        if name == "RUNS_PER_ADDRESS" and not address:
            continue
        if runs.count() >= limit(name):
            raise TooManyRunsError(f"{text.format(limit(name))} Wait for one to end, or cancel one.")


def known_or_started(
    scenario: core.Scenario, owner: str, address: str = "", *, text: str | None = None
) -> tuple[Run, str]:
    """Return the run of this scenario that this engine has computed for an owner; else :func:`start` one.

    The scenario has the configuration, the scheduler and the seed. A run that may have called an extender is
    computed again. Returns and raises what :func:`start` does; what has ended needs no token.
    """
    if not any(one.extenders for one in scenario.configurations):
        row = store.keep_scenario(scenario, text, owner)
        same = Run.objects.filter(scenario=row, owner=owner, state=DONE, code=engine_code())
        known = same.order_by("-finished").first()
        if known is not None:
            return known, secrets.token_urlsafe(24)
    return start(scenario, owner, address, text=text)


def start(
    scenario: core.Scenario, owner: str, address: str = "", *, text: str | None = None
) -> tuple[Run, str]:
    """Store a queued run and send its id to the broker when the transaction commits.

    Limits are counted by ``address`` if it is known (a new cookie is free, an address is not). ``text`` is
    the text from which the scenario was read.

    Returns the run and a token that cancels it (for callers without the owner's cookie).
    Raises TooManyRunsError and StorageFullError.
    """
    token = secrets.token_urlsafe(24)
    with transaction.atomic():
        _check_room(owner, address)
        quotas.check(owner, address, quotas.ROW_BYTES)
        row = store.keep_scenario(scenario, text, owner)
        run = Run.objects.create(
            id=new_run_id(),
            scenario=row,
            title=store.clean_title(scenario.title),
            owner=owner,
            address=address,
            cancel_token=token_hash(token),
            expected=queue_choice.expected_cycles(scenario),
            queue=queue_choice.queue_for(scenario),
            samples={**several.begun(scenario.settings), **over_time.begun(scenario)},
            request_id=log_context.asked_by(),
        )
        transaction.on_commit(lambda: delivery.enqueue(run.id, run.queue))
    return run, token


def may_cancel(run: Run, visitor: str, token: str = "") -> bool:
    """Return whether the caller may cancel a run: by its owner's cookie, or by the API's cancel token."""
    by_cookie = bool(visitor) and secrets.compare_digest(run.owner, visitor)
    by_token = bool(token) and secrets.compare_digest(run.cancel_token, token_hash(token))
    return by_cookie or by_token


def cancel(run: Run) -> Run:
    """Cancel a queued run at once; ask the worker of a running one to stop after its slice."""
    now = timezone.now()
    if Run.objects.filter(pk=run.pk, state=QUEUED).update(state=CANCELLED, finished=now):
        cells.end(run.pk, error=CANCELLED)
    Run.objects.filter(pk=run.pk, state=RUNNING).update(state=CANCELLING)
    fresh = store.run_row(run.pk)
    assert fresh is not None
    return fresh


def text_of(moment: datetime | None) -> str | None:
    """Return a moment as the protocol has it, to the millisecond."""
    return None if moment is None else moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def run_wire(
    run: Run, visitor: str = "", *, shared: bool | None = None, places: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """Return the protocol's ``Run`` as ``visitor`` sees it.

    ``shared`` is :func:`is_shared` of its scenario, and ``places`` the :func:`fairness.positions`, if the
    caller has them already.
    """
    shared = is_shared(run.scenario) if shared is None else shared
    if places is None:
        places = fairness.positions() if run.state == QUEUED else {}
    return {
        "run": run.pk,
        "scenario": run.scenario.short if shared else None,
        "title": run.title,
        "state": run.state,
        "position": places.get(run.pk),
        "done": run.cycles,
        "total": run.expected,
        "placed": run.placed,
        "pending": run.pending,
        "unschedulable": run.unschedulable,
        "cache": run.cache,
        "seconds": round(run.seconds, 3),
        "peakMib": round(run.peak_mib, 1),
        "error": run.error or None,
        "mine": may_cancel(run, visitor),
        "created": text_of(run.created),
        "started": text_of(run.started),
        "finished": text_of(run.finished),
        "expires": text_of(run.expires),
    }


def is_shared(row: Scenario) -> bool:
    """Return whether a scenario has a public link."""
    return Share.objects.filter(scenario=row).exists()

"""Changes to the list of schedulers in the SimulationSettings, as a form makes them."""

from __future__ import annotations

from typing import Any

from scheduler_core.authoring.policy_rewrites import EditError, Entries, read_json, with_field
from scheduler_core.kubernetes.manifests import Document
from scheduler_core.kubernetes.readers import At, DocumentRoot, Report
from scheduler_core.settings.release import TIMED
from scheduler_core.settings.settings import SETTINGS_KIND, read_settings
from scheduler_core.settings.several import DESIGNS, SIDE_BY_SIDE

DEFAULTS: dict[str, Any] = {
    "watchDelay": 0,
    "decisionTime": 0,
    "bindDelay": 0,
    "replicas": 1,
    "nodes": {},
    "runs": "",
}
"""What is not written down, for each field of an entry but its name."""


def schedule(settings: Document, name: str, value: str) -> Document:
    """Return the settings with one scheduler changed, or with a new one if ``name`` is empty.

    ``value`` is its entry as JSON, "" to take it off the list. The list runs under v1.22 alone: another
    release, or none, is replaced by that.

    Raises:
        EditError: There is no such scheduler, or the settings would not be valid.
    """
    written = settings.get("schedulers") or []
    entries: Entries = [dict(one) for one in written]
    place = next((at for at, one in enumerate(entries) if one.get("name") == name), None)
    if name and place is None:
        raise EditError(f"There is no scheduler {name[:60]!r} in the list.")
    if value:
        given = read_json(value, dict, "A scheduler")
        entry = {key: part for key, part in given.items() if part != DEFAULTS.get(key)}
        if place is None:
            entries.append(entry)
        else:
            entries[place] = entry
    elif place is None:
        raise EditError("Name the scheduler to remove.")
    else:
        del entries[place]
    return _valid(with_field(settings, "schedulers", entries, []), runs=bool(value))


def design(settings: Document, name: str, value: str) -> Document:
    """Return the settings with another design. Raises EditError as :func:`schedule` does."""
    if name != "design" or value not in DESIGNS:
        raise EditError(f"The design is one of {', '.join(DESIGNS)}, not {value[:40]!r}.")
    return _valid(with_field(settings, "design", value, SIDE_BY_SIDE), runs=value != SIDE_BY_SIDE)


def _valid(settings: Document, *, runs: bool) -> Document:
    """Check the settings; if ``runs``, have them answered by the release that runs several schedulers."""
    report = Report()
    timed = settings.get("time") == "virtual" and not settings.get("scheduler")
    if runs and settings.get("scheduler") != TIMED and not timed:
        settings = {**settings, "scheduler": TIMED}
    read_settings(settings, At(report, None, DocumentRoot(SETTINGS_KIND)))
    for at, message in report.errors:
        field = next((str(step) for step in reversed(at.steps) if isinstance(step, str)), "")
        raise EditError(f"{field}: {message}." if field not in ("", "schedulers") else f"{message}.")
    if report.unknown:
        raise EditError(f"There is no field {next(iter(report.unknown))[-1]!r} of a scheduler.")
    return settings

"""Which settings each process of a deployment has: what ``manage.py check_deployment`` compares.

Web processes, workers and beat say so in the database, with fingerprints of the values: no value leaves its
process. Services that were given different settings are the usual reason why something is never delivered.
"""

from __future__ import annotations

import hmac
import socket
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta

import structlog
from django.conf import settings
from django.db import close_old_connections
from django.utils import timezone

from playground.limits import LIMITS
from playground.models import Worker
from playground.runtime import outage

log = structlog.get_logger(__name__)

WEB, WORKER, BEAT = SERVICES = ("web", "worker", "beat")
ANNOUNCE_SECONDS = 60.0
SEEN_SECONDS = 150.0  # a service that was not seen for longer does not run

_COMPUTING = frozenset({WEB, WORKER})
VARIABLES: Mapping[str, tuple[str, Collection[str]]] = {
    "SECRET_KEY": ("SECRET_KEY", _COMPUTING),
    "SECRET_KEY_FALLBACKS": ("SECRET_KEY_FALLBACKS", _COMPUTING),
    "REDIS_URL": ("REDIS_URL", _COMPUTING),
    "CELERY_BROKER_URL": ("CELERY_BROKER_URL", SERVICES),
    "PLAYGROUND_LESSONS": ("LESSONS", _COMPUTING),
    "PLAYGROUND_LTI": ("LTI_PLATFORMS", _COMPUTING),
    "PLAYGROUND_LTI_KEY": ("LTI_KEY", _COMPUTING),
    "PLAYGROUND_LRS": ("LRS", _COMPUTING),
    "PLAYGROUND_LRS_HOME": ("LRS_HOME", _COMPUTING),
    "PLAYGROUND_EXTENDERS": ("EXTENDERS", _COMPUTING),
    "PLAYGROUND_EXTENDER_NETWORKS": ("EXTENDER_NETWORKS", _COMPUTING),
}
"""Of each variable the setting that it becomes, and the services that need the same."""

_outages = outage.OutageLog("announcing a service")


def fingerprints() -> dict[str, str]:
    """Return a fingerprint of each variable that this process has, limits beside their defaults too."""
    values = {name: getattr(settings, attribute) for name, (attribute, _) in VARIABLES.items()}
    values |= {
        f"PLAYGROUND_{row.name}": str(given)
        for row in LIMITS
        if (given := settings.PLAYGROUND[row.name]) != row.default
    }
    return {name: _fingerprint(name, str(value)) for name, value in values.items() if value}


def _fingerprint(name: str, value: str) -> str:
    return hmac.digest(settings.SECRET_KEY.encode(), f"{name}={value}".encode(), "sha256").hex()[:16]


def announce(service: str) -> None:
    """Say that a service runs on this machine, and with which settings."""
    name = f"{service}@{socket.gethostname()}"
    known = {"service": service, "queues": [], "settings": fingerprints(), "seen": timezone.now()}
    Worker.objects.update_or_create(name=name, defaults=known)


def start(service: str) -> None:
    """Announce a service now and every minute, as long as this process runs."""
    threading.Thread(target=_announce_forever, args=(service,), name="announce", daemon=True).start()


def _announce_forever(service: str) -> None:
    while True:
        try:
            close_old_connections()
            announce(service)
            _outages.succeeded()
        except Exception as error:
            if outage.cause_of(error) is None:
                log.exception("a service was not announced", service=service)
            _outages.failed(error)
        finally:
            close_old_connections()
        time.sleep(ANNOUNCE_SECONDS)


# --- checking ----------------------------------------------------------------------------------


def running() -> list[Worker]:
    """Return the processes that were seen recently, web servers first."""
    since = timezone.now() - timedelta(seconds=SEEN_SECONDS)
    seen = Worker.objects.filter(seen__gte=since).order_by("name")
    return sorted(seen, key=lambda one: SERVICES.index(one.service))


def problems(processes: Collection[Worker]) -> Iterator[str]:
    """Yield in sentences which services do not run, and what some of those that do lack."""
    there = {one.service for one in processes}
    for service in SERVICES:
        if service not in there:
            yield f"no {service} runs, or it has another DATABASE_URL."
    for name in sorted({name for one in processes for name in one.settings}):
        yield from _differing(name, [one for one in processes if one.service in _needed_by(name)])


def _needed_by(name: str) -> Collection[str]:
    return VARIABLES[name][1] if name in VARIABLES else _COMPUTING


def _differing(name: str, processes: list[Worker]) -> Iterator[str]:
    having = [one for one in processes if name in one.settings]
    for one in processes:
        if having and name not in one.settings:
            yield f"{one.name} lacks {name}, which {having[0].name} has."
        elif having and one.settings[name] != having[0].settings[name] and _is_told(name, one, having[0]):
            yield f"{one.name} has another {name} than {having[0].name}."


def _is_told(name: str, one: Worker, other: Worker) -> bool:
    """Return whether values can be compared: fingerprints are keyed with the secret, reported first."""
    return name == "SECRET_KEY" or one.settings.get("SECRET_KEY") == other.settings.get("SECRET_KEY")

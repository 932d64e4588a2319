"""``manage.py check_deployment``, and what services say of themselves."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.utils import timezone

from playground import tasks
from playground.models import Worker
from playground.serving import deployment, heartbeat

pytestmark = pytest.mark.django_db

STORE = {"LRS": "https://key:secret@lrs.example/xapi", "LRS_HOME": "https://podstep.example"}


@pytest.fixture
def deployed(settings: Any) -> Any:
    """Announce a web server, a worker and beat with the settings that a test gives each."""

    def announce(**changes: dict[str, Any]) -> str:
        for service in deployment.SERVICES:
            kept = {name: getattr(django_settings, name) for name in changes.get(service, {})}
            for name, value in changes.get(service, {}).items():
                setattr(settings, name, value)
            if service == deployment.WORKER:
                heartbeat.beat("1-worker@host")
            else:
                deployment.announce(service)
                Worker.objects.filter(service=service).update(name=f"{service}@host")
            for name, value in kept.items():
                setattr(settings, name, value)
        out = StringIO()
        try:
            call_command("check_deployment", stdout=out)
        except CommandError as error:
            return str(error)
        return out.getvalue()

    return announce


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, "All services have the same settings."),
        ({"web": STORE, "worker": STORE}, "All services have the same settings."),
        ({"web": STORE}, "1-worker@host lacks PLAYGROUND_LRS, which web@host has."),
        ({"web": STORE}, "1-worker@host lacks PLAYGROUND_LRS_HOME, which web@host has."),
        ({"worker": {"LESSONS": "/a"}}, "web@host lacks PLAYGROUND_LESSONS, which 1-worker@host has."),
        (
            {"web": {"LESSONS": "/a"}, "worker": {"LESSONS": "/b"}},
            "1-worker@host has another PLAYGROUND_LESSONS than web@host.",
        ),
        ({"worker": {"SECRET_KEY": "x" * 60}}, "1-worker@host has another SECRET_KEY than web@host."),
        ({"beat": {"CELERY_BROKER_URL": "redis://x/1"}}, "beat@host has another CELERY_BROKER_URL"),
        (
            {"web": {"PLAYGROUND": {**django_settings.PLAYGROUND, "ACCOUNTS": 0}}},
            "1-worker@host lacks PLAYGROUND_ACCOUNTS, which web@host has.",
        ),
    ],
)
def test_what_a_service_lacks_is_said(deployed: Any, changes: dict[str, Any], found: str) -> None:
    """By its name and the variable's; a secret that differs is reported alone, and beat needs few."""
    reported = deployed(**changes)
    assert any(found in line for line in reported.splitlines()), reported
    if "SECRET_KEY" in str(changes):
        assert len(reported.splitlines()) == 1


def test_a_service_that_does_not_run_is_said(deployed: Any) -> None:
    """One that was not seen for minutes counts as gone; web servers and beat are no workers."""
    deployed()
    assert [one.service for one in Worker.alive()] == ["worker"]
    Worker.objects.filter(service="beat").update(seen=timezone.now() - timedelta(minutes=5))
    with pytest.raises(CommandError, match="no beat runs, or it has another DATABASE_URL"):
        call_command("check_deployment", stdout=StringIO())


def test_no_value_is_stored(settings: Any) -> None:
    """Only fingerprints, keyed with the secret."""
    settings.LRS = STORE["LRS"]
    deployment.announce("web")
    stored = str(Worker.objects.get().settings)
    assert "secret" not in stored
    assert settings.SECRET_KEY not in stored
    before = deployment.fingerprints()["PLAYGROUND_LRS"]
    settings.SECRET_KEY = "another" * 10
    assert deployment.fingerprints()["PLAYGROUND_LRS"] != before


def test_a_worker_that_knows_no_other_server_delivers_nothing(settings: Any) -> None:
    """The task is always scheduled; what is due waits for a worker that has the variables."""
    assert "deliver" in settings.CELERY_BEAT_SCHEDULE
    settings.LTI_PLATFORMS, settings.LRS = (), ""
    assert tasks.deliver() == {}


async def test_a_web_server_announces_itself_at_its_start(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """Uvicorn's lifespan is answered, at the end too."""
    started: list[str] = []
    monkeypatch.setattr(deployment, "start", started.append)
    settings.PLAYGROUND = {**settings.PLAYGROUND, "LOOP_STALL_SECONDS": 0}
    from playground.asgi import application

    asked = iter(("lifespan.startup", "lifespan.shutdown"))
    sent: list[str] = []

    async def receive() -> dict[str, str]:
        return {"type": next(asked)}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await application({"type": "lifespan"}, receive, send)
    assert (started, sent) == (["web"], ["lifespan.startup.complete", "lifespan.shutdown.complete"])

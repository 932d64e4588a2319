"""``manage.py check_worker``: the worker's health check in a container."""

from __future__ import annotations

import socket
from typing import Any

from django.core.management.base import CommandError, CommandParser

from playground.management.command import PlainCommand
from playground.models import Worker
from playground.queues import QUEUES


class Command(PlainCommand):
    help = "Exit with 0 if a worker of this machine has sent a recent heartbeat."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the queue that the worker must serve."""
        parser.add_argument("--queue", choices=QUEUES, help="the worker has to serve this queue")

    def handle(self, *args: Any, **options: Any) -> None:
        """Look for the worker's row; raise CommandError if it is missing or old."""
        # Celery names a worker `<name>@<host>`.
        host = socket.gethostname()
        here = Worker.alive().filter(name__endswith=f"@{host}").values_list("queues", flat=True)
        if not any(options["queue"] in (None, *queues) for queues in here):
            raise CommandError(f"no recent heartbeat of a worker on {host}")

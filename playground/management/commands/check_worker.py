"""``manage.py check_worker``: the worker's health check in a container."""

from __future__ import annotations

import socket
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from playground.models import Worker


class Command(BaseCommand):
    help = "Exit with 0 if the worker of this machine said lately that it is there."
    requires_system_checks = ()  # asked every half minute: only the question itself

    def handle(self, *args: Any, **options: Any) -> None:
        """Look for the worker's row; raise CommandError if it is missing or old."""
        # Celery names a worker `celery@host`.
        host = socket.gethostname()
        if not Worker.alive().filter(name__endswith=f"@{host}").exists():
            raise CommandError(f"no worker on {host} was heard of lately")

"""``manage.py check_deployment``: which service of a deployment lacks what."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from playground.management.command import PlainCommand
from playground.serving import deployment


class Command(PlainCommand):
    help = "List the services that run, and say which of them lacks a setting that another one has."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a line a process and one a problem; raise CommandError if there is a problem."""
        processes = deployment.running()
        for one in processes:
            self.stdout.write(f"{one.name}: {', '.join(sorted(one.settings)) or 'no settings'}")
        if found := list(deployment.problems(processes)):
            raise CommandError("\n".join(found))
        self.stdout.write("All services have the same settings.")

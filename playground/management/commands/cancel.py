"""``manage.py cancel RUN``: cancel anybody's run."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from playground.management.command import PlainCommand
from playground.models import UNFINISHED, Run
from playground.runs import service
from playground.storage import audit


class Command(PlainCommand):
    help = "Cancel a run: a queued one at once, a running one after its slice."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the run, and the reason."""
        parser.add_argument("run", help="the run's id")
        parser.add_argument("--why", default="", help="for the audit log")

    def handle(self, *args: Any, **options: Any) -> None:
        """Cancel the run; raise CommandError if it does not exist or has ended."""
        run = Run.objects.filter(pk=options["run"]).only("pk", "state").first()
        if run is None:
            raise CommandError(f"There is no run {options['run']}.")
        if run.state not in UNFINISHED:
            raise CommandError(f"The run is over: {run.state}.")
        audit.record("cancel", run.pk, options["why"])
        self.stdout.write(f"{run.pk} is {service.cancel(run).state}")

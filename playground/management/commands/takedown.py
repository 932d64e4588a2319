"""``manage.py takedown ID``: a link, and every run of its scenario, answers 410 with a reason; and back.

So does a comparison, which leaves what was compared as it is; with a scenario go the comparisons of it.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from playground.management.command import PlainCommand
from playground.models import Comparison, Run, Scenario
from playground.storage import audit


class Command(PlainCommand):
    help = "Take a link down: it and every run of its scenario answer 410 with the reason."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the link, run or comparison, and the reason."""
        parser.add_argument("id", help="of the link, of a run, or of a comparison")
        parser.add_argument("--why", default="", help="the reason, shown to visitors")
        parser.add_argument("--restore", action="store_true", help="restore it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Take down or restore; raise CommandError if there is none."""
        why = " ".join(options["why"].split())
        if not why and not options["restore"]:
            raise CommandError("Give a reason, as in --why 'names of real people'; visitors see it.")
        row = _row(options["id"])
        kind = "comparison" if isinstance(row, Comparison) else "link"
        what = f"restore {kind}" if options["restore"] else "takedown"
        with transaction.atomic():
            type(row).objects.filter(pk=row.pk).update(withdrawn="" if options["restore"] else why)
            audit.record(what, row.short, why)
        self.stdout.write(f"{row.short} {'answers again' if options['restore'] else 'is taken down'}")


def _row(name: str) -> Scenario | Comparison:
    """Return the scenario of a link or a run, or a comparison. Raises CommandError."""
    compared = Comparison.objects.defer("answer")
    return compared.filter(short=name).first() or compared.filter(digest=name).first() or _scenario(name)


def _scenario(name: str) -> Scenario:
    """Return the scenario of a link or a run. Raises CommandError."""
    light = Scenario.objects.defer("content", "text")
    row = light.filter(short=name).first() or light.filter(digest=name).first()
    if row is None and (run := Run.objects.filter(pk=name).only("scenario").first()) is not None:
        row = light.get(pk=run.scenario_id)
    if row is None:
        raise CommandError(f"There is no link, run or comparison {name}.")
    return row

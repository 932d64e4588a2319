"""``manage.py audit``: what operators did."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from playground.models import AuditEntry


class Command(BaseCommand):
    help = "List the operators' takedowns, bans, cancellations and restores, newest first."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the number of entries."""
        parser.add_argument("--limit", type=int, default=100, help="how many (default: %(default)s)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one entry per line: time, operator, action, subject, reason."""
        for entry in AuditEntry.objects.order_by("-created", "-pk")[: max(0, options["limit"])]:
            fields = (entry.created.isoformat(timespec="seconds"), entry.who, entry.what, entry.subject)
            self.stdout.write("\t".join((*fields, " ".join(entry.why.split()))))

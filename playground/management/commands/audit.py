"""``manage.py audit``: what operators did, and what visitors deleted, revoked or handed over."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from playground.management.command import PlainCommand
from playground.models import AuditEntry
from playground.storage import audit


class Command(PlainCommand):
    help = "List what operators did, and what visitors deleted, revoked or handed over, newest first."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare which entries, and how many."""
        parser.add_argument("--limit", type=int, default=100, help="how many (default: %(default)s)")

        parser.add_argument("--operators", action="store_true", help="operators' entries only")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one entry per line: time, who, action, subject, reason."""
        wanted = AuditEntry.objects.order_by("-created", "-pk")
        if options["operators"]:
            wanted = wanted.exclude(audit.OF_VISITORS)
        for entry in wanted[: max(0, options["limit"])]:
            fields = (entry.created.isoformat(timespec="seconds"), entry.who, entry.what, entry.subject)
            self.stdout.write("\t".join((*fields, " ".join(entry.why.split()))))

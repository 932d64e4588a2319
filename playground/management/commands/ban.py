"""``manage.py ban SUBJECT``: refuse an address or an owner before any work is done; and lift that."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from playground.management.command import PlainCommand
from playground.models import Ban
from playground.storage import audit
from playground.visitors import addresses, identity
from playground.visitors.bans import REFRESH_SECONDS


class Command(PlainCommand):
    help = "Refuse all requests of an address or an owner with 403."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the subject, the end of the ban, and the reason."""
        parser.add_argument("subject", help="an address (for IPv6 its /64 counts), or an owner of `list`")
        parser.add_argument("--until", help="a date or a time, as 2027-01-31 or 2027-01-31T12:00 (UTC)")
        parser.add_argument("--why", default="", help="for the audit log")
        parser.add_argument("--lift", action="store_true", help="lift the ban")

    def handle(self, *args: Any, **options: Any) -> None:
        """Ban or lift a ban; raise CommandError for a time in the past, or if there is no ban to lift."""
        subject = addresses.client_address(options["subject"].removeprefix(identity.AT_ADDRESS), "")
        with transaction.atomic():
            if options["lift"]:
                if not Ban.objects.filter(subject=subject).delete()[0]:
                    raise CommandError(f"{subject} is not banned.")
            else:
                until = _moment(options["until"]) if options["until"] else None
                Ban.objects.update_or_create(subject=subject, defaults={"until": until})
            audit.record("lift ban" if options["lift"] else "ban", subject, options["why"])
        what = "is no longer banned" if options["lift"] else "is banned"
        self.stdout.write(f"{subject} {what}, within {REFRESH_SECONDS:g} seconds")


def _moment(text: str) -> datetime:
    """Parse a time in the future, in UTC by default. Raises CommandError."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise CommandError(f"{text} is no date or time, as 2027-01-31T12:00.") from error
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment <= timezone.now():
        raise CommandError(f"{text} has passed.")
    return moment

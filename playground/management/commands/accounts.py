"""``manage.py accounts``: who has an account, what it holds, and when somebody last signed in."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from playground.accounts import ownership
from playground.management.command import PlainCommand
from playground.models import Account

COLUMNS = ("name", "owner", "created", "last sign-in", "holds")


class Command(PlainCommand):
    help = "List accounts with the owner of their rows, which `list --owner` and `ban` take."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the name and the number of rows."""
        parser.add_argument("name", nargs="?", help="this account only")
        parser.add_argument("--limit", type=int, default=50, help="how many (default: %(default)s)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a header line, then one account per line, the newest first, separated by tabs."""
        found = Account.objects.order_by("-created", "pk")
        if options["name"]:
            found = found.filter(username=options["name"].lower())
        self.stdout.write("\t".join(COLUMNS))
        for account in found[: max(0, options["limit"])]:
            seen = account.last_login.isoformat(timespec="seconds") if account.last_login else "never"
            created = account.created.isoformat(timespec="seconds")
            holds = ownership.holdings(account.owner) or "nothing"
            self.stdout.write(f"{account.username}\t{account.owner}\t{created}\t{seen}\t{holds}")

"""``manage.py list KIND``: who has stored what, how large, and until when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandParser
from django.db.models import Q, QuerySet

from playground.management.command import PlainCommand
from playground.models import ComparisonShare, Draft, Run, Share

ORDERS = {"size": "-{size}", "age": "created"}
COLUMNS = ("id", "owner", "address", "bytes", "created", "expires", "state", "title")

#: Kind -> its rows, the fields for the columns above, and the field with their size.
KINDS: dict[str, tuple[Callable[[], QuerySet[Any]], tuple[str, ...], str]] = {
    "links": (
        Share.objects.all,
        (
            *("scenario__short", "owner", "address", "scenario__packed", "created", "scenario__expires"),
            *("scenario__withdrawn", "scenario__title"),
        ),
        "scenario__packed",
    ),
    "drafts": (
        Draft.objects.all,
        ("pk", "owner", "address", "packed", "created", "expires", "based_on", "title"),
        "packed",
    ),
    "comparisons": (
        ComparisonShare.objects.all,
        (
            *(
                "comparison__short",
                "owner",
                "address",
                "comparison__packed",
                "created",
                "comparison__expires",
            ),
            *("comparison__withdrawn", "comparison__title"),
        ),
        "comparison__packed",
    ),
    "runs": (
        Run.objects.all,
        ("pk", "owner", "address", "packed", "created", "expires", "state", "title"),
        "packed",
    ),
}


class Command(PlainCommand):
    help = "List links, drafts, comparisons or runs with owner, address, compressed bytes and expiry date."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the kind, the owner, the order, and the number of rows."""
        parser.add_argument("kind", choices=sorted(KINDS))
        parser.add_argument("--owner", help="of this owner or from this address only")
        parser.add_argument("--by", choices=sorted(ORDERS), default="size", help="largest or oldest first")
        parser.add_argument("--limit", type=int, default=50, help="how many (default: %(default)s)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print a header line, then one row per line, separated by tabs."""
        rows, fields, size = KINDS[options["kind"]]
        of_whom = Q(owner=options["owner"]) | Q(address=options["owner"]) if options["owner"] else Q()
        found = rows().filter(of_whom).order_by(ORDERS[options["by"]].format(size=size), "pk")
        self.stdout.write("\t".join(COLUMNS))
        for row in found.values_list(*fields)[: max(0, options["limit"])]:
            self.stdout.write("\t".join(map(_cell, row)))


def _cell(value: Any) -> str:
    text = value.isoformat(timespec="seconds") if hasattr(value, "isoformat") else str(value)
    return " ".join(text.split()) if value is not None else "always"

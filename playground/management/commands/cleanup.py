"""``manage.py cleanup``: remove what has expired, as the scheduled task does, without a bound in time."""

from __future__ import annotations

import math
from typing import Any

from playground import extenders
from playground.management.command import PlainCommand
from playground.runtime import outage
from playground.storage import retention


class Command(PlainCommand):
    help = "Remove expired drafts, links and runs, and the data that only they used."

    def handle(self, *args: Any, **options: Any) -> None:
        """Remove expired rows, and print the number of each kind."""
        outage.lift_statement_timeout()
        removed = retention.remove_expired(most_seconds=math.inf)
        removed |= {"answers of extenders": extenders.remove_expired()}
        self.stdout.write("removed " + ", ".join(f"{count} {kind}" for kind, count in removed.items()))

"""``manage.py prepare``: the database's tables and the collected static files, before anything serves."""

from __future__ import annotations

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Bring the database up to date and collect the static files. Safe to repeat."

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, then collect."""
        call_command("migrate", interactive=False, verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)

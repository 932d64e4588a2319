"""``manage.py prepare``: the data folder, the database's tables and the collected static files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from playground.management.command import PlainCommand
from playground.runtime import broker, outage
from playground.serving import built, data_folder, faults, sqlite, static_storage


class Command(PlainCommand):
    help = "Migrate the database, bundle the pages if they changed, and collect the static files. Idempotent."

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the data folder private, check the database, migrate, bundle pages, collect static files."""
        os.umask(data_folder.PRIVATE_UMASK)
        data_folder.tighten(settings.DATA_DIR)
        broker.remove_leftovers(Path(settings.DATA_DIR) / "broker" / "queue")
        if connection.vendor == "sqlite" and not sqlite.is_sound(connection):
            raise CommandError(faults.damaged(connection.settings_dict["NAME"]))
        outage.lift_statement_timeout()
        call_command("migrate", interactive=False, verbosity=0)
        data_folder.tighten(settings.DATA_DIR)  # again, for a database that was just created
        try:
            built.make()
        except built.BuildError as error:
            raise CommandError(error) from error
        sources = list(static_storage.SOURCES)
        call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=sources)

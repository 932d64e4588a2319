"""``manage.py restore FILE``: what ``manage.py backup`` has written, in the place of what is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from playground.management.command import PlainCommand
from playground.storage import audit, backups


class Command(PlainCommand):
    help = "Restore a backup and migrate the database. The server must be stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the file, and whether it may replace existing data."""
        parser.add_argument("file", type=Path, help="the file that manage.py backup wrote")
        parser.add_argument("--replace", action="store_true", help="delete the current data")

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore the backup, and print a summary; raise CommandError if it fails."""
        try:
            manifest = backups.restore(options["file"], replace=options["replace"])
            audit.record("restore", options["file"].name, f"made {manifest['created']}")
        except (backups.BackupError, OSError) as error:
            raise CommandError(str(error)) from error
        rows = ", ".join(f"{count:,} {name}" for name, count in manifest["rows"].items())
        self.stdout.write(f"restored {rows}, of {manifest['created']}")

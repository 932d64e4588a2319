"""``manage.py backup FILE``: everything in one file, while the server runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from playground.management.command import PlainCommand
from playground.storage import backups


class Command(PlainCommand):
    help = "Write the database and the generated secret to one file. The server may be running."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the file."""
        parser.add_argument("file", type=Path, help="where to write; it must not exist")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the backup, and print a summary; raise CommandError if it fails."""
        path: Path = options["file"]
        try:
            manifest = backups.backup(path)
        except (backups.BackupError, OSError) as error:
            raise CommandError(str(error)) from error
        rows = ", ".join(f"{count:,} {name}" for name, count in manifest["rows"].items())
        self.stdout.write(f"{path}: {path.stat().st_size:,} bytes, {rows}")

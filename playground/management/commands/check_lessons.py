"""``manage.py check_lessons FOLDER``: what the tests of lessons find in an operator's folder."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from playground.lessons import checks, served
from scheduler_core.authoring.lessons import LessonError


class Command(BaseCommand):
    """Play each lesson and print its problems, with file and line."""

    help = "Check the lessons of a folder, as PLAYGROUND_LESSONS names it, by playing them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the folder."""
        parser.add_argument("folder", type=Path)

    def handle(self, *_: Any, folder: Path, **__: Any) -> None:
        """Print a line a problem; fail if there is one."""
        wrong = 0
        try:
            found = served.folders(folder)
        except LessonError as error:
            raise CommandError(str(error)) from error
        for one in found:
            try:
                problems = checks.checked(one.name, served.files_in(one))
            except LessonError as error:
                self.stdout.write(f"{one.name}: {error}")
                wrong += 1
                continue
            for problem in problems:
                self.stdout.write(f"{problem.file}:{problem.line or 1}: {problem.message}")
            wrong += len(problems)
        if wrong:
            raise CommandError(f"{wrong} problems in {len(found)} lessons.")
        self.stdout.write(f"{len(found)} lessons are sound.")

"""``manage.py check_lessons [FOLDER|LINK …]``: what the tests of lessons find in an operator's lessons."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from playground.courseware import LessonError
from playground.lessons import checks, links, operator_lessons
from playground.management.command import PlainCommand


class Command(PlainCommand):
    """Play each lesson and print its problems, with file and line; fetch each link first."""

    help = "Check the lessons of folders and links, without any those of PLAYGROUND_LESSONS, by playing them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take folders and links."""
        parser.add_argument("source", nargs="*")

    def handle(self, *_: Any, source: list[str], **__: Any) -> None:
        """Print a line a problem; fail if there is one."""
        wrong, sound = 0, 0
        try:
            named = operator_lessons.sources(" ".join(map(str, source)) or settings.LESSONS)
            found = [one for folder in named.folders for one in operator_lessons.folders(Path(folder))]
        except LessonError as error:
            raise CommandError(str(error)) from error
        for one in found:
            count = self._folder(one)
            wrong, sound = wrong + count, sound + (not count)
        for link in named.links:
            ok = self._link(link)
            wrong, sound = wrong + (not ok), sound + ok
        if wrong:
            raise CommandError(f"{wrong} problems in {len(found) + len(named.links)} lessons.")
        self.stdout.write(f"{sound} lessons are sound.")

    def _folder(self, folder: Path) -> int:
        try:
            problems = checks.checked(folder.name, operator_lessons.files_in(folder))
        except LessonError as error:
            self.stdout.write(f"{folder.name}: {error}")
            return 1
        for problem in problems:
            self.stdout.write(f"{problem.file}:{problem.line or 1}: {problem.message}")
        return len(problems)

    def _link(self, link: str) -> bool:
        known = links.fetch(link)
        if not known.error:
            self.stdout.write(f"{link}: {known.folder}, SHA-256 {known.sha256}")
        else:
            since = datetime.fromtimestamp(known.good, UTC).isoformat(timespec="seconds")
            stays = f" The copy of {since}, SHA-256 {known.sha256}, stays." if known.sha256 else ""
            self.stdout.write(f"{link}: {known.error}.{stays}")
        return not known.error

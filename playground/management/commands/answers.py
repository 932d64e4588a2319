"""``manage.py answers SLUG``: the link with which a teacher prints a lesson's answers."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from playground.courseware import LessonError
from playground.lessons import answer_links, lookup
from playground.management.command import PlainCommand


class Command(PlainCommand):
    """Print a signed link, good for half a year, below the server's own address."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the lesson's address below ``/learn/``."""
        parser.add_argument("slug")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the link."""
        slug = options["slug"]
        try:
            found = lookup.lesson_at(slug)
        except LessonError as error:
            raise CommandError(str(error)) from error
        if found is None:
            raise CommandError(f"There is no lesson {slug!r}; give its address below /learn/.")
        self.stdout.write(f"/learn/{slug}/handout/?answers={answer_links.signed(slug)}")

"""What the commands of ``manage.py`` have in common."""

from __future__ import annotations

from django.core.management.base import BaseCommand


class PlainCommand(BaseCommand):
    """A command that shows no page.

    Django's checks import every view: a third of the time that most commands take.
    """

    requires_system_checks = ()

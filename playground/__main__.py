"""Django's command line with podstep's settings: ``manage.py``, and ``python -m playground`` of a wheel."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from django.core.management import execute_from_command_line


def main(arguments: Sequence[str]) -> None:
    """Run a command; a fault of the machine ends it with a line instead of a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")
    try:
        execute_from_command_line(list(arguments))
    except Exception as error:
        # Settings that could not be read have ended the program already.
        from django.conf import settings

        from playground.serving.faults import StartError, explain, name_of

        line = explain(error, name_of(settings.DATABASES["default"])) if settings.configured else None
        if line is None:
            raise
        raise StartError([line]) from None


if __name__ == "__main__":
    main(sys.argv)

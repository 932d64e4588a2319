#!/usr/bin/env python
"""Django's command line, with podstep's settings."""

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    """Run a command; a fault of the machine ends it with a line instead of a traceback."""
    try:
        execute_from_command_line(sys.argv)
    except Exception as error:
        # Settings that could not be read have ended the program already.
        from django.conf import settings

        from playground.serving.faults import StartError, explain, name_of

        line = explain(error, name_of(settings.DATABASES["default"])) if settings.configured else None
        if line is None:
            raise
        raise StartError([line]) from None


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")
    main()

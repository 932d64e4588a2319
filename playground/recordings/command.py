"""What the engine's command line calls to write a recording, in a process without a server."""

from __future__ import annotations

import os
from pathlib import Path

import django
from django.apps import apps

from playground.courseware import lesson
from scheduler_core.scenario.scenario import Scenario


def lesson_written(name: str, language: str | None) -> str:
    """Return the HTML file of a shipped lesson by its slug, or of a lesson's folder; in English without one.

    No database is opened. Raises ValueError as :func:`written`, for a lesson that is not sound, and for a
    language that the pages of lessons do not have.
    """
    _set_up()
    from django.conf import settings

    from playground.lessons import checks, operator_lessons
    from playground.playback.deadlines import TooMuchWorkError
    from playground.recordings.lesson_file import lesson_file
    from playground.serving.built import BuildError

    if language and language not in (known := dict(settings.LANGUAGES)):
        raise ValueError(f"--lang {language}: lessons are in {' and '.join(known)}")
    folder = Path(name)
    try:
        of = lesson(name) or checks.read(folder.resolve().name, operator_lessons.files_in(folder))
        return lesson_file(of, language or settings.LANGUAGE_CODE)
    except (TooMuchWorkError, BuildError) as error:
        raise ValueError(str(error)) from error


def written(scenario: Scenario, text: str, title: str) -> str:
    """Return the HTML file of a scenario with its text; no database is opened.

    Raises ValueError for a run that is larger than a file may be, in words.
    """
    _set_up()
    from playground.playback.deadlines import TooMuchWorkError
    from playground.recordings.scenario_file import RecordedScenario, made
    from playground.serving.built import BuildError
    from playground.storage import bundles

    content = bundles.pack(bundles.content_of(scenario))
    try:
        return made(RecordedScenario(content, text, title))
    except (TooMuchWorkError, bundles.TooLargeError, BuildError) as error:
        raise ValueError(str(error)) from error


def _set_up() -> None:
    if not apps.ready:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")
        django.setup()

"""What the engine's command line calls to write a recording, in a process without a server."""

from __future__ import annotations

import os

import django
from django.apps import apps

from scheduler_core.scenario.scenario import Scenario


def written(scenario: Scenario, text: str, title: str) -> str:
    """Return the HTML file of a scenario with its text; no database is opened.

    Raises ValueError for a run that is larger than a file may be, in words.
    """
    if not apps.ready:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")
        django.setup()
    from playground.playback.stopping import TooMuchWorkError
    from playground.recordings.making import Recorded, made
    from playground.serving.built import BuildError
    from playground.storage import bundles

    content = bundles.pack(bundles.content_of(scenario))
    try:
        return made(Recorded(content, text, title))
    except (TooMuchWorkError, bundles.TooLargeError, BuildError) as error:
        raise ValueError(str(error)) from error

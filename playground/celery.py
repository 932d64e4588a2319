"""The Celery application: ``celery -A playground.celery:app worker``.

The broker only delivers run ids; see :mod:`playground.tasks` for the tasks of a worker and
:mod:`playground.serving.heartbeat` for its heartbeat.
"""

from __future__ import annotations

import os

from celery import Celery

from playground.runtime import broker, log_context  # noqa: F401 - the latter connects itself to Celery's signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")
# Django's checks import every view, of which a worker shows none: a third of its start and 27 MB.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

broker.register()
app = Celery("playground")
# Forced, so that invalid settings end the worker here, with an error message and no traceback.
app.config_from_object("django.conf:settings", namespace="CELERY", force=True)
app.autodiscover_tasks(["playground"])
# The heartbeat module connects itself to the worker's signals.
app.autodiscover_tasks(["playground.serving"], related_name="heartbeat")

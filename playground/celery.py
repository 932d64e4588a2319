"""The Celery application: ``celery -A playground.celery:app worker``.

The broker only delivers run ids; see :mod:`playground.tasks` for what a worker does with one
and :mod:`playground.serving.heartbeat` for how it says that it is there.
"""

from __future__ import annotations

import os

from celery import Celery

from playground.runtime import broker, log_context  # noqa: F401 - the latter connects itself to Celery's signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")

broker.register()
app = Celery("playground")
# At once: settings that make no sense end the worker here, with their problems and no traceback.
app.config_from_object("django.conf:settings", namespace="CELERY", force=True)
app.autodiscover_tasks(["playground"])
# The worker's sign of life connects itself to the worker's signals.
app.autodiscover_tasks(["playground.serving"], related_name="heartbeat")

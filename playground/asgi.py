"""The ASGI application: Django serves pages and API, a single consumer serves ``/ws/``."""

from __future__ import annotations

import os
import sys

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")
django_application = get_asgi_application()

# Django must be set up before anything below imports a model.
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.urls import path  # noqa: E402

from playground.live.consumer import Connection  # noqa: E402
from playground.runtime import garbage  # noqa: E402
from playground.serving import metrics  # noqa: E402
from playground.serving.bodies import bounded  # noqa: E402
from playground.serving.kept import StaticCache  # noqa: E402
from playground.serving.lifespan import lifespan  # noqa: E402
from playground.serving.origins import OwnOrigin  # noqa: E402
from playground.serving.request_ids import RequestIds  # noqa: E402
from scheduler_core.run.table import preload  # noqa: E402

# While other threads compute, a response waits for the GIL a dozen times, for this interval each time. With
# Python's default of 5 ms a response takes four times as long, and computing 3 % less.
sys.setswitchinterval(0.001)

application = RequestIds(
    ProtocolTypeRouter(
        {
            "http": metrics.CountedAnswers(StaticCache(bounded(django_application))),
            "lifespan": lifespan,
            "websocket": OwnOrigin(URLRouter([path("ws/", Connection.as_asgi())])),
        }
    )
)
metrics.start_snapshots()
preload()

garbage.begin()

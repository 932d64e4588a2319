"""The web application around :mod:`scheduler_core`: pages, API, WebSocket and worker."""

from playground.celery import app as celery_app

__all__ = ["celery_app"]

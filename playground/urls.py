"""All addresses."""

from __future__ import annotations

from django.urls import path

from playground import health

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
]

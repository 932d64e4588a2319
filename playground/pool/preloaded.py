"""Imported first by the server that the pool's processes are forked from; :mod:`.jobs` names what follows."""

from __future__ import annotations

import django

from playground.pool import child  # noqa: F401 - names the settings, and is what every process runs

django.setup()

"""The first module preloaded by the fork server of the pool's processes; :mod:`.jobs` lists the others."""

from __future__ import annotations

import django

from playground.pool import child  # noqa: F401 - names the settings, and is what every process runs
from scheduler_core.run.table import preload

django.setup()
preload()

"""How long plugins make pods wait. A new plugin that does is a row here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scheduler_core.framework.configuration.result import FrameworkConfiguration
from scheduler_core.framework.plugins.coscheduling import longest_wait as coscheduling
from scheduler_core.objects.model import KubernetesObject

LongestWait = Callable[[FrameworkConfiguration | None, Iterable[KubernetesObject]], float]

LONGEST_WAITS: tuple[LongestWait, ...] = (coscheduling.longest_wait,)
"""Each returns seconds, given a configuration (``None`` for a Policy) and all objects that ever exist."""

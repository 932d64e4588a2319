"""Who explains a pod under each release: a row per release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from scheduler_core.explain import by_predicates
from scheduler_core.explain.explanation import Asking, Explanation
from scheduler_core.explain.v1_37 import explanation as by_plugins
from scheduler_core.explain.v1_37.gang import mates
from scheduler_core.settings.release import BY_PLUGINS, CACHING, TIMED


class Explainer(Struct, frozen=True):
    """The two answers of a release; the first argument of each is a run of its own simulation.

    ``placed`` explains a pod that the run's next cycle places, for a node or all. ``pending`` explains one
    that no cycle has placed: the moment, how many nodes' verdicts are included, whether the pod is next.
    ``mates`` returns the pods that are scheduled in one cycle with a pod; none if it is scheduled alone.
    """

    placed: Callable[[Any, str, str | None], Asking]
    pending: Callable[[Any, Explanation, int, bool], Asking]
    mates: Callable[[Any, str], frozenset[str]]


_BY_PREDICATES = Explainer(by_predicates.placed, by_predicates.pending, lambda _, __: frozenset())
EXPLAINERS: Mapping[str, Explainer] = {
    CACHING: _BY_PREDICATES,
    TIMED: _BY_PREDICATES,
    **dict.fromkeys(BY_PLUGINS, Explainer(by_plugins.placed, by_plugins.pending, mates)),
}

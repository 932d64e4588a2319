"""The plugins that run in the framework's virtual time. A new plugin is a row here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from scheduler_core.kubernetes.model import KubernetesObject
from scheduler_core.schedulers.coscheduling.arguments import Arguments
from scheduler_core.schedulers.coscheduling.editions import Edition
from scheduler_core.schedulers.coscheduling.longest_wait import longest_wait
from scheduler_core.schedulers.coscheduling.observer import PodGroupObserver
from scheduler_core.schedulers.coscheduling.plugin import Coscheduling
from scheduler_core.schedulers.v1_22.interface import Observer, Plugin

LongestWait = Callable[[object, Edition | None, Iterable[KubernetesObject]], float]
MakePlugin = Callable[[Any, Edition, float], Plugin]


class PluginEntry(Struct, frozen=True):
    """One row: a plugin's class, and what else it brings along.

    ``make`` creates an instance from the arguments, the edition of coscheduling and virtual time 0 in seconds
    since 1970; without it the class is called with the arguments, or with nothing if it takes none.
    ``in_v1_37``: kube-scheduler v1.37 runs it too. ``observer`` records the plugin's own objects.
    ``longest_wait`` returns the seconds for which it can make a pod wait, from its arguments, the edition
    (``None`` for a Policy) and all objects that ever exist.
    """

    plugin: type[Plugin]
    make: MakePlugin | None = None
    observer: type[Observer] | None = None
    longest_wait: LongestWait | None = None
    in_v1_37: bool = False

    @property
    def name(self) -> str:
        """The plugin's name in a configuration."""
        return self.plugin.name

    def create(self, arguments: Any, edition: Edition, epoch: float) -> Plugin:
        """Return a new instance without state."""
        if self.make is not None:
            return self.make(arguments, edition, epoch)
        make: Callable[..., Plugin] = self.plugin
        return make() if arguments is None else make(arguments)


def _coscheduling(arguments: Any, edition: Edition, epoch: float) -> Plugin:
    return Coscheduling(edition, arguments if isinstance(arguments, Arguments) else Arguments(), epoch)


FRAMEWORK_PLUGINS: tuple[PluginEntry, ...] = (
    PluginEntry(Coscheduling, _coscheduling, PodGroupObserver, longest_wait, in_v1_37=True),
)
"""The plugins that a configuration enables, in addition to the built-in ones of kube-scheduler."""

"""The panels of plugins with objects of their own. A plugin with a panel is a row here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from playground.panels import podgroup_story, podgroups
from playground.panels.sentences import Sentence
from scheduler_core.scheduling.cycle import Cycle, FinalState


class PluginPanel(Struct, frozen=True):
    """A plugin's part of a cycle and of the end of a run, and its sentences in the story of a cycle.

    ``nested`` is the field of the part whose own fields are compared between moments. ``turned_away`` tells
    why no predicate ran, ``awaited`` ends the sentence about a pod that waits at Permit, ``permitted`` tells
    which pods were bound with it, ``rejected`` which were rejected with it; each is empty if the plugin had
    no part in it.
    """

    name: str
    part: Callable[[Cycle], dict[str, Any]]
    resting: Callable[[FinalState], dict[str, Any]]
    nested: str
    turned_away: Callable[[Cycle], list[Sentence]]
    awaited: Callable[[Cycle], Sentence]
    permitted: Callable[[Cycle], list[Sentence]]
    rejected: Callable[[Cycle], list[Sentence]]


PLUGIN_PANELS: tuple[PluginPanel, ...] = (
    PluginPanel(
        "podgroups",
        podgroups.podgroups,
        podgroups.resting,
        "group",
        podgroup_story.turned_away,
        podgroup_story.awaited,
        podgroup_story.permitted,
        podgroup_story.rejected,
    ),
)

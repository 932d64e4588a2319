"""The panels of plugins with objects of their own. A plugin with a panel is a row here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from playground.panels import (
    descheduler,
    kueue,
    network,
    podgroup_story,
    podgroups,
    round_story,
    session,
    session_story,
    views,
)
from playground.panels.sentences import Sentence
from scheduler_core.record.cycle import Cycle, FinalState


def _nothing(_cycle: Cycle) -> list[Any]:
    return []


def _own_decision(cycle: Cycle) -> list[Sentence]:
    """Describe how a scheduler of its own process came to its decision, by the record that it made."""
    return [*session_story.decided(cycle), *round_story.decided(cycle)]


class PluginPanel(Struct, frozen=True):
    """A plugin's part of a cycle and of the end of a run, and its sentences in the story of a cycle.

    ``inputs`` are the fields of a cycle that differ between its moments and that the part is computed from.
    ``nested`` is the field of the part whose own fields are compared between moments. ``turned_away``
    explains why no predicate ran, ``awaited`` ends the sentence about a pod that waits at Permit,
    ``permitted`` names the pods bound with it, ``rejected`` those rejected with it, ``decided`` how a custom
    scheduler came to its decision; each is empty if the plugin had no part in it.
    """

    name: str
    part: Callable[[Cycle], dict[str, Any]]
    resting: Callable[[FinalState], dict[str, Any]]
    inputs: tuple[str, ...]
    nested: str = ""
    turned_away: Callable[[Cycle], list[Sentence]] = _nothing
    awaited: Callable[[Cycle], Sentence] = _nothing
    permitted: Callable[[Cycle], list[Sentence]] = _nothing
    rejected: Callable[[Cycle], list[Sentence]] = _nothing
    decided: Callable[[Cycle], list[Sentence]] = _nothing


PLUGIN_PANELS: tuple[PluginPanel, ...] = (
    PluginPanel(
        "podgroups",
        podgroups.podgroups,
        podgroups.resting,
        ("plugins", "consequences", "phases"),
        "group",
        podgroup_story.turned_away,
        podgroup_story.awaited,
        podgroup_story.permitted,
        podgroup_story.rejected,
    ),
    PluginPanel("session", session.session, session.resting, ("session", "decision"), decided=_own_decision),
    PluginPanel("views", views.views, views.resting, ("view",)),
    PluginPanel("network", network.network, network.resting, ("session",)),
    PluginPanel("kueue", kueue.queueing, kueue.queueing, ()),
    PluginPanel("descheduler", descheduler.descheduling, descheduler.descheduling, ()),
)

"""What can be answered to a question: the same options for everybody, none of which stands out."""

from __future__ import annotations

from collections.abc import Callable

from django.utils.translation import gettext
from msgspec import Struct

from playground.courseware import LessonTask, Stop
from playground.courseware.edits import words_of
from playground.courseware.language import spoken_by
from playground.courseware.playthrough import PlayedScenario, played

MOST = 400  # options of a form


class Option(Struct, frozen=True):
    """One answer: its value, and its words, Markdown of one line. ``group`` is its first part."""

    key: str
    label: str
    group: str = ""


def forbidden(stop: Stop) -> list[str]:
    """Return what an edit must leave alone, as sentences of Markdown."""
    with spoken_by(gettext):
        return [words_of(what) for what in stop.marking.forbidden]


Offer = Callable[[PlayedScenario, Stop], list[Option]]


def options(task: LessonTask, stop: Stop, text: str) -> list[Option]:
    """Return the options of a task on the scenario ``text``; none where a number or a text is typed."""
    if task.choices:
        return [Option(choice.key, choice.label) for choice in task.choices]
    offer = OFFERS.get(task.form or "")
    return offer(played(text), stop)[:MOST] if offer else []


def _nodes(play: PlayedScenario, _: Stop) -> list[Option]:
    return [Option(name, name) for name in play.node_names]


def _node(play: PlayedScenario, stop: Stop) -> list[Option]:
    """Return the nodes; of a prediction also that there is none."""
    none = [Option("", gettext("No node"))] if stop.task is not None and stop.task.kind == "predict" else []
    return [*_nodes(play, stop), *none]


def _pods(play: PlayedScenario, _: Stop) -> list[Option]:
    names = [key.removeprefix("default/") for key in sorted(play.pods)]
    return [Option(name, name) for name in names]


def _cells(play: PlayedScenario, stop: Stop) -> list[Option]:
    """Return a cell for each node and rule of the stop's cycle; of the last one without a step."""
    cycle = play.cycle(stop.step) if stop.step else play.cycles[-1]
    order = cycle.matrix.order if cycle.matrix is not None else cycle.order
    return [Option(f"{node}/{rule}", rule, node) for node in cycle.nodes for rule in order]


def _events(play: PlayedScenario, stop: Stop) -> list[Option]:
    """Return the events of the stop's cycle; of all cycles without a step."""
    cycles = [play.cycle(stop.step)] if stop.step else play.cycles
    found = (f"{event.reason} {event.object.rpartition('/')[2]}" for one in cycles for event in one.events)
    return [Option(name, name) for name in dict.fromkeys(found)]


def _yesno(_: PlayedScenario, __: Stop) -> list[Option]:
    return [Option("yes", gettext("Yes")), Option("no", gettext("No"))]


OFFERS: dict[str, Offer] = {
    "node": _node,
    "nodes": _nodes,
    "pods": _pods,
    "cell": _cells,
    "event": _events,
    "yesno": _yesno,
}

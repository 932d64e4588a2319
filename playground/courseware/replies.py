"""What a wrong answer is met with: the engine's word on what it names, and never the right answer.

Of a number, a reason or a yes the engine has nothing to say that would not tell the right one: such an answer
is met with how it differs, and with the misconception that leads to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from playground.courseware import sentences
from playground.courseware.language import say
from playground.courseware.model import Form, Stop
from playground.courseware.playthrough import PlayedScenario
from playground.courseware.prose import shown

MOST_TOLD = 3  # nodes that a sentence speaks of


class WrongAnswer(Struct, frozen=True):
    """An answer and the right one, as they are compared, with whom and which moment the question is about.

    ``believed`` is the text of the misconception that leads to it, "" if none is known to.
    """

    stop: Stop
    play: PlayedScenario
    pod: str
    index: int
    given: Any
    truth: Any
    believed: str = ""

    @property
    def form(self) -> Form:
        """The form of the answer."""
        assert self.stop.task is not None
        assert self.stop.task.form is not None
        return self.stop.task.form

    @property
    def named(self) -> list[str]:
        """What the answer names."""
        return self.given if isinstance(self.given, list) else [self.given]

    @property
    def right(self) -> list[Any]:
        """What a right answer names; of a find task any of it is one."""
        return self.truth if isinstance(self.truth, list) else [self.truth]

    @property
    def surplus(self) -> list[str]:
        """What it names wrongly."""
        return [name for name in self.named if name not in self.right]


class LessonReply(NamedTuple):
    """What a wrong answer is met with; ``own``: in the learner's language, not in the engine's words."""

    text: str
    own: bool


def reply(wrong: WrongAnswer) -> LessonReply:
    """Return the sentence that a wrong answer is met with."""
    spoken = ENGINE.get(wrong.form, _about_the_node)(wrong)
    if spoken and not tells(wrong, spoken):
        return LessonReply(spoken, own=False)
    believed = (
        say("A common misconception, and wrong: *{belief}*", belief=say(wrong.believed))
        if wrong.believed
        else ""
    )
    plain = PLAIN[wrong.form](wrong)
    return LessonReply(plain if not believed or tells(wrong, believed) else f"{plain} {believed}", own=True)


# What the engine says of whom an answer names


def _about_the_node(wrong: WrongAnswer) -> str:
    node = wrong.stop.marking.node
    return sentences.about_node(wrong.play, wrong.pod, node, wrong.index) if node and wrong.pod else ""


def _not_chosen(wrong: WrongAnswer) -> str:
    return sentences.not_chosen(wrong.play, wrong.pod, wrong.given, wrong.index) if wrong.pod else ""


def _surplus_nodes(wrong: WrongAnswer) -> str:
    if not wrong.pod:
        return ""
    shown = wrong.surplus[:MOST_TOLD]
    return " ".join(sentences.standing(wrong.play, wrong.pod, node, wrong.index) for node in shown)


def _node_of_the_cell(wrong: WrongAnswer) -> str:
    node = wrong.given.partition("/")[0]
    return sentences.about_node(wrong.play, wrong.pod, node, wrong.index) if wrong.pod else ""


def _surplus_pod(wrong: WrongAnswer) -> str:
    if wrong.stop.marking.node:
        return _about_the_node(wrong)
    return sentences.about_pod(wrong.play, wrong.surplus[0], wrong.index) if wrong.surplus else ""


ENGINE: Mapping[Form, Callable[[WrongAnswer], str]] = {
    "node": _not_chosen,
    "nodes": _surplus_nodes,
    "cell": _node_of_the_cell,
    "pods": _surplus_pod,
}
"""By form; of the others it is the node that the task names."""


# How an answer differs, where the engine's sentence would tell the right one


def _set(wrong: WrongAnswer) -> str:
    if wrong.surplus:
        names = shown(wrong.surplus[:MOST_TOLD])
        if len(wrong.surplus) > 1:
            return say("{names} do not belong there.", names=names)
        return say("{names} does not belong there.", names=names)
    return say("Something is missing.") if wrong.named else say("There is something to name.")


def _number(wrong: WrongAnswer) -> str:
    larger = wrong.truth > wrong.given
    return say("The record has a larger number.") if larger else say("The record has a smaller number.")


def _order(wrong: WrongAnswer) -> str:
    placed = sum(one == other for one, other in zip(wrong.given, wrong.truth))
    if placed == 1:
        return say("1 of {all} is in place.", all=len(wrong.truth))
    return say("{placed} of {all} are in place.", placed=placed, all=len(wrong.truth))


def _choice(wrong: WrongAnswer) -> str:
    explains = wrong.stop.task is not None and wrong.stop.task.kind == "explain"
    if explains:
        return say("That is true, and it is not what decides here.")
    return say("The record does not say so.")


PLAIN: Mapping[Form, Callable[[WrongAnswer], str]] = {
    "node": lambda wrong: (
        say("`{name}` is not the node.", name=wrong.given) if wrong.given else say("The record names a node.")
    ),
    "nodes": _set,
    "pods": _set,
    "order": _order,
    "number": _number,
    "reason": _choice,
    "choice": _choice,
    "yesno": lambda _: say("The record says otherwise."),
    "cell": lambda wrong: say("`{name}` is not the cell.", name=wrong.given),
    "event": lambda wrong: say("`{name}` happened, and it is not the event.", name=wrong.given),
}


# Whether a text would tell the right answer


def tells(wrong: WrongAnswer, text: str) -> bool:
    """Return whether a text has all words of a right answer that the wrong one lacks."""
    return any(all(_has(text, word) for word in words) for words in _telling(wrong))


def _telling(wrong: WrongAnswer) -> Iterator[tuple[str, ...]]:
    match wrong.form:
        case "number":
            yield from ((shown(wrong.truth),), (str(wrong.truth),))
        case "yesno":
            return
        case "order":
            yield tuple(wrong.truth)
        case "reason" | "choice":
            assert wrong.stop.task is not None
            label = next(one.label for one in wrong.stop.task.choices if one.key == wrong.truth)
            yield from ((wrong.truth,), (label,))
        case "cell":
            yield from (tuple(one.split("/", 1)) for one in wrong.right)
        case "event":
            yield from (tuple(one.split(" ", 1)) for one in wrong.right)
        case _:
            yield from ((one,) for one in wrong.right if one and one not in wrong.named)


def _has(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w.,-]){re.escape(word)}(?![\w-]|[.,]\w)", text) is not None

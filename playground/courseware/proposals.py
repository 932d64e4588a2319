"""What may be asked about a place of the record: question, form and the fact that answers it.

The questions are rows of ``questions.yaml``. A proposal whose answer its own stop would show, or that fails
otherwise as a lesson of one stop, is not made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from importlib.resources import files
from string import Template
from typing import Any, Literal

import yaml
from msgspec import Struct

from playground.courseware.catalogue import words
from playground.courseware.expression import FactError, NotYetKnownError
from playground.courseware.facts import at_question, value
from playground.courseware.facts.moment import ShownMoment, short
from playground.courseware.folder import blank, stop_file
from playground.courseware.model import LessonError
from playground.courseware.playthrough import PlayedScenario, played
from playground.courseware.reader import read_lesson
from playground.courseware.validation import problems_of
from scheduler_core.kubernetes.conversion import converted
from scheduler_core.record.cycle import Cycle

PlaceKind = Literal["cycle", "node", "filter", "score", "pod", "event"]


class AskedPlace(Struct, frozen=True):
    """What is asked about at a step: the cycle, a node, a cell of a matrix, a pod or an event."""

    kind: PlaceKind
    node: str = ""
    rule: str = ""
    pod: str = ""
    reason: str = ""


class ProposedStop(Struct, frozen=True):
    """A stop with a task, as its file has it; ``label`` says in a menu what it asks."""

    label: str
    title: str
    step: str
    phase: str
    views: tuple[str, ...]
    text: str
    task: Mapping[str, Any]


class ProposedQuestion(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of ``questions.yaml``; its texts have names to fill in."""

    label: str
    title: str
    form: str
    question: str
    answer: str
    views: tuple[str, ...]
    hints: tuple[str, ...]
    kind: Literal["predict", "find"] = "predict"
    why: str = ""
    unit: str = ""
    names: tuple[Literal["node", "pod"], ...] = ()  # what of the place the task names
    of_run: bool = False  # it is asked before the first cycle
    phase: str = ""  # "first" is the first of the cycle
    hides: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


class ProposedQuestions(Struct, frozen=True):
    """All of ``questions.yaml``."""

    places: Mapping[PlaceKind, tuple[str, ...]]
    questions: Mapping[str, ProposedQuestion]


@cache
def table() -> ProposedQuestions:
    """Return the questions, and which of them concern a place of a kind."""
    text = files("playground.courseware").joinpath("questions.yaml").read_text(encoding="utf-8")
    return converted(yaml.safe_load(text), ProposedQuestions)


class _Asked:
    """A place at a cycle of a run, and what proposals of it say."""

    def __init__(self, play: PlayedScenario, cycle: Cycle, place: AskedPlace) -> None:
        self.play, self.cycle, self.place = play, cycle, place
        self.present = place.node in cycle.nodes
        self.feasible = place.node in [cycle.nodes[row] for row in cycle.feasible.tolist()]

    def fact(self, text: str) -> Any:
        """Compute a fact at the end of the run. Raises FactError."""
        return value(text, ShownMoment(lambda _: self.play, "scenario.yaml", self.cycle.step, ""))

    @cached_property
    def refusing(self) -> str:
        """The rule that is asked about, or else the first that refuses the node, "" if none does."""
        if self.place.rule or not self.present:
            return self.place.rule
        try:
            return str(self.fact(f"refused_by({json.dumps(self.place.node)})") or "")
        except FactError:
            return ""

    @cached_property
    def explained(self) -> bool:
        """Whether the node is refused with a reason. Raises FactError."""
        return not self.feasible and bool(self.fact(f"count(reasons({json.dumps(self.place.node)}))"))

    @cached_property
    def names(self) -> Mapping[str, str]:
        """What the texts of a question name, in capitals as a literal."""
        place = self.place
        asked = self.play.pod(place.pod) if place.kind == "pod" else place.pod
        named = {"pod": short(self.cycle.pod), "asked": short(asked), "refusing": self.refusing}
        named |= {"node": place.node, "rule": place.rule, "reason": place.reason}
        literals = {name.upper(): json.dumps(text) for name, text in named.items()}
        return {**named, **literals, "STEP": json.dumps(self.cycle.step)}

    def filled(self, text: str) -> str:
        """Return a text of a row with the names of this place."""
        return Template(text).substitute(self.names)

    def hiding(self, facts: list[str]) -> str:
        """Return the last phase of the cycle that shows none of some facts, "" if every phase shows one."""
        return next((phase for phase in reversed(self.cycle.phases) if self._hidden(phase, facts)), "")

    def _hidden(self, phase: str, facts: list[str]) -> bool:
        moment = ShownMoment(lambda _: self.play, "scenario.yaml", self.cycle.step, phase)
        return all(_is_hidden(fact, at_question(moment)) for fact in facts)

    def phase_of(self, row: ProposedQuestion) -> str:
        """Return the phase of the cycle at which a row asks."""
        phases = self.cycle.phases
        if row.hides:
            return self.hiding([self.filled(fact) for fact in row.hides])
        if row.phase == "first":
            return phases[0] if phases else ""
        return row.phase if row.phase in phases else ""

    def fits(self, row: ProposedQuestion) -> bool:
        """Return whether a row asks something here. Raises FactError."""
        place = self.place
        own = place.kind != "pod" or row.of_run or self.cycle.pod == self.play.pod(place.pod)
        return (
            own
            and all(CONDITIONS[name](self) for name in row.when)
            and all(self.fact(self.filled(fact)) for fact in row.needs)
        )

    def proposed(self, row: ProposedQuestion) -> ProposedStop:
        """Return what a row asks here. Raises FactError."""
        task = {"kind": row.kind, "form": row.form, "question": row.question, "answer": row.answer}
        task |= {name: text for name, text in (("unit", row.unit), ("why", row.why)) if text}
        task |= {name: "$node" if name == "node" else "$asked" for name in row.names}
        text = "The cluster before the first cycle." if row.of_run else "The scheduler takes up `$pod`."
        return ProposedStop(
            self.filled(row.label),
            self.filled(row.title),
            "" if row.of_run else self.cycle.step,
            "" if row.of_run else self.phase_of(row),
            row.views,
            self.filled(text),
            {
                **{name: self.filled(text) for name, text in task.items()},
                "hints": [self.filled(hint) for hint in row.hints],
            },
        )


CONDITIONS: Mapping[str, Callable[[_Asked], bool]] = {
    "scored": lambda asked: asked.cycle.totals is not None,
    "unscored": lambda asked: asked.cycle.totals is None,
    "victims": lambda asked: bool(asked.cycle.decision.victims),
    "node": lambda asked: asked.present,
    "candidate": lambda asked: asked.feasible,
    "explained": lambda asked: asked.explained,
    "unexplained": lambda asked: not asked.explained,
    "rule": lambda asked: bool(asked.place.rule),
    "refusing": lambda asked: bool(asked.refusing),
}
"""Conditions of a question, by the name that ``when`` has for them."""


def _is_hidden(fact: str, moment: ShownMoment) -> bool:
    try:
        value(fact, moment)
    except NotYetKnownError:
        return True
    except FactError:
        return False
    return False


def proposals(text: str, step: str, place: AskedPlace) -> list[ProposedStop]:
    """Return what may be asked about a place at a step, "" for the first cycle. Raises LessonError."""
    play = played(text)
    if not play.cycles:
        raise LessonError("The run has no cycle to ask about.")
    asked = _Asked(play, _cycle(play, step, place), place)
    return [one for one in _proposed(asked) if not faults(text, one)]


def _proposed(asked: _Asked) -> Iterator[ProposedStop]:
    for name in table().places[asked.place.kind]:
        row = table().questions[name]
        try:
            if asked.fits(row):
                yield asked.proposed(row)
        except FactError:
            continue  # the place has no such fact


def _cycle(play: PlayedScenario, step: str, place: AskedPlace) -> Cycle:
    """Return the cycle of a step; about a pod its own next one, if it has one."""
    at = play.cycle(step) if step else play.cycles[0]
    if place.kind != "pod":
        return at
    pod = play.pod(place.pod)
    own = [cycle for cycle in play.cycles if cycle.pod == pod]
    return next((cycle for cycle in own if cycle.index >= at.index), own[-1] if own else at)


def faults(text: str, proposal: ProposedStop) -> list[str]:
    """Return what the tests of lessons would find in a proposal, as a lesson of one stop."""
    head = {
        "title": proposal.title,
        "step": proposal.step,
        "phase": proposal.phase,
        "views": list(proposal.views),
        "task": dict(proposal.task),
    }
    files = {
        **blank("A question"),
        "scenario.yaml": text,
        "stops/01-question.md": stop_file(head, proposal.text),
    }
    try:
        return [one.message for one in problems_of(read_lesson("01-question", files, words())) if one.message]
    except LessonError as error:
        return [str(error)]

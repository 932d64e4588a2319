"""What may be asked about a place of the record: question, form and the fact that answers it.

A row of :data:`PROPOSERS` for each kind of place. A proposal whose answer its own stop would show, or that
fails otherwise as a lesson of one stop, is not made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from scheduler_core.authoring.lessons.catalogue import words
from scheduler_core.authoring.lessons.expression import FactError, NotYetKnownError
from scheduler_core.authoring.lessons.facts import at_question, value
from scheduler_core.authoring.lessons.facts.moment import ShownMoment, short
from scheduler_core.authoring.lessons.folder import blank, stop_file
from scheduler_core.authoring.lessons.model import LessonError
from scheduler_core.authoring.lessons.played import Played, played
from scheduler_core.authoring.lessons.reading import read_lesson
from scheduler_core.authoring.lessons.validation import problems_of
from scheduler_core.record.cycle import Cycle

PlaceKind = Literal["cycle", "node", "filter", "score", "pod", "event"]
PHASE_OF_FILTER = "predicates"


class AskedPlace(Struct, frozen=True):
    """What is asked about at a step: the cycle, a node, a cell of a matrix, a pod or an event."""

    kind: PlaceKind
    node: str = ""
    rule: str = ""
    pod: str = ""
    reason: str = ""


class Proposal(Struct, frozen=True):
    """A stop with a task, as its file has it; ``label`` says in a menu what it asks."""

    label: str
    title: str
    step: str
    phase: str
    views: tuple[str, ...]
    text: str
    task: Mapping[str, Any]


class _Asked(Struct, frozen=True):
    """A place at a cycle of a run, and what proposals of it say."""

    play: Played
    cycle: Cycle
    place: AskedPlace

    @property
    def step(self) -> str:
        return json.dumps(self.cycle.step)

    @property
    def pod(self) -> str:
        return short(self.cycle.pod)

    @property
    def node(self) -> str:
        return self.place.node

    @property
    def feasible(self) -> list[str]:
        return [self.cycle.nodes[row] for row in self.cycle.feasible.tolist()]

    def fact(self, text: str) -> Any:
        """Compute a fact at the end of the run. Raises FactError."""
        return value(text, ShownMoment(lambda _: self.play, "scenario.yaml", self.cycle.step, ""))

    def hiding(self, *facts: str) -> str:
        """Return the last phase of the cycle that shows none of some facts, "" if every phase shows one."""
        return next((phase for phase in reversed(self.cycle.phases) if self._hidden(phase, facts)), "")

    def _hidden(self, phase: str, facts: tuple[str, ...]) -> bool:
        moment = ShownMoment(lambda _: self.play, "scenario.yaml", self.cycle.step, phase)
        return all(_is_hidden(fact, at_question(moment)) for fact in facts)

    def proposal(self, label: str, title: str, task: Mapping[str, Any], **shown: Any) -> Proposal:
        """Return a proposal at the cycle; ``phase`` and ``views`` are what it shows."""
        text = shown.pop("text", f"The scheduler takes up `{self.pod}`.")
        return Proposal(label, title, self.cycle.step, text=text, task=task, **shown)


def _is_hidden(fact: str, moment: ShownMoment) -> bool:
    try:
        value(fact, moment)
    except NotYetKnownError:
        return True
    except FactError:
        return False
    return False


def _q(name: str) -> str:
    return json.dumps(name)


# --- the cycle


def _node_of_cycle(asked: _Asked) -> Iterator[Proposal]:
    answer, feasible = f"cycle({asked.step}).node", f"cycle({asked.step}).feasible"
    scored = asked.cycle.totals is not None
    # Where the scores do not decide, the filter's end would tell.
    phase = PHASE_OF_FILTER if scored else asked.hiding(answer, feasible)
    yield asked.proposal(
        "Which node gets it?",
        f"Where {asked.pod} goes",
        {
            "kind": "predict",
            "form": "node",
            "question": f"Which node gets `{asked.pod}`?",
            "answer": answer,
            "hints": [
                "Look at what each node has left, and at what it refuses.",
                "The filter refuses nodes; the best total of those that are left gets the pod."
                if scored
                else "A node that one rule refuses is out, however much room it has.",
            ],
        },
        phase=phase,
        views=("predicates",) if phase == PHASE_OF_FILTER else ("queue",),
    )


def _feasible(asked: _Asked) -> Iterator[Proposal]:
    answer = f"cycle({asked.step}).feasible"
    yield asked.proposal(
        "Which nodes are feasible?",
        f"Who may have {asked.pod}",
        {
            "kind": "predict",
            "form": "nodes",
            "question": f"Which nodes are feasible for `{asked.pod}`?",
            "answer": answer,
            "hints": [
                "Compare what the pod asks for with what each node offers, and with what it forbids.",
                "One rule that refuses a node is enough.",
            ],
        },
        phase=asked.hiding(answer),
        views=("queue",),
    )


def _victims(asked: _Asked) -> Iterator[Proposal]:
    if not asked.cycle.decision.victims:
        return
    answer = f"victims(at={asked.step})"
    yield asked.proposal(
        "Which pods are evicted?",
        f"Whom {asked.pod} displaces",
        {
            "kind": "predict",
            "form": "pods",
            "question": f"Which pods does the scheduler evict for `{asked.pod}`?",
            "answer": answer,
            "hints": [
                "Look at the priorities of the pods on each node.",
                "Pods of lower priority leave in a dry run, and come back as long as there is room for them.",
            ],
        },
        phase=asked.hiding(answer),
        views=("predicates",),
    )


def _evaluations(asked: _Asked) -> Iterator[Proposal]:
    answer = f"evaluations(at={asked.step})"
    yield asked.proposal(
        "How many checks does it take?",
        "The price of the filter",
        {
            "kind": "predict",
            "form": "number",
            "question": f"How many times is a rule of the filter evaluated on a node for `{asked.pod}`?",
            "answer": answer,
            "why": f"The cycle evaluates {{{{ {answer} }}}} in all.",
            "hints": [
                "Count the rules that are asked, node by node.",
                "A node that one rule refuses is not asked the rest, unless all rules always are.",
            ],
        },
        phase=asked.hiding(answer),
        views=("queue",),
    )


# --- a node


def _fits(asked: _Asked) -> Iterator[Proposal]:
    if asked.node not in asked.cycle.nodes:
        return
    answer = f"{_q(asked.node)} in cycle({asked.step}).feasible"
    refused = asked.node not in asked.feasible
    why = f"Feasible are {{{{ cycle({asked.step}).feasible }}}}."
    if refused and asked.fact(f"count(reasons({_q(asked.node)}))"):
        why = f"`{asked.node}` is refused: *{{{{ reasons({_q(asked.node)})[0] }}}}*. {why}"
    yield asked.proposal(
        f"Is {asked.node} feasible?",
        f"May {asked.node} have it",
        {
            "kind": "predict",
            "form": "yesno",
            "question": f"Is `{asked.node}` feasible for `{asked.pod}`?",
            "answer": answer,
            "why": why,
            "node": asked.node,
            "hints": [
                f"Look at `{asked.node}`: its room, its labels, its taints.",
                "One rule that refuses a node is enough.",
            ],
        },
        phase=asked.hiding(f"cycle({asked.step}).feasible"),
        views=("queue",),
    )


def _refusing_cell(asked: _Asked) -> Iterator[Proposal]:
    rule = asked.place.rule or (
        asked.fact(f"refused_by({_q(asked.node)})") if asked.node in asked.cycle.nodes else ""
    )
    if rule:
        yield from _cell(asked, rule)


def _cell(asked: _Asked, rule: str) -> Iterator[Proposal]:
    answer = f"cell({_q(asked.node)}, {_q(rule)}, at={asked.step})"
    asked.fact(answer)  # none to be found where the rule does not refuse the node
    yield asked.proposal(
        f"Find what refuses {asked.node}",
        f"What refuses {asked.node}",
        {
            "kind": "find",
            "form": "cell",
            "question": f"Find the cell that refuses `{asked.node}` for `{asked.pod}`.",
            "answer": answer,
            "hints": [
                f"Look at the row of `{asked.node}`.",
                "A cell that failed has the reason in it.",
            ],
        },
        phase="",
        views=("predicates",),
    )


def _cpu_left(asked: _Asked) -> Iterator[Proposal]:
    if asked.node not in asked.cycle.nodes:
        return
    about = f"({_q(asked.node)}, {_q('cpu')})"
    yield asked.proposal(
        f"How much CPU has {asked.node} left?",
        f"What {asked.node} has left",
        {
            "kind": "predict",
            "form": "number",
            "question": f"How much CPU can still be requested on `{asked.node}`?",
            "answer": f"free{about}",
            "unit": "millicores",
            "why": f"`{asked.node}` offers {{{{ allocatable{about} }}}}, and its pods request "
            f"{{{{ requested{about} }}}}.",
            "hints": [
                "Add up what the pods on it request; what they use does not count.",
                "What is left is allocatable less requested.",
            ],
        },
        phase=asked.cycle.phases[0] if asked.cycle.phases else "",
        views=("queue",),
    )


def _total(asked: _Asked) -> Iterator[Proposal]:
    if asked.cycle.totals is None or asked.node not in asked.feasible:
        return
    answer = f"total({_q(asked.node)}, at={asked.step})"
    yield asked.proposal(
        f"What is the total of {asked.node}?",
        f"The total of {asked.node}",
        _number(asked, f"What is the total of `{asked.node}`?", answer, f"It is {{{{ {answer} }}}}.")
        | {
            "hints": [
                "Each rule gives the node a score; the weights are in the configuration.",
                "A total is the sum of weight times score.",
            ]
        },
        phase=asked.hiding(answer),
        views=("predicates",),
    )


def _number(asked: _Asked, question: str, answer: str, why: str) -> dict[str, Any]:
    return {
        "kind": "predict",
        "form": "number",
        "question": question,
        "answer": answer,
        "why": why,
        "node": asked.node,
    }


# --- a cell of the filter, or of the scores


def _refuses(asked: _Asked) -> Iterator[Proposal]:
    rule = asked.place.rule
    if asked.node not in asked.cycle.nodes or not rule:
        return
    answer = f"refused_by({_q(asked.node)}, at={asked.step})"
    yield asked.proposal(
        f"Does {rule} refuse {asked.node}?",
        f"What {rule} says",
        {
            "kind": "predict",
            "form": "yesno",
            "question": f"Is `{rule}` the first rule to refuse `{asked.node}` for `{asked.pod}`?",
            "answer": f"{answer} == {_q(rule)}",
            "why": f"Feasible are {{{{ cycle({asked.step}).feasible }}}}; "
            f"`{asked.node}` is refused by {{{{ {answer} }}}}.",
            "node": asked.node,
            "hints": [
                f"Look at what `{asked.pod}` asks for, and at what `{asked.node}` has.",
                "Rules are asked in their order, and the first that refuses counts.",
            ],
        },
        phase=asked.hiding(answer),
        views=("queue",),
    )


def _score(asked: _Asked) -> Iterator[Proposal]:
    place = f"({_q(asked.node)}, {_q(asked.place.rule)}, at={asked.step})"
    rule = asked.place.rule
    yield asked.proposal(
        f"What does {rule} give {asked.node}?",
        f"The score of {asked.node}",
        _number(
            asked,
            f"Which score does `{rule}` give `{asked.node}`, before the weight?",
            f"score{place}",
            f"`{rule}` gives it {{{{ score{place} }}}}, and its weight is "
            f"{{{{ weight({_q(rule)}, at={asked.step}) }}}}.",
        )
        | {
            "hints": [
                f"Work out what `{rule}` looks at, for this node and for the others.",
                "A score is normalized before it is weighted.",
            ]
        },
        phase=asked.hiding(f"score{place}"),
        views=("predicates",),
    )


def _tipping(asked: _Asked) -> Iterator[Proposal]:
    place = f"({_q(asked.node)}, {_q(asked.place.rule)}, at={asked.step})"
    if asked.cycle.totals is None or not asked.fact(f"tipping{place}"):
        return
    rule = asked.place.rule
    yield asked.proposal(
        f"At which weight of {rule} does {asked.node} win?",
        f"The weight at which {asked.node} wins",
        {
            **_number(
                asked,
                f"What is the smallest weight of `{rule}` at which `{asked.node}` alone has the best total?",
                f"tipping{place}",
                f"From {{{{ tipping{place} }}}} on its total is the best.",
            ),
            "hints": [
                "Compare the totals without this rule, and the scores that it gives.",
                "Each step of the weight adds the difference of the scores to the difference of the totals.",
            ],
        },
        phase="priorities" if "priorities" in asked.cycle.phases else "",
        views=("priorities",),
    )


# --- a pod, and an event


def _of_the_pod(asked: _Asked) -> Iterator[Proposal]:
    if asked.cycle.pod == asked.play.pod(asked.place.pod):
        yield from _node_of_cycle(asked)
        yield from _feasible(asked)


def _ends_on(asked: _Asked) -> Iterator[Proposal]:
    name = short(asked.play.pod(asked.place.pod))
    yield Proposal(
        "Which node has it in the end?",
        f"Where {name} ends",
        "",
        "",
        ("queue",),
        "The cluster before the first cycle.",
        {
            "kind": "predict",
            "form": "node",
            "question": f"Which node does `{name}` have in the end?",
            "answer": f"outcome({_q(name)}).node",
            "pod": name,
            "hints": [
                "Take the pods of the queue one after the other.",
                "Each pod that is placed takes room from those after it.",
            ],
        },
    )


def _stays_pending(asked: _Asked) -> Iterator[Proposal]:
    name = short(asked.play.pod(asked.place.pod))
    yield Proposal(
        "Is it pending in the end?",
        f"What becomes of {name}",
        "",
        "",
        ("queue",),
        "The cluster before the first cycle.",
        {
            "kind": "predict",
            "form": "yesno",
            "question": f"Is `{name}` still pending in the end?",
            "answer": f"{_q(name)} in pending()",
            "why": f"In the end its state is {{{{ outcome({_q(name)}).state }}}}.",
            "hints": [
                "Look at what the pod asks for, and at who comes before it.",
                "A pod is pending as long as no node is feasible for it.",
            ],
        },
    )


def _event(asked: _Asked) -> Iterator[Proposal]:
    reason, pod = asked.place.reason, short(asked.place.pod)
    yield asked.proposal(
        f"Find the event {reason}",
        "The event that tells it",
        {
            "kind": "find",
            "form": "event",
            "question": f"Find the event that tells what became of `{pod}`.",
            "answer": f"event({_q(reason)}, {_q(pod)}, at={asked.step})",
            "why": f"In this cycle `{reason}` is about {{{{ events({_q(reason)}, at={asked.step}) }}}}.",
            "hints": [
                "Look at the events of this cycle, and at the object of each.",
                "The scheduler writes one event about each attempt.",
            ],
        },
        phase="",
        views=("events",),
    )


PROPOSERS: Mapping[PlaceKind, tuple[Callable[[_Asked], Iterator[Proposal]], ...]] = {
    "cycle": (_node_of_cycle, _feasible, _victims, _evaluations),
    "node": (_fits, _refusing_cell, _total, _cpu_left),
    "filter": (_refusing_cell, _refuses, _fits),
    "score": (_score, _total, _tipping),
    "pod": (_of_the_pod, _ends_on, _stays_pending),
    "event": (_event,),
}
"""By kind of place, what proposes questions about it."""


def proposals(text: str, step: str, place: AskedPlace) -> list[Proposal]:
    """Return what may be asked about a place at a step, "" for the first cycle. Raises LessonError."""
    play = played(text)
    if not play.cycles:
        raise LessonError("The run has no cycle to ask about.")
    asked = _Asked(play, _cycle(play, step, place), place)
    found = [one for make in PROPOSERS[place.kind] for one in _made(make, asked)]
    return [one for one in found if not faults(text, one)]


def _cycle(play: Played, step: str, place: AskedPlace) -> Cycle:
    """Return the cycle of a step; about a pod its own next one, if it has one."""
    at = play.cycle(step) if step else play.cycles[0]
    if place.kind != "pod":
        return at
    pod = play.pod(place.pod)
    own = [cycle for cycle in play.cycles if cycle.pod == pod]
    return next((cycle for cycle in own if cycle.index >= at.index), own[-1] if own else at)


def _made(make: Callable[[_Asked], Iterator[Proposal]], asked: _Asked) -> list[Proposal]:
    try:
        return list(make(asked))
    except FactError:
        return []  # the place has no such fact


def faults(text: str, proposal: Proposal) -> list[str]:
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

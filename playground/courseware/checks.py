"""An answer against the engine's record, and the sentence that it is met with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from playground.courseware import answers, edits, sentences
from playground.courseware.catalogue import misconceptions
from playground.courseware.draws import variants_of
from playground.courseware.expression import FactError
from playground.courseware.facts import Fact, at_question, value
from playground.courseware.facts.moment import ShownMoment
from playground.courseware.language import say
from playground.courseware.model import AnswerVerdict, Lesson, LessonError, Stop
from playground.courseware.playthrough import PlayedScenario, play, played
from playground.courseware.prose import filled
from playground.courseware.replies import MOST_TOLD, WrongAnswer, reply

AGAIN, HARD, GOOD = 1, 2, 3
TRIALS = 6  # other numbers in which a counterexample to a claim is searched
_SENTENCE_END = re.compile(r"[.!?][*`\"]?\Z")


class StopQuestion:
    """A stop's question about one play of its scenario: the lesson's own, or a variant's ``bundle``."""

    def __init__(self, lesson: Lesson, stop: Stop, bundle: str | None = None) -> None:
        self.lesson, self.stop = lesson, stop
        self.bundle = lesson.file(stop.scenario) if bundle is None else bundle
        varied = stop.scenario if bundle is not None else ""
        earlier = [one for one in lesson.stops[: lesson.stops.index(stop)] if one.scenario != varied]
        seen = tuple((one.scenario, one.step) for one in earlier if not one.phase)
        self.moment = ShownMoment(self.run_of, stop.scenario, stop.step, stop.phase, seen)

    def run_of(self, name: str) -> PlayedScenario:
        """Return the run of a scenario of the lesson. Raises FactError."""
        if name == self.stop.scenario:
            return played(self.bundle)
        files = dict(self.lesson.files)
        if name not in files:
            raise FactError(f"there is no scenario {name!r}: the lesson has {', '.join(files)}")
        return played(files[name])

    @property
    def play(self) -> PlayedScenario:
        """The run that the question is about."""
        return self.run_of(self.stop.scenario)

    @property
    def index(self) -> int:
        """The cycle of the stop; of a stop without a step the last one."""
        return self.play.cycle(self.stop.step).index if self.stop.step else len(self.play.cycles)

    def fact(self, text: str, **names: Any) -> Any:
        """Compute an expression at the stop's moment. Raises FactError."""
        return value(text, self.moment, names)

    def filled(self, text: str, *, question: bool = False) -> str:
        """Return a text with its facts; of an open question only what its moment shows. Raises FactError."""
        moment = at_question(self.moment) if question else self.moment
        return filled(text, lambda fact: value(fact, moment), self.stop.language)

    def truth(self) -> Any:
        """Return the answer as it is compared. Raises FactError, LessonError."""
        task, marking = self.stop.task, self.stop.marking
        assert task is not None
        if task.kind == "explain":
            found = [
                choice.key for choice, one in zip(task.choices, marking.separates) if self.fact(one) is True
            ]
            if len(found) != 1:
                raise FactError(f"{len(found)} choices separate: exactly one may")
            return found[0]
        truth = self.fact(marking.answer)
        if task.kind == "find" and isinstance(truth, list) and task.form in ("cell", "node", "event"):
            return [answers.read(self.stop, one, self.play) for one in truth]
        return answers.read(self.stop, truth, self.play)

    def why(self) -> str:
        """Return what makes the answer right, in facts; "" if the engine's sentence is enough."""
        return self.filled(self.stop.marking.why)

    def misconception(self, given: Any) -> str:
        """Return the misconception that leads to an answer, "" if none is known to."""
        return next((name for wrong, name in self.misleading() if answers.same(self.stop, given, wrong)), "")

    def misleading(self) -> Iterator[tuple[Any, str]]:
        """Yield wrong answers, each with the misconception that leads to it."""
        for distractor in self.stop.marking.distractors:
            try:
                yield (
                    answers.read(self.stop, self.fact(distractor.answer), self.play),
                    distractor.misconception,
                )
            except (FactError, LessonError):
                continue  # a variant whose numbers leave no room for this mistake

    @property
    def pod(self) -> str:
        """The pod that the question is about: that of the task, else that of the cycle, "" without either."""
        if self.stop.marking.pod:
            return self.stop.marking.pod
        return self.play.cycle(self.stop.step).pod if self.stop.step else ""


def judge(asked: StopQuestion, answer: Any, sure: bool | None) -> AnswerVerdict:
    """Return the verdict on an answer. Raises LessonError for one of the wrong shape."""
    stop = asked.stop
    if stop.task is None or stop.task.form is None:
        raise LessonError(f"{stop.key} asks nothing")
    given = answers.read(stop, answer, asked.play)
    if stop.task.form == "edit":
        return _edited(asked, given, sure)
    if stop.task.form == "claim":
        return _claimed(asked, given, sure)
    truth = asked.truth()
    if answers.same(stop, given, truth):
        why = _joined(asked.why())
        sentence, rating = _joined(_engine(asked, given), why), _rating(right=True, sure=sure)
        return AnswerVerdict(right=True, sentence=sentence, answer=truth, rating=rating, why=why)
    key = asked.misconception(given)
    believed = misconceptions().get(key, "")
    wrong = WrongAnswer(stop, asked.play, asked.pod, asked.index, given, truth, believed)
    said = reply(wrong)
    sentence = _joined(said.text)
    own = sentence if said.own else ""
    return AnswerVerdict(right=False, sentence=sentence, misconception=key, answer=truth, why=own)


def _rating(*, right: bool, sure: bool | None) -> int:
    if not right:
        return AGAIN
    return HARD if sure is False else GOOD


def _joined(*parts: str) -> str:
    return " ".join(part if _SENTENCE_END.search(part) else f"{part}." for part in parts if part)


# The engine's sentence


def _engine(asked: StopQuestion, given: Any) -> str:
    """Return what the engine says of the pod or node that a right answer names."""
    assert asked.stop.task is not None
    form, marking, play, index = asked.stop.task.form, asked.stop.marking, asked.play, asked.index
    if form == "node" and asked.pod:
        return sentences.about_pod(play, asked.pod, index)
    if form == "nodes" and asked.pod:
        others = [node for node in play.node_names if node not in given][:MOST_TOLD]
        named = [sentences.refusal(play, asked.pod, node, index) for node in others]
        return " ".join(filter(None, named)) or sentences.about_pod(play, asked.pod, index)
    if form == "cell" and asked.pod:
        return sentences.about_node(play, asked.pod, given.partition("/")[0], index)
    if form == "pods" and not marking.node:
        named = [given] if isinstance(given, str) else given
        return sentences.about_pod(play, named[0], index) if named else ""
    if marking.node and asked.pod:
        return sentences.about_node(play, asked.pod, marking.node, index)
    return ""


# Edits


def _edited(asked: StopQuestion, text: str, sure: bool | None) -> AnswerVerdict:
    lesson, stop = asked.lesson, asked.stop
    before, after = edits.documents(asked.bundle), edits.documents(text)
    count, par = edits.count_edits(before, after), par_of(lesson, stop)

    def verdict(sentence: str, why: str = "", *, right: bool = False) -> AnswerVerdict:
        rating = _rating(right=right, sure=sure)
        return AnswerVerdict(right, sentence, edits=count, par=par, rating=rating, why=why)

    for what in stop.marking.forbidden:
        if not edits.unchanged(before, after, what):
            whole = _joined(edits.words_of(what), say("This edit changes that."))
            return verdict(whole, whole)
    run = play(text)
    moment = ShownMoment(
        lambda name: run if name == stop.scenario else asked.run_of(name), stop.scenario, "", ""
    )
    facts: dict[str, Fact] = {
        "unchanged": lambda what: edits.unchanged(before, after, what),
        "edits": lambda: count,
    }
    try:
        right = value(stop.marking.accept, moment, further=facts) is True
        why = filled(stop.marking.why, lambda fact: value(fact, moment, further=facts), stop.language)
    except FactError as error:  # the edit has taken away what the task is about
        return verdict(_joined(f"{str(error)[:1].upper()}{str(error)[1:]}"))
    said = sentences.about_pod(run, stop.marking.pod, len(run.cycles)) if stop.marking.pod else ""
    plain = say("It holds.") if right else say("It does not hold yet.")
    own = _joined(why) or ("" if said else plain)
    return verdict(_joined(said, own), own, right=right)


@lru_cache(maxsize=256)
def solved_bundle(lesson: Lesson, stop: Stop) -> str:
    """Return the bundle of a stop with the solution of its edit, "" for a task without one."""
    solution = stop.marking.solution
    return edits.merged(lesson.file(stop.scenario), lesson.file(solution)) if solution else ""


@lru_cache(maxsize=256)
def solution_of(lesson: Lesson, stop: Stop) -> tuple[str, ...]:
    """Return what the solution of an edit changes."""
    base = edits.documents(lesson.file(stop.scenario))
    return tuple(edits.changed(base, edits.documents(solved_bundle(lesson, stop))))


@lru_cache(maxsize=256)
def par_of(lesson: Lesson, stop: Stop) -> int | None:
    """Return the fewest edits known: those of the solution; None for a task without edits."""
    if not stop.marking.solution:
        return None
    base = edits.documents(lesson.file(stop.scenario))
    return edits.count_edits(base, edits.documents(solved_bundle(lesson, stop)))


# Contracts


def _claimed(asked: StopQuestion, claim: str, sure: bool | None) -> AnswerVerdict:
    """Return whether a claim holds of the stop's scenario and its variants, and fails for each flawed one."""
    for number, bundle in enumerate((asked.bundle, *variants_of(asked.lesson, asked.stop.scenario, TRIALS))):
        if not _holds(claim, asked.stop.scenario, played(bundle)):
            return _own(_counterexample(asked, bundle if number else ""))
    for name in asked.stop.marking.flawed:
        if _holds(claim, name, asked.run_of(name)):
            return _own(say("The claim holds in {name} too, where the flaw is.", name=name))
    why = _joined(asked.why())
    sentence = _joined(say("The claim holds, and fails where the flaw is."), why)
    return AnswerVerdict(right=True, sentence=sentence, why=sentence, rating=_rating(right=True, sure=sure))


def _own(sentence: str) -> AnswerVerdict:
    return AnswerVerdict(right=False, sentence=sentence, why=sentence)


def _counterexample(asked: StopQuestion, drawn: str) -> str:
    """Return where a claim fails: in the scenario as it is, or in a variant, the text ``drawn``."""
    scenario = asked.stop.scenario
    if not drawn:
        return say("A counterexample: the claim fails in {name} where nothing is wrong.", name=scenario)
    return say(
        "A counterexample: the claim fails in {name} with other numbers ({changes}).",
        name=scenario,
        changes=_drawn(asked, drawn),
    )


def _drawn(asked: StopQuestion, bundle: str) -> str:
    return " and ".join(edits.changed(edits.documents(asked.bundle), edits.documents(bundle))) or "the same"


def _holds(claim: str, scenario: str, run: PlayedScenario) -> bool:
    def only(name: str) -> PlayedScenario:
        if name != scenario:
            raise FactError(f"there is no scenario {name!r}: a claim is about one, without of")
        return run

    try:
        found = value(claim, ShownMoment(only, scenario, "", ""))
    except FactError as error:
        raise LessonError(str(error)) from None
    if not isinstance(found, bool):
        raise LessonError("a claim is true or false, such as count(pending()) == 0")
    return found

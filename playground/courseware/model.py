"""What a lesson is: stops over scenarios, each with at most one task, whose answer the engine computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from scheduler_core.kubernetes.problems import Problem

Level = Literal["beginner", "intermediate", "advanced"]
TaskKind = Literal["look", "predict", "find", "explain", "do", "repair", "build", "contract"]
Form = Literal[
    "node", "pods", "nodes", "order", "number", "reason", "yesno", "choice", "cell", "event", "edit", "claim"
]

FORMS: Mapping[TaskKind, tuple[Form, ...]] = {
    "look": (),
    "predict": ("node", "pods", "nodes", "order", "number", "reason", "yesno", "choice"),
    "find": ("cell", "node", "pods", "event"),
    "explain": ("choice",),
    "do": ("edit",),
    "repair": ("edit",),
    "build": ("edit",),
    "contract": ("claim",),
}
"""The forms that the answer of each kind of task may have."""


class LessonError(ValueError):
    """A lesson, or an answer to one, is wrong; ``problems`` has every finding with its file and line."""

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class Choice(Struct, frozen=True):
    """One of the choices of a task. ``label`` is Markdown of one line."""

    key: str
    label: str


class LessonTask(Struct, frozen=True):
    """What a stop asks, as learners may see it: no field tells the answer.

    ``hints`` is how many there are, ``par`` the fewest edits known, ``forbidden`` what may not be edited, as
    sentences. Facts are still bound in ``question`` and the choices' labels;
    :func:`playground.courseware.task_of` puts them in.
    """

    kind: TaskKind
    question: str = ""
    form: Form | None = None
    choices: tuple[Choice, ...] = ()
    unit: str = ""
    hints: int = 0
    par: int | None = None
    forbidden: tuple[str, ...] = ()


class Distractor(Struct, frozen=True):
    """A wrong answer, as a fact, and the misconception that leads to it."""

    answer: str
    misconception: str


class Marking(Struct, frozen=True):
    """How a task's answer is checked: expressions on the record of its scenario, played to the end.

    ``pod`` and ``node`` are what the engine explains where an answer is wrong. For each choice of an
    explanation ``holds`` makes its label true, and ``separates`` is true of the right one alone. ``solution``
    is the file of the solution of an edit, ``wrong`` those of edits that are not accepted; ``flawed`` are the
    scenarios in which a contract must fail. A number may be off by ``tolerance``.
    """

    answer: str = ""
    accept: str = ""
    pod: str = ""
    node: str = ""
    why: str = ""
    hints: tuple[str, ...] = ()
    distractors: tuple[Distractor, ...] = ()
    holds: tuple[str, ...] = ()
    separates: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    solution: str = ""
    wrong: tuple[str, ...] = ()
    flawed: tuple[str, ...] = ()
    tolerance: int = 0


class Stop(Struct, frozen=True):
    """One stop: what is shown of which moment, a text, and a task.

    ``step`` is ``major.minor``, "" before the first cycle; ``phase`` is the last phase of that cycle that is
    shown, "" for the whole cycle. Facts are still bound in ``text``. ``language`` is that of its texts.
    """

    key: str
    title: str
    scenario: str
    step: str
    phase: str
    views: tuple[str, ...]
    text: str
    task: LessonTask | None = None
    marking: Marking = Marking()
    language: str = "en"


class Parameter(Struct, frozen=True):
    """A field of a scenario, with the values that variants draw from."""

    scenario: str
    object: str
    field: str
    values: tuple[Any, ...]


class Lesson(Struct, frozen=True):
    """One lesson. ``slug`` is its address; ``files`` are its scenarios, solutions and wrong edits by name.

    ``language`` is that of title, question, outcomes and notes.
    """

    number: int
    slug: str
    title: str
    level: Level
    minutes: int
    question: str
    outcomes: tuple[str, ...]
    prerequisites: tuple[str, ...]
    tracks: tuple[str, ...]
    terms: tuple[str, ...]
    stops: tuple[Stop, ...]
    notes: str
    files: tuple[tuple[str, str], ...] = ()
    parameters: tuple[Parameter, ...] = ()
    language: str = "en"

    def file(self, name: str) -> str:
        """Return the text of one of its files."""
        return dict(self.files)[name]


class AnswerVerdict(Struct, frozen=True):
    """The verdict on an answer, in the engine's own words.

    ``answer`` is the true one as JSON, None for edits and claims. ``why`` is the end of ``sentence`` that the
    lesson wrote, in the stop's language; the rest is the engine's. ``edits`` are counted for an edit alone.
    ``rating`` is what spaced repetition asks: 1 again, 2 hard (right, but a guess), 3 good.
    """

    right: bool
    sentence: str
    misconception: str = ""
    answer: Any = None
    edits: int | None = None
    par: int | None = None
    rating: int = 1
    why: str = ""


class AnswerKey(Struct, frozen=True):
    """What marks answers: those ``accepted``, numbers within ``tolerance`` of one, and wrong ones.

    ``answer`` is one of them, None where each answer has to be computed; ``leads`` are wrong answers with the
    misconception that leads to each. ``why`` is the engine's sentence for the right one.
    """

    answer: Any = None
    accepted: tuple[Any, ...] = ()
    tolerance: int = 0
    leads: tuple[tuple[Any, str], ...] = ()
    why: str = ""


class Variant(NamedTuple):
    """The same question about other numbers: the bundle, and the task with its facts put in."""

    bundle: str
    task: LessonTask

"""A lesson's folder to a :class:`Lesson`; every finding has its file and line, and says what would be right.

What needs the scenarios to be played is in :mod:`playground.courseware.validation`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from playground.courseware import edits
from playground.courseware.lesson_files import FileReader, stop_parts
from playground.courseware.model import (
    FORMS,
    Choice,
    Distractor,
    Form,
    Lesson,
    LessonError,
    LessonTask,
    Level,
    Marking,
    Parameter,
    Stop,
    TaskKind,
)
from playground.courseware.prose import excess, facts_in
from playground.protocol.tabs import STEP_TABS
from scheduler_core.kubernetes.names import did_you_mean
from scheduler_core.kubernetes.problems import Problem

MOST_FILES = 80
LARGEST = 256 * 1024  # characters of one file
MOST_STOPS = 20
HINTS = (0, 2, 3)

_FOLDER = re.compile(r"(\d{2})-([a-z0-9]+(?:-[a-z0-9]+)*)")
_STOP = re.compile(r"stops/(\d{2})-([a-z0-9]+(?:-[a-z0-9]+)*)\.md")
_TRANSLATION = re.compile(r"[a-z]{2}/(?:lesson\.yaml|notes\.md|stops/[a-z0-9-]+\.md)")
_SCENARIO = re.compile(r"(?:scenario[a-z0-9-]*|solution[a-z0-9-]*|wrong/[a-z0-9-]+)\.yaml")


class _ChoiceFile(Struct, forbid_unknown_fields=True):
    key: str
    label: str
    holds: str = ""
    separates: str = ""
    misconception: str = ""


class _TaskFile(Struct, forbid_unknown_fields=True):
    kind: TaskKind
    question: str = ""
    form: Form | None = None
    answer: str = ""
    accept: str = ""
    choices: tuple[_ChoiceFile, ...] = ()
    unit: str = ""
    hints: tuple[str, ...] = ()
    pod: str = ""
    node: str = ""
    why: str = ""
    distractors: tuple[Distractor, ...] = ()
    forbidden: tuple[str, ...] = ()
    solution: str = ""
    wrong: tuple[str, ...] = ()
    flawed: tuple[str, ...] = ()
    tolerance: int = 0


class _StopFile(Struct, forbid_unknown_fields=True):
    title: str
    scenario: str = "scenario.yaml"
    step: str = ""
    phase: str = ""
    views: tuple[str, ...] = ()
    task: _TaskFile | None = None


class _LessonFile(Struct, forbid_unknown_fields=True):
    title: str
    level: Level
    minutes: int
    question: str
    outcomes: tuple[str, ...]
    prerequisites: tuple[str, ...] = ()
    tracks: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()


class SharedWords(Struct, frozen=True):
    """What all lessons share: sentences by term, titles by track, sentences by misconception."""

    terms: Mapping[str, str]
    tracks: Mapping[str, str]
    misconceptions: Mapping[str, str]


def read_lesson(
    folder: str, files: Mapping[str, str], words: SharedWords, known: Iterable[str] = ()
) -> Lesson:
    """Return the lesson of a folder ``NN-slug`` from its files by their name in it.

    ``known`` are the slugs of all lessons. Raises LessonError with all findings.
    """
    problems: list[Problem] = []
    named = _FOLDER.fullmatch(folder)
    if named is None:
        raise LessonError(f"{folder[:80]!r} is not a lesson's folder: it is called 07-the-slug")
    if len(files) > MOST_FILES or any(len(text) > LARGEST for text in files.values()):
        raise LessonError(f"{folder}: a lesson has at most {MOST_FILES} files of {LARGEST // 1024} KiB")
    _check_files(folder, files, problems)
    reader = FileReader(f"{folder}/lesson.yaml", files.get("lesson.yaml", ""), problems)
    head = reader.convert(_LessonFile)
    if head is not None:
        _check_head(reader, head, words, set(known), files)
    stops = tuple(_stops(folder, files, words, problems))
    if head is None or problems:
        raise LessonError(_first(problems, folder), problems)
    kept = tuple((name, text) for name, text in sorted(files.items()) if _SCENARIO.fullmatch(name))
    return Lesson(
        int(named[1]), named[2], head.title, head.level, head.minutes, head.question, head.outcomes,
        head.prerequisites, head.tracks, head.terms, stops, files.get("notes.md", ""), kept, head.parameters,
    )  # fmt: skip


def _first(problems: Sequence[Problem], folder: str) -> str:
    if not problems:
        return f"{folder} cannot be read"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0].file}:{problems[0].line}: {problems[0].message}{more}"


def is_file(name: str) -> bool:
    """Return whether a lesson may have a file of that name."""
    patterns = (_STOP, _SCENARIO, _TRANSLATION)
    return name in ("lesson.yaml", "notes.md") or any(one.fullmatch(name) for one in patterns)


def _check_files(folder: str, files: Mapping[str, str], problems: list[Problem]) -> None:
    for name in files:
        if not is_file(name):
            message = (
                "a lesson has lesson.yaml, notes.md, scenario*.yaml, solution*.yaml, wrong/*.yaml and "
                "stops/01-key.md; a translation de/lesson.yaml and de/stops/01-key.md"
            )
            problems.append(Problem(message, line=1, file=f"{folder}/{name}"))
    problems.extend(
        Problem(f"there is no {name}", line=1, file=f"{folder}/{name}")
        for name in ("lesson.yaml", "notes.md", "scenario.yaml")
        if not files.get(name, "").strip()
    )
    problems.extend(
        Problem(message, line=line + 1, file=f"{folder}/notes.md")
        for line, message in excess(files.get("notes.md", ""))
    )


def _check_head(
    reader: FileReader, head: _LessonFile, words: SharedWords, known: set[str], files: Mapping[str, str]
) -> None:
    for field, rows, of in (
        ("terms", head.terms, words.terms),
        ("tracks", head.tracks, words.tracks),
        ("prerequisites", head.prerequisites, known),
    ):
        for number, name in enumerate(rows):
            if name not in of:
                reader.at(f"{name!r} is none of the {field}{_meant(name, of)}", field, number)
    if not 1 <= head.minutes <= 60:
        reader.at("minutes are between 1 and 60", "minutes")
    if not 1 <= len(head.outcomes) <= 5:
        reader.at("a lesson has one to five outcomes", "outcomes")
    for path, text in (
        (("question",), head.question),
        *((("outcomes", number), outcome) for number, outcome in enumerate(head.outcomes)),
    ):
        reader.prose(text, reader.lines(*path))
    for number, parameter in enumerate(head.parameters):
        if parameter.scenario not in files:
            reader.at(f"there is no {parameter.scenario!r}", "parameters", number, "scenario")
        if len(parameter.values) < 2:
            reader.at("a parameter has two values or more", "parameters", number, "values")
        if not all(isinstance(one, (str, int, float, bool)) for one in parameter.values):
            reader.at(
                "the values of a parameter are texts, numbers, true or false", "parameters", number, "values"
            )


def _meant(name: str, known: Iterable[str]) -> str:
    options = sorted(known)
    return did_you_mean(name, options) or f": they are {', '.join(options)}"


# Stops


def _stops(
    folder: str, files: Mapping[str, str], words: SharedWords, problems: list[Problem]
) -> Iterator[Stop]:
    names = sorted(name for name in files if name.startswith("stops/"))
    matches = [match for name in names if (match := _STOP.fullmatch(name)) is not None]
    if not 1 <= len(matches) <= MOST_STOPS:
        problems.append(Problem(f"a lesson has 1 to {MOST_STOPS} stops", line=1, file=f"{folder}/stops"))
        return
    keys: set[str] = set()
    for place, match in enumerate(matches, 1):
        file = f"{folder}/{match[0]}"
        if int(match[1]) != place:
            problems.append(Problem(f"stops are numbered from 01 on: this is {place:02}", line=1, file=file))
        if match[2] in keys:
            problems.append(Problem(f"two stops are called {match[2]}", line=1, file=file))
        keys.add(match[2])
        stop = _stop(match[2], file, files[match[0]], files, words, problems)
        if stop is not None:
            yield stop


def _stop(
    key: str, file: str, whole: str, files: Mapping[str, str], words: SharedWords, problems: list[Problem]
) -> Stop | None:
    parts = stop_parts(file, whole, problems)
    if parts is None:
        return None
    reader, body = parts
    head = reader.convert(_StopFile)
    if head is None:
        return None
    body.body()
    if head.scenario not in files:
        reader.at(f"there is no {head.scenario!r}{_meant(head.scenario, files)}", "scenario")
    for number, view in enumerate(head.views):
        if view not in STEP_TABS:
            reader.at(f"{view!r} is no tab of Inspect{_meant(view, STEP_TABS)}", "views", number)
    if head.phase and not head.step:
        reader.at("a phase is one of a step: name the step", "phase")
    found = len(problems)
    task, marking = _task(reader, head.task, files, words) if head.task is not None else (None, Marking())
    if len(problems) > found:
        return None
    return Stop(key, head.title, head.scenario, head.step, head.phase, head.views, body.text, task, marking)


_FURTHER = ("unchanged", "edits")
"""The facts of an edited bundle, beside those of its run."""


def _task(
    reader: FileReader, task: _TaskFile, files: Mapping[str, str], words: SharedWords
) -> tuple[LessonTask | None, Marking]:
    forms = FORMS[task.kind]
    form: Form | None = task.form or (forms[0] if len(forms) == 1 else None)
    if form not in forms and forms:
        reader.at(f"a task of kind {task.kind} has the form {' or '.join(forms)}", "task", "form")
        return None, Marking()
    if not forms:
        return LessonTask("look", task.question), Marking()
    if not task.question:
        reader.at("the question has no words yet", "task", "question")
    for name, text in (("question", task.question), ("why", task.why)):
        reader.prose(text, reader.lines("task", name))
    if len(task.hints) not in HINTS:
        reader.at(
            "hints: where to look, the rule, and the computed fact, which the engine says if it is left out",
            "task",
            "hints",
        )
    for number, text in enumerate(task.hints):
        reader.prose(text, reader.lines("task", "hints", number))
    if len(task.hints) == 3 and not facts_in(task.hints[2]):
        reader.at("the third hint is a computed fact: bind one, {{ … }}", "task", "hints", 2)
    _check_expressions(reader, task, form)
    _check_choices(reader, task, form)
    for number, distractor in enumerate(task.distractors):
        _check_misconception(
            reader, distractor.misconception, words, "task", "distractors", number, "misconception"
        )
    for number, choice in enumerate(task.choices):
        if choice.misconception:
            _check_misconception(
                reader, choice.misconception, words, "task", "choices", number, "misconception"
            )
    for name in (*filter(None, [task.solution]), *task.wrong, *task.flawed):
        if name not in files:
            reader.at(f"there is no {name!r}{_meant(name, files)}", "task")
    choices = tuple(Choice(choice.key, choice.label) for choice in task.choices)
    rules = tuple(edits.words_of(what) for what in task.forbidden)
    shown = LessonTask(
        task.kind, task.question, form, choices, task.unit, 3 if task.hints else 0, None, rules
    )
    leading = tuple(
        Distractor(json.dumps(choice.key), choice.misconception)
        for choice in task.choices
        if choice.misconception
    )
    return shown, Marking(
        task.answer, task.accept, task.pod, task.node, task.why, task.hints, (*task.distractors, *leading),
        tuple(choice.holds for choice in task.choices), tuple(choice.separates for choice in task.choices),
        task.forbidden, task.solution, task.wrong, task.flawed, task.tolerance,
    )  # fmt: skip


def _check_misconception(reader: FileReader, key: str, words: SharedWords, *path: str | int) -> None:
    if key not in words.misconceptions:
        reader.at(f"{key!r} is none of the misconceptions{_meant(key, words.misconceptions)}", *path)


def _check_expressions(reader: FileReader, task: _TaskFile, form: str | None) -> None:
    edited = form == "edit"
    if edited:
        if not task.accept or not task.solution:
            reader.at("an edit is checked by accept, and has a solution", "task")
    elif form == "claim":
        if not task.accept or not task.flawed:
            reader.at("a contract has accept, a claim that does, and the scenarios that are flawed", "task")
    elif task.kind != "explain":
        if not task.answer:
            reader.at(
                'no fact answers the question yet: pick it in the cluster, or write it, as cycle("1.1").node',
                "task", "answer",
            )  # fmt: skip
        elif not re.search(r"\w\(", task.answer):
            reader.at("the answer is written by hand: compute it from a fact", "task", "answer")
    if form in ("number", "yesno", "reason", "choice", "order") and not task.why:
        reader.at("say with facts what makes the answer right", "task", "why")
    for name, text, names in (
        ("answer", task.answer, ()),
        ("accept", task.accept, _FURTHER),
        *((f"distractors.{n}", one.answer, ()) for n, one in enumerate(task.distractors)),
    ):
        if text:
            field, _, number = name.partition(".")
            reader.expression(text, reader.lines("task", field, *([int(number)] if number else [])), names)


def _check_choices(reader: FileReader, task: _TaskFile, form: str | None) -> None:
    chooses = form in ("choice", "reason") or (form == "order" and task.choices)
    if chooses and not 2 <= len(task.choices) <= 8:
        reader.at("there are two to eight choices", "task")
    if not chooses and task.choices:
        reader.at(f"the form {form} has no choices", "task", "choices")
    if len({choice.key for choice in task.choices}) < len(task.choices):
        reader.at("two choices have the same key", "task", "choices")
    for number, choice in enumerate(task.choices):
        reader.prose(choice.label, reader.lines("task", "choices", number, "label"))
        explains = task.kind == "explain"
        if explains and not (choice.holds and choice.separates):
            reader.at(
                "each choice of an explanation has holds, which makes it true, and separates, which is true "
                "of the right one alone",
                "task", "choices", number,
            )  # fmt: skip
        for name, text in (("holds", choice.holds), ("separates", choice.separates)):
            if text:
                reader.expression(text, reader.lines("task", "choices", number, name))

"""A lesson in another language: its words from a folder such as ``de/``, its facts and answers unchanged.

What is not translated stays English, stop by stop, as does a stop whose translation binds other facts than
the English text. Each translated file records which English text it translates.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from playground.courseware.lesson_files import FileReader, stop_parts
from playground.courseware.model import Choice, Lesson, LessonTask, Stop
from playground.courseware.prose import facts_in
from scheduler_core.kubernetes.problems import Problem


class _LessonWords(Struct, forbid_unknown_fields=True):
    translates: str
    title: str
    question: str
    outcomes: tuple[str, ...]


class _StopWords(Struct, forbid_unknown_fields=True):
    translates: str
    title: str
    question: str = ""
    unit: str = ""
    choices: Mapping[str, str] = {}
    hints: tuple[str, ...] = ()
    why: str = ""


class Translation(Struct, frozen=True):
    """A lesson in a language, and every finding about its files.

    ``stale`` are those of files that translate an English text as it was before.
    """

    lesson: Lesson
    problems: tuple[Problem, ...] = ()
    stale: tuple[Problem, ...] = ()


def mark_of(*texts: object) -> str:
    """Return what a translation records of the English texts that it translates."""
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:8]


def translated(of: Lesson, files: Mapping[str, str], language: str) -> Translation:
    """Return a lesson in a language from its files by their name in the lesson's folder."""
    folder = f"{of.number:02}-{of.slug}"
    problems: list[Problem] = []
    stale: list[Problem] = []
    names = {f"{language}/stops/{place:02}-{stop.key}.md": stop for place, stop in enumerate(of.stops, 1)}
    known = {f"{language}/lesson.yaml", f"{language}/notes.md", *names}
    problems.extend(
        Problem("this translates nothing: there is no English file of that name", file=f"{folder}/{name}")
        for name in sorted(files)
        if name.startswith(f"{language}/") and name not in known
    )
    stops = tuple(
        _stop(stop, f"{folder}/{name}", files[name], language, problems, stale) if name in files else stop
        for name, stop in names.items()
    )
    made = replace(of, stops=stops)
    if (name := f"{language}/lesson.yaml") in files:
        made = _head(made, f"{folder}/{name}", files[name], language, problems, stale)
        made = replace(made, notes=files.get(f"{language}/notes.md", made.notes))
    return Translation(made, tuple(problems), tuple(stale))


def _head(
    of: Lesson, file: str, text: str, language: str, problems: list[Problem], stale: list[Problem]
) -> Lesson:
    found: list[Problem] = []
    reader = FileReader(file, text, found)
    words = reader.convert(_LessonWords)
    if words is not None:
        _compare(reader, (of.question,), (words.question,), "question")
        _compare(reader, of.outcomes, words.outcomes, "outcomes")
    problems.extend(found)
    if words is None or found:
        return of
    _age(reader, words.translates, mark_of(of.title, of.question, of.outcomes), stale)
    return replace(of, title=words.title, question=words.question, outcomes=words.outcomes, language=language)


def _stop(
    stop: Stop, file: str, whole: str, language: str, problems: list[Problem], stale: list[Problem]
) -> Stop:
    found: list[Problem] = []
    parts = stop_parts(file, whole, found)
    words = None if parts is None else parts.head.convert(_StopWords)
    if parts is not None and words is not None:
        _check(parts.head, parts.body, stop, words)
    problems.extend(found)
    if parts is None or words is None or found:
        return stop
    _age(parts.head, words.translates, mark_of(*_texts(stop)), stale)
    task = stop.task and replace(
        stop.task,
        question=words.question,
        unit=words.unit,
        choices=tuple(Choice(one.key, words.choices[one.key]) for one in stop.task.choices),
    )
    marking = replace(stop.marking, hints=words.hints, why=words.why)
    return replace(
        stop, title=words.title, text=parts.body.text, task=task, marking=marking, language=language
    )


def _texts(stop: Stop) -> Iterator[object]:
    """Yield what a translation of a stop has to say."""
    task = stop.task or LessonTask("look")
    yield from (stop.title, stop.text, task.question, task.unit)
    yield [(choice.key, choice.label) for choice in task.choices]
    yield from (stop.marking.hints, stop.marking.why)


def _check(head: FileReader, body: FileReader, stop: Stop, words: _StopWords) -> None:
    """Find what a translated stop says more, or less, than the English one."""
    task = stop.task or LessonTask("look")
    body.body()
    for difference in _differences(stop.text, body.text):
        body.wrong(difference)
    _compare(head, (task.question,), (words.question,), "question")
    _compare(head, (task.unit,), (words.unit,), "unit")
    _compare(head, (stop.marking.why,), (words.why,), "why")
    _compare(head, stop.marking.hints, words.hints, "hints")
    keys = [choice.key for choice in task.choices]
    if sorted(words.choices) != sorted(keys):
        head.at(f"the choices are {', '.join(keys) or 'none'}", "choices")
        return
    for choice in task.choices:
        _compare(head, (choice.label,), (words.choices[choice.key],), "choices", choice.key)


def _compare(reader: FileReader, english: Sequence[str], given: Sequence[str], *path: str) -> None:
    """Find what translated texts lack or have more; none of them is empty unless the English one is."""
    if len(english) != len(given):
        reader.at(f"the English lesson has {len(english)} of these, and this has {len(given)}", *path)
        return
    for number, (one, other) in enumerate(zip(english, given)):
        at: tuple[str | int, ...] = (*path, number) if len(english) > 1 else path
        if bool(one.strip()) != bool(other.strip()):
            reader.at("the English text has this" if one else "the English text has no such thing", *at)
        reader.prose(other, reader.lines(*at))
        for difference in _differences(one, other):
            reader.at(difference, *at)


def _differences(english: str, given: str) -> Iterator[str]:
    there, here = set(facts_in(english)), set(facts_in(given))
    for fact in sorted(there - here):
        yield f"the fact {{{{ {fact} }}}} of the English text is missing"
    for fact in sorted(here - there):
        yield f"the English text does not bind {{{{ {fact} }}}}"


def _age(reader: FileReader, written: str, now: str, stale: list[Problem]) -> None:
    if written != now:
        message = (
            f'the English text has changed since this was translated: compare, then write translates: "{now}"'
        )
        stale.append(Problem(message, line=reader.line + reader.lines("translates"), file=reader.file))

"""Lessons: folders of data with stops over scenarios, whose answers the engine computes.

A lesson is read by :mod:`.reader`, its facts are in :mod:`.facts`, :mod:`.validation` holds it to what it
promises. docs/writing-a-lesson.md has the format.
"""

from playground.courseware.catalogue import (
    TermWords,
    glossary,
    in_language,
    lesson,
    lessons,
    misconceptions,
    terms_in,
    tracks,
    translations,
)
from playground.courseware.model import (
    AnswerKey,
    AnswerVerdict,
    Choice,
    Lesson,
    LessonError,
    LessonTask,
    Stop,
    Variant,
)
from playground.courseware.questions import (
    answer_of,
    bundle_of,
    check,
    hint,
    key_of,
    task_of,
    text_of,
    variant,
)

__all__ = [
    "AnswerKey",
    "AnswerVerdict",
    "Choice",
    "Lesson",
    "LessonError",
    "LessonTask",
    "Stop",
    "TermWords",
    "Variant",
    "answer_of",
    "bundle_of",
    "check",
    "glossary",
    "hint",
    "in_language",
    "key_of",
    "lesson",
    "lessons",
    "misconceptions",
    "task_of",
    "terms_in",
    "text_of",
    "tracks",
    "translations",
    "variant",
]

"""docs/writing-a-lesson.md tells the format that is read."""

from __future__ import annotations

import inspect
import re

from playground.courseware.edits import MOVES
from playground.courseware.facts import FACTS, signature
from playground.courseware.facts.cycle import CycleFacts
from playground.courseware.facts.outcomes import PodEnd
from playground.courseware.model import FORMS
from playground.courseware.reader import read_lesson
from tests.core.lessons.data import FILES, WORDS
from tests.parts import REPOSITORY

TEXT = (REPOSITORY / "docs" / "writing-a-lesson.md").read_text()


def test_every_fact_is_listed() -> None:
    """Each fact has its row, with its parameters and its meaning, and no other has one."""
    rows = dict(re.findall(r"^\| `(\w+\(.*?\))` \| (.*) \|$", TEXT, re.MULTILINE))
    assert rows == {
        signature(name): (inspect.getdoc(fact) or "").replace("``", "`") for name, fact in FACTS.items()
    }


def test_fields_kinds_and_moves_are_listed() -> None:
    """The fields of facts, the kinds of tasks with their forms, and the forbidden moves."""
    for record in (CycleFacts, PodEnd):
        assert ", ".join(f"`{field}`" for field in record.__struct_fields__) in TEXT
    for kind, forms in FORMS.items():
        row = next(line for line in TEXT.splitlines() if line.startswith("| ") and f"`{kind}`" in line)
        assert all(f"`{form}`" in row for form in forms), kind
    assert ", ".join(f"`{move}`" for move in MOVES) in TEXT


def test_the_example_is_read() -> None:
    """The fields that the document shows make a lesson."""
    block = re.search(r"## lesson.yaml\n\n(.*?)\n\n[A-Z]", TEXT, re.DOTALL)
    stop = re.search(r"at most one task.\n\n(.*?)\n\n[A-Z]", TEXT, re.DOTALL)
    assert block is not None
    assert stop is not None
    head, shown = (re.sub(r"^ {4}", "", found[1], flags=re.MULTILINE) for found in (block, stop))
    head = head.replace("[developers]", "[hour]").replace("[cycle, filter]", "[cycle]")
    shown = shown.replace("misconception: first-that-fits", "misconception: first")
    files = {**FILES, "lesson.yaml": head, "stops/01-which.md": f"{shown}\n"}
    lesson = read_lesson("12-first-of-its-kind", files, WORDS, ["first-cycle"])
    assert lesson.prerequisites == ("first-cycle",)
    assert lesson.stops[0].marking.distractors[0].answer == 'cycle("1.1").feasible[0]'

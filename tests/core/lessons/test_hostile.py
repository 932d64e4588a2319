"""Lessons may come from outside: whatever is wrong or hostile is refused with its file, line and remedy."""

from __future__ import annotations

import time

import pytest

from playground.courseware import playthrough as played_module
from playground.courseware.expression import FactError, evaluate, parsed
from playground.courseware.model import LessonError
from playground.courseware.questions import check, hint, text_of
from playground.courseware.reader import read_lesson
from playground.courseware.validation import problems_of
from tests.core.lessons.data import EDIT, FILES, LESSON, SCENARIO, STOP, WORDS, made, refused

STOPS = {"which": "stops_01_which_md", "other": "stops_02_other_md"}
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
)


def test_the_sample_is_sound() -> None:
    """What the tests below change is a lesson without a problem."""
    assert problems_of(made()) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "line", "message"),
    [
        ("which", "queue]", "queues]", 5, "'queues' is no tab of Inspect: did you mean 'queue'?"),
        ("which", 'cycle("1.1").node\n', '"large"\n', 10, "the answer is written by hand"),
        ("which", "cycle(", "cycel(", 10, "there is no fact 'cycel': did you mean 'cycle'?"),
        ("which", "`web` requests", "2 nodes,\n`web` requests", 18, "the number 2 is written by hand"),
        ("which", "`web` requests", "`2` nodes,\n`web` requests", 18, "the number 2 is written by hand"),
        ("which", "free(", "fre(", 14, "there is no fact 'fre': did you mean 'free'?"),
        ("which", "Compare", "Compare 2", 12, "the number 2 is written by hand"),
        ("which", "misconception: first", "misconception: frist", 16, "did you mean 'first'?"),
        ("which", "form: node", "form: edit", 8, "has the form node or pods"),
        ("which", "form: node", "form: nodde", 8, "Invalid enum value 'nodde'"),
        ("which", 'step: "1.1"', "step: 1.1", 3, "Expected `str`, got `float`"),
        ("which", "views:", "view:", 5, "unknown field `view`"),
        ("other", "solution.yaml", "solutions.yaml", 3, "did you mean 'solution.yaml'?"),
        ("lesson_yaml", "[cycle]", "[cylce]", 6, "did you mean 'cycle'?"),
        ("lesson_yaml", "[hour]", "[hours]", 7, "did you mean 'hour'?"),
        ("lesson_yaml", "Which node gets it?", "Which of 2?", 4, "the number 2 is written by hand"),
        ("lesson_yaml", "minutes: 3", "minutes: three", 3, "Expected `int`, got `str`"),
    ],
)  # fmt: skip
def test_a_finding_has_its_line(file: str, old: str, new: str, line: int, message: str) -> None:
    """Each finding names file and line, and what would be right."""
    text = {"which": STOP, "other": EDIT, "lesson_yaml": LESSON}[file]
    assert old in text
    found = refused(**{STOPS.get(file, file): text.replace(old, new, 1)})
    assert found.file is not None and found.file.startswith("01-one-fits/")
    assert (found.line, message in found.message) == (line, True), found


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("which", 'step: "1.1"', 'step: "3.1"', "there is no step '3.1': the run has 1.1 to 1.1"),
        ("which", "phase: queue", "phase: queu", "has no phase 'queu': did you mean 'queue'?"),
        ("which", "phase: queue\n", "", "the stop shows the answer of its own question"),
        ("which", "requests {{", "goes to {{ cycle('1.1').node }}, requests {{", "is not shown yet"),
        ("which", "requests {{", "ends on {{ outcome('web').node }}, requests {{", "is not shown"),
        ("which", '"small"', '"smal"', "there is no node 'smal': did you mean 'small'?"),
        ("which", "nodes[0]", "nodes[1]", "is the answer"),
        ("other", '== "small"', '== "large"', "the scenario is accepted as it is"),
        ("solution_yaml", 'cpu: "1"', 'cpu: "1001m"', "the solution is refused: web is pending"),
        ("wrong_half_yaml", "1500m", "500m", "wrong/half.yaml is accepted"),
        ("lesson_yaml", "Node/small", "Node/smal", "Node/smal has no status.allocatable.cpu"),
    ],
)  # fmt: skip
def test_a_promise_that_is_not_kept_is_found(file: str, old: str, new: str, message: str) -> None:
    """What shows only when a lesson is played is found by file."""
    name = STOPS.get(file, file)
    whole = {name.translate(str.maketrans("/-.", "___")): text for name, text in FILES.items()}[name]
    assert old in whole
    found = problems_of(made(**{name: whole.replace(old, new, 1)}))
    assert any(message in problem.message for problem in found), found


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('id')",
        "().__class__.__bases__[0]",
        "cycle.__globals__",
        "cycle('1.1').__class__",
        "[x for x in placed()]",
        "lambda: 0",
        "(x := 1)",
        "f'{placed()}'",
        "'a' * 10**9",
        "2 ** 99999",
        "1 << 99999",
        "9" * 5000,
        "(" * 300 + ")" * 300,
        "not " * 140 + "1",
        " + ".join(["1"] * 200),
        "placed(**{'of': 'x'})",
        "placed.__call__()",
        "print('x')",
        "b'x'",
        "...",
        "",
        "a\x00b",
    ],
)
def test_an_expression_computes_facts_and_nothing_else(text: str) -> None:
    """Whatever is not in the language of facts is refused, and at once."""
    began = time.thread_time()
    with pytest.raises(FactError):
        evaluate(text, {"placed": list, "cycle": lambda step: step}, {})
    assert time.thread_time() - began < 30  # of a processor: without bounds it would not end


def test_numbers_and_lists_stay_small() -> None:
    """Arithmetic cannot grow without bounds."""
    grow = "n * n"
    number = 10**8
    with pytest.raises(FactError, match="a number is at most"):
        evaluate(grow, {}, {"n": number})
    with pytest.raises(FactError, match="a division by zero"):
        evaluate("1 // 0", {}, {})
    assert parsed("1 + 1") is parsed("1 + 1")


@pytest.mark.parametrize("file", ["lesson_yaml", "stops_01_which_md"])
def test_a_bomb_of_aliases_is_refused(file: str) -> None:
    """A few lines that expand to billions of values cost next to nothing."""
    began = time.thread_time()
    text = BOMB if file == "lesson_yaml" else f"---\n{BOMB}---\ntext\n"
    assert refused(**{file: text}).line is not None
    assert time.thread_time() - began < 30  # of a processor: without bounds it would not end


def test_a_folder_has_bounds() -> None:
    """The name, the number and the size of files are bounded; other files are none of a lesson's."""
    with pytest.raises(LessonError, match="a lesson's folder"):
        read_lesson("../etc", FILES, WORDS)
    with pytest.raises(LessonError, match="a lesson has at most"):
        read_lesson("01-one", {**FILES, "scenario-b.yaml": "x" * 300_000}, WORDS)
    with pytest.raises(LessonError, match=r"a lesson has lesson\.yaml"):
        read_lesson("01-one", {**FILES, "../../x.py": "x"}, WORDS)
    with pytest.raises(LessonError, match="stops are numbered from 01 on"):
        read_lesson("01-one", {**FILES, "stops/07-last.md": STOP}, WORDS)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (7, "a node's name"),
        ({"a": 1}, "a node's name"),
        ("x" * 10_000, "a node's name"),
        ("smal", "there is no node 'smal': did you mean 'small'?"),
    ],
)
def test_an_answer_of_another_shape_is_refused(answer: object, message: str) -> None:
    """The error says what the answer is."""
    one = made()
    with pytest.raises(LessonError, match=message):
        check(one, one.stops[0], answer)


@pytest.mark.parametrize(
    ("bundle", "message"),
    [
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: [", "line"),
        (BOMB, "values"),
        (FILES["scenario.yaml"].replace('cpu: "2"', 'cpu: "two"'), "is not a quantity"),
        ("x" * 300_000, "KiB at most"),
        (12, "the text of the bundle"),
        (f"{SCENARIO}---{SCENARIO}", "there twice"),
    ],
)
def test_an_edited_bundle_is_read_within_bounds(bundle: object, message: str) -> None:
    """A bundle that cannot be read is an error of its own, not a wrong answer."""
    one = made()
    with pytest.raises(LessonError, match=message):
        check(one, one.stops[1], bundle)


def test_forbidden_moves_are_named() -> None:
    """An edit that changes what is to stay is refused with the rule that it breaks; edits are counted."""
    one = made()
    text = FILES["scenario.yaml"].replace('cpu: "1"', 'cpu: "8"').replace('{cpu: "4"', '{cpu: "1"')
    verdict = check(one, one.stops[1], text)
    assert (verdict.right, verdict.edits, verdict.par) == (False, 2, 2)
    assert verdict.sentence.startswith("The nodes stay as they are.")


def test_hints_come_in_three_steps() -> None:
    """Where to look, the rule, the computed fact."""
    one = made()
    assert hint(one, one.stops[0], 3) == "`small` has 1."
    with pytest.raises(LessonError, match="hints 1 to 3"):
        hint(one, one.stops[0], 4)
    with pytest.raises(LessonError, match="no hints"):
        hint(one, one.stops[1], 1)
    assert text_of(one, one.stops[0]) == "`web` requests 2."


def test_a_scenario_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner's bundle is played for a bounded time and a bounded number of cycles."""
    one = made()
    crowd = "".join(
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: more-{n}}}\nspec: {{containers: [{{name: c}}]}}\n"
        for n in range(60)
    )
    monkeypatch.setattr(played_module, "MOST_CYCLES", 50)
    with pytest.raises(LessonError, match="more than 50 cycles"):
        check(one, one.stops[1], FILES["scenario.yaml"] + crowd)
    monkeypatch.setattr(played_module, "SECONDS", 0.0)
    with pytest.raises(LessonError, match="takes longer than 0 s"):
        check(one, one.stops[1], FILES["scenario.yaml"] + crowd)


CLAIM = """---
title: Nobody waits
task:
  kind: contract
  question: Which claim catches it?
  accept: outcome("web").node == "large" or outcome("web").node == "small"
  flawed: [scenario-flawed.yaml]
---
In one of the clusters it waits.
"""


def test_a_contract_is_tried_on_other_numbers() -> None:
    """A claim has to hold of the scenario with other numbers too, and to fail where the flaw is."""
    flawed = FILES["scenario.yaml"].replace('cpu: "4"', 'cpu: "1"')
    files = {**FILES, "stops/02-other.md": CLAIM, "scenario-flawed.yaml": flawed}
    files = {name: text for name, text in files.items() if name not in ("solution.yaml", "wrong/half.yaml")}
    one = read_lesson("01-one-fits", files, WORDS)
    assert problems_of(one) == []
    stop = one.stops[1]
    assert check(one, stop, "count(pending()) == 0").right
    assert "holds in scenario-flawed.yaml too" in check(one, stop, "count(pending()) >= 0").sentence
    narrow = check(one, stop, 'outcome("web").node == "large"')
    assert not narrow.right
    assert "with other numbers (`status.allocatable.cpu` of `Node/small`)" in narrow.sentence
    for claim, message in (
        ("count(pending())", "true or false"),
        ("outcome('nobody').node == ''", "no pod 'nobody'"),
        ("count(pending(of='scenario-flawed.yaml')) == 0", "no scenario"),
    ):
        with pytest.raises(LessonError, match=message):
            check(one, stop, claim)

"""A small lesson as files, which tests change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from playground.courseware.checks import StopQuestion
from playground.courseware.edits import merged
from playground.courseware.model import Lesson, LessonError, Stop
from playground.courseware.reader import SharedWords, read_lesson
from scheduler_core.kubernetes.problems import Problem

MOST = 8  # wrong answers of one question

SCENARIO = """
apiVersion: v1
kind: Node
metadata: {name: small}
status: {allocatable: {cpu: "1", memory: 4Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: large}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: main, resources: {requests: {cpu: "2", memory: 1Gi}}}]}
---
apiVersion: podstep/v1
kind: SimulationSettings
scheduler: v1.37
"""

LESSON = """title: One fits
level: beginner
minutes: 3
question: Which node gets it?
outcomes: [Say which node has room.]
terms: [cycle]
tracks: [hour]
parameters:
- {scenario: scenario.yaml, object: Node/small, field: status.allocatable.cpu, values: ["1", "2", "8"]}
"""

STOP = """---
title: Which node
step: "1.1"
phase: queue
views: [queue]
task:
  kind: predict
  form: node
  question: Which node gets `web`?
  answer: cycle("1.1").node
  hints:
  - Compare the nodes.
  - A node needs room for the request.
  - '`small` has {{ free("small", "cpu") }}.'
  distractors:
  - {answer: 'cycle("1.1").nodes[0]', misconception: first}
---
`web` requests {{ request("web", "cpu") }}.
"""

EDIT = """---
title: Make it fit the other
task:
  kind: repair
  question: Make `web` run on `small`.
  accept: outcome("web").node == "small"
  pod: web
  forbidden: [nodes, settings, node names]
  solution: solution.yaml
  wrong: [wrong/half.yaml]
---
It may request less.
"""

SMALLER = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {kubernetes.io/hostname: small}
  containers: [{name: main, resources: {requests: {cpu: "1", memory: 1Gi}}}]
"""

FILES: Mapping[str, str] = {
    "lesson.yaml": LESSON,
    "notes.md": "Say little.",
    "scenario.yaml": SCENARIO.replace(
        "{name: small}", "{name: small, labels: {kubernetes.io/hostname: small}}"
    ),
    "solution.yaml": SMALLER,
    "wrong/half.yaml": SMALLER.replace('cpu: "1"', 'cpu: "1500m"'),
    "stops/01-which.md": STOP,
    "stops/02-other.md": EDIT,
}
WORDS = SharedWords({"cycle": "One attempt."}, {"hour": "In an hour"}, {"first": "The first node is taken."})


def made(**changed: str) -> Lesson:
    """Return the lesson with some files changed; a file's name has ``_`` for ``/``, ``-`` and ``.``."""
    names = {name.translate(str.maketrans("/-.", "___")): name for name in FILES}
    return read_lesson(
        "01-one-fits", {**FILES, **{names[name]: text for name, text in changed.items()}}, WORDS
    )


def refused(**changed: str) -> Problem:
    """Return the first problem of the lesson with some files changed."""
    try:
        made(**changed)
    except LessonError as error:
        return error.problems[0]
    raise AssertionError("the lesson was read")


def right_answer(of: Lesson, stop: Stop) -> Any:
    """Return the right answer as the engine computes it: of an edit the text with the solution."""
    assert stop.task is not None
    if stop.task.form == "edit":
        return merged(of.file(stop.scenario), of.file(stop.marking.solution))
    if stop.task.form == "claim":
        return stop.marking.accept
    answer = StopQuestion(of, stop).truth()
    any_of_them = stop.task.kind == "find" and isinstance(answer, list) and stop.task.form != "pods"
    return answer[0] if any_of_them else answer


def _names(known: list[str], right: list[str]) -> Iterator[list[str]]:
    """Yield sets of names: none, one too few, one too many, all of the others."""
    others = [name for name in known if name not in right]
    yield from ([], right[1:], [*right, *others[:1]], others, others[:1], right[:1])


def _cells(asked: StopQuestion, right: list[str]) -> Iterator[str]:
    """Yield the cells of a right answer's node, and of its rule on the other nodes."""
    cycle = asked.play.cycles[asked.index - 1]
    node, _, rule = right[0].partition("/")
    order = cycle.matrix.order if cycle.matrix is not None else cycle.order
    yield from (f"{node}/{one}" for one in order)
    yield from (f"{one}/{rule}" for one in cycle.nodes)


def wrong_answers(asked: StopQuestion, truth: Any) -> list[Any]:
    """Return answers that are not right, of the form that the question has."""
    task, play = asked.stop.task, asked.play
    assert task is not None
    right = truth if isinstance(truth, list) else [truth]
    found: list[Any]
    match task.form:
        case "node":
            found = [*play.node_names, ""]
        case "nodes":
            found = [sorted(one) for one in _names(list(play.node_names), right)]
        case "pods":
            known = [pod.removeprefix("default/") for pod in play.pods]
            found = [sorted(one) for one in _names(known, right)]
        case "order":
            found = [right[::-1], [*right[1:], right[0]], [right[0], *right[:0:-1]]]
        case "number":
            far = asked.stop.marking.tolerance + 1
            found = [truth + far, truth - far, truth * 7 + 1000]
        case "yesno":
            found = [not truth]
        case "reason" | "choice":
            found = [choice.key for choice in task.choices]
        case "cell":
            found = list(_cells(asked, right))
        case "event":
            cycles = [asked.play.cycles[asked.index - 1]]
            found = [f"{e.reason} {e.object.rpartition('/')[2]}" for cycle in cycles for e in cycle.events]
        case _:
            found = []
    several = task.kind == "find" and task.form != "pods"
    return [one for one in found if (one not in right if several else one != truth)][:MOST]

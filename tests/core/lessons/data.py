"""A small lesson as files, which tests change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.authoring.lessons.checking import StopQuestion
from scheduler_core.authoring.lessons.edits import merged
from scheduler_core.authoring.lessons.model import Lesson, LessonError, Stop
from scheduler_core.authoring.lessons.reading import SharedWords, read_lesson
from scheduler_core.kubernetes.problems import Problem

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

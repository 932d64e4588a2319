"""The questions of public threads, as their table in the documents has them asked on the command line."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from scheduler_core.__main__ import main
from scheduler_core.cluster.kueue.workload import read_workload
from scheduler_core.explain.kueue.submission import submit
from tests.core.kueue.clusters import API, NOW, control_of, workload_spec

DOCS = Path(__file__).parents[3] / "docs"


class Question(NamedTuple):
    """A row of the table: a command, and parts of its answer."""

    command: str
    says: list[str]


def _questions() -> list[Question]:
    lines = (DOCS / "kueue-questions.md").read_text().splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| [")]
    return [Question(command.strip("`"), re.findall(r"`([^`]+)`", says)) for _, _, command, says in rows]


QUESTIONS = _questions()


@pytest.mark.parametrize("row", QUESTIONS, ids=lambda row: row.command.split()[1])
def test_the_questions_of_threads_are_answered(
    row: Question, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reason of KEP-10852, what people did not expect, and the changes that help."""
    monkeypatch.chdir(DOCS / "kueue")
    assert main(shlex.split(row.command)) == 0
    text = capsys.readouterr().out
    assert [part for part in row.says if part not in text] == []


def test_every_file_of_the_questions_is_asked_about() -> None:
    """There are fourteen, and what is submitted."""
    named = {name for row in QUESTIONS for name in re.findall(r"\S+\.yaml", row.command)}
    assert len(QUESTIONS) == 14
    assert named == {path.name for path in (DOCS / "kueue").iterdir()}


def test_a_submission_is_tried_on_a_copy() -> None:
    """Nothing of it happens to the state itself."""
    queues = {
        "a": {"quota": {"default": 4}, "cohortName": "team", "preemption": {"reclaimWithinCohort": "Any"}},
        "b": {"quota": {"default": 4}, "cohortName": "team"},
    }
    control = control_of({"queues": queues, "workloads": {"b1": "b 3", "b2": "b 2", "b3": "b 3"}})
    meta = {"name": "new", "namespace": "default"}
    manifest = {"apiVersion": API, "kind": "Workload", "metadata": meta, "spec": workload_spec("a 4")}
    found = submit(control, read_workload(manifest, NOW))
    assert found.is_admitted
    assert [name for name, _ in found.preempted] == ["default/b1", "default/b2"]
    assert "default/new" not in control.workloads
    assert all(one.is_reserving for one in control.workloads.values())

"""The questions of public threads, asked of small clusters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler_core.cluster.kueue.workload import read_workload
from scheduler_core.explain.kueue.answer import KueueAnswer, answer
from scheduler_core.explain.kueue.submission import submit
from tests.core.kueue.clusters import API, NOW, control_of, workload_spec

ROWS = yaml.safe_load((Path(__file__).parent / "questions.yaml").read_text())
QUESTIONS = [row for row in ROWS if "ask" in row]
SUBMISSIONS = [row for row in ROWS if "submit" in row]


def text_of(found: KueueAnswer) -> str:
    """Return all that an answer says."""
    return "\n".join((found.summary, *(text for one in found.sections for text in one.sentences)))


@pytest.mark.parametrize("row", QUESTIONS, ids=lambda row: row["thread"])
def test_the_questions_of_threads_are_answered(row: Mapping[str, Any]) -> None:
    """The reason of KEP-10852, what people did not expect, and the changes that help."""
    control = control_of(row["cluster"], stop_seconds=row.get("stopSeconds", 0), cycles=row.get("cycles", 25))
    found = answer(control, row["ask"])
    text = text_of(found)
    assert found.reason == row["reason"], text
    for part in row["says"]:
        assert part in text
    assert set(row.get("changes", ())) <= {one.about for one in found.changes}


@pytest.mark.parametrize("row", SUBMISSIONS, ids=lambda row: row["thread"])
def test_a_submission_is_tried_on_a_copy(row: Mapping[str, Any]) -> None:
    """Whether it is admitted and whom it preempts, and nothing of it happens to the state itself."""
    control = control_of(row["cluster"])
    meta = {"name": "new", "namespace": "default"}
    manifest = {"apiVersion": API, "kind": "Workload", "metadata": meta, "spec": workload_spec(row["submit"])}
    found = submit(control, read_workload(manifest, NOW))
    assert found.is_admitted is row["admitted"]
    assert [list(one) for one in found.preempted] == row["preempted"]
    assert "default/new" not in control.workloads
    assert all(one.is_reserving for one in control.workloads.values())

"""Reading tells how far it is, in bounded steps, and ends where whoever watches says so."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from scheduler_core import load, load_documents
from scheduler_core.progress import Watch

STAGES = ("reading", "checking", "assembling")

NODES = [
    {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{at}"},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    }
    for at in range(1_500)
]
AS_JSON = json.dumps({"apiVersion": "v1", "kind": "List", "items": NODES})
AS_YAML = "---\n".join(
    f"apiVersion: v1\nkind: Node\nmetadata:\n  name: n{at}\nstatus:\n  allocatable:\n    cpu: '4'\n"
    for at in range(1_500)
)
AS_LIST = "apiVersion: v1\nkind: List\nitems:\n" + "".join(
    f"- apiVersion: v1\n  kind: Node\n  metadata:\n    name: n{at}\n" for at in range(1_500)
)


class StopError(Exception):
    """What a watch raises."""


@pytest.mark.parametrize("text", [AS_JSON, AS_YAML, AS_LIST], ids=["json", "documents", "list"])
def test_progress_is_reported(text: str) -> None:
    """Every stage is mentioned, in order, never beyond its end and never backwards."""
    reported: list[tuple[str, int, int]] = []
    load(text, watch=lambda *report: reported.append(report))
    assert list(dict.fromkeys(stage for stage, _, _ in reported)) == list(STAGES)
    assert all(0 <= done <= of for _, done, of in reported)
    for stage in STAGES:
        far = [done for name, done, _ in reported if name == stage]
        assert len(far) > 2
        assert all(before <= after for before, after in pairwise(far))


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("text", [AS_JSON, AS_YAML, AS_LIST], ids=["json", "documents", "list"])
def test_a_reading_is_stopped(text: str, stage: str) -> None:
    """What the watch raises comes out as it is, in every stage, and nothing is read after it."""
    calls = 0

    def watch(now: str, _done: int, _of: int) -> None:
        nonlocal calls
        if now == stage:
            calls += 1
            raise StopError

    with pytest.raises(StopError):
        load(text, watch=watch)
    assert calls == 1


def test_manifests_that_are_parsed_are_watched_too() -> None:
    """A stored scenario tells as much."""
    reported: list[str] = []
    watch: Watch = lambda stage, _done, _of: reported.append(stage)  # noqa: E731
    load_documents(NODES, watch=watch)
    assert set(reported) == {"checking", "assembling"}

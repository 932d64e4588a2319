"""The Session part of a step of kube-batch: shares, jobs, steps page by page, and the story's sentences."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from playground.panels import session_steps, steps
from playground.panels.cycle import light
from playground.panels.session import record_of, session
from playground.panels.session_steps import ROW, ROWS, page
from playground.playback.playback import Playback
from scheduler_core.run.moment_record import UNTRIED, upto
from scheduler_core.schedulers.kube_batch.record import JobShares, QueueShares, SessionRecord, Step
from tests.conformance.kube_batch_records import FILE
from tests.conformance.record_files import read_lines
from tests.core.kube_batch.parts import group as made_group
from tests.core.kube_batch.parts import members
from tests.core.kube_batch.parts import node as made_node
from tests.core.kube_batch.parts import queue as made_queue
from tests.core.kube_batch.test_record import preemption, recorded
from tests.core.timed.parts import VIRTUAL, node, pod
from tests.core.timed.test_kube_batch import GANG, LACKING, PREEMPTING, batch, group, queue
from tests.playground.conftest import connected
from tests.playground.cut_cycles import moments_inside
from tests.playground.test_known_steps import opened
from tests.playground.test_podgroups_panel import words
from tests.playground.test_virtual_time import played


def part(playback: Playback, index: int) -> dict[str, Any]:
    """Return the session part of a step, as it leaves the server."""
    found: dict[str, Any] = json.loads(json.dumps(steps.parts(playback, index, ["session"])["session"]))
    return found


def reported(found: dict[str, Any]) -> list[str]:
    """Return the sentences of a page."""
    return [words(row["text"]) for row in found["rows"]]


def story(playback: Playback, index: int) -> str:
    """Return the story of a step without its links."""
    return " ".join(words(sentence) for sentence in json.loads(playback.light(index, light))["story"])


def test_a_gang_is_bound_step_by_step() -> None:
    """By action, with the heap and the nodes of each task, until the job is ready."""
    found = part(played("---\n".join(GANG)), 2)
    assert (found["number"], found["time"], found["bound"]) == (1, 1.0, 3)
    assert found["actions"] == ["allocate", "backfill"]
    rows = found["steps"]["rows"]
    assert [row["number"] for row in rows] == sorted(row["number"] for row in rows)
    assert list(dict.fromkeys(row["action"] for row in rows)) == ["", "allocate", "close"]
    sentences = reported(found["steps"])
    assert "default/g is popped from the heap of jobs of queue default, which has 1 item." in sentences
    heap = next(row["detail"]["heap"] for row in rows if row["detail"] and "heap" in row["detail"])
    assert heap == {"what": "queue", "size": 1, "items": ["default"], "popped": "default"}
    nodes = next(row["detail"]["nodes"] for row in rows if row["detail"] and "nodes" in row["detail"])
    assert {name for name, _ in nodes["candidates"]} == {"n1", "n2"}
    assert nodes["chosen"] == nodes["candidates"][0][0]
    assert sum(of[0] for of in nodes["parts"].values()) == nodes["candidates"][0][1]
    (job,) = found["jobs"]
    assert (job["job"], job["placed"], job["bound"], job["phase"]) == ("default/g", 3, 3, "Running")
    assert job["share"] == [0, 0.75]
    assert found["groups"] == [["default/g", "Running", 0, 0, 0, ""]]


def test_the_shares_before_a_page_and_of_its_rows_add_up_to_those_at_the_end() -> None:
    """Whatever page is asked for."""
    found = part(played("---\n".join(GANG)), 2)
    (queue_,) = found["queues"]
    assert queue_["deserved"] == {"cpu": 6000, "memory": 3 * 2**30}
    assert [of["cpu"] for of in queue_["allocated"]] == [0, 6000]
    record = record_of(played("---\n".join(GANG)).cycle(2))
    assert record is not None
    for first in range(found["steps"]["count"]):
        some = page(record, first, ROWS)
        shares = {**some["accounts"]["queues"]}
        for row in some["rows"]:
            shares |= row["shares"]["queues"]
        assert shares["default"][0]["cpu"] == 6000, first


def test_a_page_is_of_an_action_and_of_a_job() -> None:
    """And counts those that match."""
    record = preemption(2)
    of_action = page(record, 0, 100, action="preempt")
    assert {row["action"] for row in of_action["rows"]} == {"preempt"}
    of_job = page(record, 0, 100, job="ns/high")
    assert {row["job"] for row in of_job["rows"]} == {"ns/high"}
    whole = page(record, 0, 100)
    assert of_job["count"] < whole["count"] == len(whole["rows"])
    assert [row["number"] for row in page(record, 2, 3)["rows"]] == [
        row["number"] for row in whole["rows"][2:5]
    ]
    assert len(page(record, 0, 10**6)["rows"]) <= ROWS


def test_the_tier_that_decided_on_victims_has_each_plugin_s_answer() -> None:
    """And the statement ends committed or discarded, with its operations."""
    rows = page(preemption(2), 0, ROWS)["rows"]
    victims = next(row["detail"]["victims"] for row in rows if row["step"] == "victimsChosen")
    assert victims["decided"] == 1
    assert [of[:2] for of in victims["answers"]] == [[1, "priority"], [1, "gang"], [1, "conformance"]]
    assert victims["victims"] == ["ns/low-0", "ns/low-1"]
    ends = [words(row["text"]) for row in rows if row["step"] == "statementEnd"]
    assert ends[0].startswith("The statement of ns/high is committed: evict ns/low-1, pipeline ns/high-0")
    rows = page(preemption(3), 0, ROWS)["rows"]
    ends = [words(row["text"]) for row in rows if row["step"] == "statementEnd"]
    assert ends[0].startswith("The statement of ns/high is discarded:")
    assert ends[0].endswith("Nothing of it is sent.")


def test_the_rounds_of_proportion_come_one_by_one() -> None:
    """With what is divided, and who is satisfied."""
    objects = (made_queue("a"), made_queue("b"), made_group("ga", queue="a"), made_group("gb", queue="b"))
    record = recorded(made_node("n", 8, 8), *objects, members("ga", 1), members("gb", 9))
    rounds = [row for row in page(record, 0, ROWS)["rows"] if row["step"] == "proportionRound"]
    assert [row["detail"]["round"]["before"]["cpu"] for row in rounds] == [8000, 3000]
    assert words(rounds[0]["text"]) == (
        "Round 1 of proportion divides what remains between 2 queues by weight; a asks for less and is done."
    )
    assert rounds[0]["detail"]["round"]["queues"][0][3] is True


def test_why_a_job_was_dropped_and_what_was_forgotten_is_in_the_story() -> None:
    """With the message that its first pod gets, last."""
    playback = played("---\n".join(LACKING))
    shown = story(playback, 1)
    assert "It is Session 1 and runs allocate and backfill." in shown
    found = part(playback, 1)
    (job,) = found["jobs"]
    ((action, task, why),) = job["dropped"]
    assert (action, why) == ("allocate", "no node fits the task")
    assert f"default/g is dropped by allocate at {task}: no node fits the task." in shown
    assert "hold resources until the session closes, and nothing is sent for them." in shown
    assert "In the end default/g is Pending." in shown
    assert job["forgotten"] == 2
    assert found["groups"][0][1:] == [
        "Pending",
        0,
        0,
        0,
        "1/3 tasks in gang unschedulable: 0 nodes are available",
    ]


def test_a_preemption_tells_which_tier_decided() -> None:
    """In the story, and by the job it was for."""
    shown = story(played("---\n".join(PREEMPTING)), 1)
    assert "Tier 1 decides on victims: priority, gang and conformance." in shown


def test_a_job_whose_queue_does_not_exist_is_left_out() -> None:
    """It is listed with the reason."""
    texts = (VIRTUAL, node("n1"), queue(), group("g", 1, ", queue: nowhere"), batch("b", "g"))
    found = part(played("---\n".join(texts)), 1)
    assert found["leftOut"] == [["Job", "default/g", "its Queue nowhere does not exist"]]


def test_other_steps_have_no_session() -> None:
    """Nor have the end, and the moments before a session has run."""
    playback = played("---\n".join(GANG))
    assert list(part(playback, 1)) == ["why"]
    end = steps.parts(playback, 3, [])
    assert end["session"] == {"why": "No session runs here: the run is over."}
    seen = {phase: parts["session"] for phase, _, parts in moments_inside(playback, 2)}
    assert "number" in seen["assume"]
    assert list(seen["queue"]) == list(seen[UNTRIED]) == ["why"]
    assert upto(playback.cycle(2), "queue").session is None


def test_every_step_of_the_recorded_clusters_is_reported() -> None:
    """Each kind has its sentence, and lists are bounded."""
    assert set(ROW) == set(get_args(Step)) - {QueueShares, JobShares}
    assert read_lines(FILE)
    record = SessionRecord(1, 0.0, ("allocate",), preemption(3).steps * 100, 0, {}, ())
    found = page(record, 0, 10**6)
    assert len(found["rows"]) == ROWS
    assert all(isinstance(sentence, str) for sentence in reported(found))


def test_many_jobs_and_queues_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those with which anything was done come first."""
    monkeypatch.setattr("playground.panels.session.JOBS", 2)
    monkeypatch.setattr("playground.panels.session.QUEUES", 1)
    monkeypatch.setattr(session_steps, "JOBS", 2)
    texts = [VIRTUAL, node("n1"), queue("q"), queue(), pod("web")]
    texts += [group(f"g{number}", 1, ", queue: q" if number else "") for number in range(4)]
    texts += [batch(f"b{number}", f"g{number}", 1) for number in (0, 3)]
    found = session(played("---\n".join(texts)).cycle(2))
    assert [len(found[name]) for name in ("jobs", "queues")] == [2, 1]
    assert (found["jobCount"], found["queueCount"]) == (4, 2)
    assert {job["job"] for job in found["jobs"]} == {"default/g0", "default/g3"}


@pytest.mark.django_db(transaction=True)
async def test_steps_are_answered_over_the_socket() -> None:
    """A page of them; a step that is no session is refused."""
    async with connected() as socket:
        source = await opened(socket, "---\n".join(GANG))
        await socket.success("timeline.get", {"source": source, "from": 1, "to": 100})
        asked = {
            "source": source,
            "cycle": 2,
            "from": 1,
            "count": 2,
            "action": "allocate",
            "job": "default/g",
        }
        found = await socket.success("kubebatch.steps", asked)
        assert (found["index"], found["from"], len(found["rows"])) == (2, 1, 2)
        assert {(row["action"], row["job"]) for row in found["rows"]} == {("allocate", "default/g")}
        refused = await socket.error("kubebatch.steps", {**asked, "cycle": 1})
        assert refused["code"] == "payload.invalid"

"""The main job over HTTP and WebSocket, on both ways to run podstep, with processes that die in between.

The stack ``compose`` is made of docker-compose.yml: its commands, variables and health checks run here.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import zstandard

from scheduler_core import Simulation, load
from tests.e2e.bundles import bundle, deployment, long, node, small
from tests.parts import program
from tests.services import compose
from tests.services.client import CommandError, Socket
from tests.services.processes import group_members, wait_until
from tests.services.servers import Server
from tests.services.stack import SHELL, Stack

pytestmark = [pytest.mark.services, pytest.mark.timeout(420)]

#: Enough for several slices of a worker on a fast machine, and less than a minute on a slow one.
LONG_NODES, LONG_PODS = 400, 20_000


def share(stack: Stack, text: str, title: str = "") -> dict[str, Any]:
    """Store a bundle over the API."""
    answer = stack.post("/api/scenarios", {"bundle": text, "title": title})
    assert answer.status == 201, answer.body
    found: dict[str, Any] = answer.json
    return found


def start_long_run(stack: Stack, name: str) -> tuple[dict[str, Any], str]:
    """Start a run that takes a while; returns it and the text it was made of."""
    text = long(name, LONG_NODES, LONG_PODS)
    answer = stack.post("/api/runs", {"scenario": share(stack, text)["id"]})
    assert answer.status == 201, answer.body
    return answer.json, text


def under_way(run: dict[str, Any]) -> bool:
    """Tell whether a run has stored something and has more to do."""
    return run["state"] == "running" and 0 < run["done"] < LONG_PODS


def placements(text: str) -> list[tuple[str, str | None]]:
    """Return where a straight simulation in this process places each pod."""
    return [(cycle.pod, cycle.node) for cycle in Simulation(load(text), trace=False)]


def trace_of(stack: Stack, run: str) -> list[dict[str, Any]]:
    """Return the stored trace of a run."""
    answer = stack.get(f"/api/runs/{run}/trace.jsonl.zst")
    assert answer.status == 200, answer.body
    lines = zstandard.ZstdDecompressor().decompressobj().decompress(answer.body)
    return [json.loads(line) for line in lines.splitlines()]


def test_every_part_is_there(stack: Stack) -> None:
    """Both health addresses answer 200, and readiness names database, broker and worker."""
    assert stack.get("/healthz").status == 200
    ready = stack.get("/readyz").json
    assert {name for name, part in ready["parts"].items() if part["ok"]} == {"database", "broker", "worker"}


def test_a_bundle_becomes_a_link_that_steps(stack: Stack) -> None:
    """A shared bundle opens over the WebSocket, steps, tells its cycles, and is gone once it is deleted."""
    text = small("link")
    stored = share(stack, text, "Three nodes")
    again = share(stack, text, "Three nodes")
    assert again["id"] == stored["id"]
    assert stack.get(f"/s/{stored['id']}/").status == 200
    expected = placements(text)
    with stack.socket() as socket:
        opened = socket.call("scenario.open", {"source": {"scenario": stored["id"]}, "step": "3"})
        assert opened["index"] == 3
        assert opened["nodes"]["names"] == ["n0", "n1", "n2"]
        wait_for_cycles(socket, stored["id"], len(expected))
        window = socket.call("cycles.window", {"source": {"scenario": stored["id"]}, "from": 1, "count": 100})
        names, keys = opened["nodes"]["names"], opened["pods"]["keys"]
        assert [(keys[one["pod"]], names[one["node"]]) for one in window["cycles"]] == expected
        parts = ["predicates", "priorities", "queue"]
        cycle = socket.call("cycle.get", {"source": {"scenario": stored["id"]}, "step": "3", "parts": parts})
        assert names[cycle["priorities"]["winner"]] == expected[2][1]
    over_http = stack.get(f"/api/scenarios/{stored['id']}/cycles/3").json
    assert (over_http["pod"], over_http["node"]) == expected[2]
    for token in (stored["delete_token"], again["delete_token"]):
        done = stack.delete(f"/api/scenarios/{stored['id']}", Authorization=f"Bearer {token}")
        assert done.status == 204
    assert stack.get(f"/api/scenarios/{stored['id']}").status == 404


def wait_for_cycles(socket: Socket, scenario: str, count: int) -> None:
    """Wait until the server has computed so many cycles of a scenario."""
    source = {"scenario": scenario}
    wait_until(
        lambda: (
            len(socket.call("timeline.get", {"source": source, "from": 1, "to": count})["marks"]["pod"])
            == count
        ),
        30,
        f"{count} cycles of {scenario}",
    )


def test_many_at_once_are_all_answered(stack: Stack) -> None:
    """Thirty readers of one scenario are answered, and leave no connections of the database behind."""
    address = f"/api/scenarios/{share(stack, small('many'))['id']}"
    with ThreadPoolExecutor(30) as readers:
        answers = list(readers.map(lambda _: stack.get(address).status, range(240)))
    assert set(answers) == {200}
    if stack.name == "compose":
        query = "from django.db import connection as c; k = c.cursor(); "
        query += (
            "k.execute(\"SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'\"); "
        )
        query += "print(k.fetchone()[0])"
        left = int(stack.run("python", "manage.py", "shell", "--no-imports", "-c", query))
        assert left <= 8, f"{left} connections are open though nobody asks anything"


def test_only_the_token_deletes(stack: Stack) -> None:
    """A stranger with a wrong token, or none, cannot take a scenario away."""
    stored = share(stack, small("token"))
    assert stack.delete(f"/api/scenarios/{stored['id']}").status == 401
    assert stack.delete(f"/api/scenarios/{stored['id']}", Authorization="Bearer wrong").status == 403
    assert stack.get(f"/api/scenarios/{stored['id']}").status == 200


def test_errors_come_all_at_once(stack: Stack) -> None:
    """A bundle with two mistakes is refused with the line and path of both."""
    broken = bundle(node("n0", cpu="four"), deployment("web", 1, memory="lots"))
    answer = stack.post("/api/scenarios", broken.encode(), **{"Content-Type": "application/yaml"})
    assert answer.status == 422
    errors = answer.json["errors"]
    assert {error["path"].rpartition(".")[2] for error in errors} == {"cpu", "memory"}
    lines = broken.splitlines()
    for error, text in zip(sorted(errors, key=lambda one: one["line"]), ("four", "lots"), strict=True):
        assert text in lines[error["line"] - 1]


def test_a_run_outlives_its_worker_and_the_web_server(stack: Stack) -> None:
    """A killed worker's run goes on where it stopped, under a new web server, and ends as if undisturbed."""
    run, text = start_long_run(stack, "survivor")
    with stack.socket() as socket:
        socket.call("run.watch", {"run": run["id"]})
        while not under_way(watched := socket.push("run.changed", timeout=90)):
            assert watched["state"] in {"queued", "running"}, watched
    stack.kill("worker")
    time.sleep(1)  # what was on its way to the database has arrived
    left = stack.get(f"/api/runs/{run['id']}").json
    assert under_way(left), left
    stack.restart("web")
    stack.start("worker")
    going_on = stack.wait_for(f"/api/runs/{run['id']}", lambda found: found["done"] > left["done"], 90)
    assert going_on["state"] in {"running", "done"}
    done = stack.wait_for_run(run["id"], ["done", "failed", "cancelled"], 180)
    assert (done["state"], done["done"], done["placed"]) == ("done", LONG_PODS, LONG_PODS), done
    expected = placements(text)
    last = stack.get(f"/api/runs/{run['id']}/cycles/{LONG_PODS}").json
    assert (last["pod"], last["node"]) == expected[-1]
    at_the_break = stack.get(f"/api/runs/{run['id']}/cycles/{left['done'] + 1}").json
    assert (at_the_break["pod"], at_the_break["node"]) == expected[left["done"]]
    with stack.socket() as socket:
        opened = socket.call("scenario.open", {"source": {"run": run["id"]}, "step": str(LONG_PODS)})
        assert (opened["index"], opened["cycles"], opened["complete"]) == (LONG_PODS, LONG_PODS, True)
        names, keys = opened["nodes"]["names"], opened["pods"]["keys"]
        first = LONG_PODS - 99
        window = socket.call("cycles.window", {"source": {"run": run["id"]}, "from": first, "count": 100})
        seen = [(keys[one["pod"]], names[one["node"]]) for one in window["cycles"]]
        assert seen == expected[-100:]


def test_a_worker_ends_at_once_though_it_computes(stack: Stack) -> None:
    """Ending the worker in the midst of a run takes seconds and loses nothing."""
    run, _ = start_long_run(stack, "stopped")
    stack.wait_for(f"/api/runs/{run['id']}", under_way, 90)
    began = time.monotonic()
    worker = stack.processes["worker"].popen.pid
    stack.stop("worker")
    assert time.monotonic() - began < stack.parts["worker"].grace + 1
    wait_until(lambda: not list(group_members(worker)), 5, "nothing of the worker is left")
    stack.start("worker")
    assert stack.wait_for_run(run["id"], ["done", "failed"], 180)["state"] == "done"


def test_a_run_is_cancelled_by_who_started_it(stack: Stack) -> None:
    """A running run stops within seconds for the holder of its token; a stranger cannot stop it."""
    run, _ = start_long_run(stack, "cancelled")
    stack.wait_for(f"/api/runs/{run['id']}", under_way, 90)
    assert stack.post(f"/api/runs/{run['id']}/cancel", {}).status == 403
    token = f"Bearer {run['cancel_token']}"
    assert stack.post(f"/api/runs/{run['id']}/cancel", {}, Authorization=token).status == 200
    ended = stack.wait_for_run(run["id"], ["cancelled", "done"], 30)
    assert ended["state"] == "cancelled"
    cycle = stack.get(f"/api/runs/{run['id']}/cycles/{ended['done']}")
    assert cycle.json["index" if "index" in cycle.json else "step"] is not None


def test_a_short_run_leaves_a_whole_trace(stack: Stack) -> None:
    """A finished run's trace can be downloaded and holds every cycle as the simulation decides it."""
    text = small("trace", replicas=40)
    run = stack.post("/api/runs", {"scenario": share(stack, text)["id"]}).json
    assert stack.wait_for_run(run["id"], ["done", "failed"], 60)["state"] == "done"
    assert [(cycle["pod"], cycle["node"]) for cycle in trace_of(stack, run["id"])] == placements(text)


def test_a_command_that_makes_no_sense_is_answered(stack: Stack) -> None:
    """Unknown commands and sources are told by their codes, and the connection goes on."""
    with stack.socket() as socket:
        for command, payload, code in (
            ("no.such", {}, "command.unknown"),
            ("scenario.open", {"source": {"scenario": "nothing-here"}}, "source.not-found"),
        ):
            with pytest.raises(CommandError) as caught:
                socket.call(command, payload)
            assert caught.value.code == code
        assert "version" in socket.call("session.hello")


def test_hosts_proxies_and_secrets_follow_the_environment(stack: Stack) -> None:
    """The variables decide about names that are answered, proxies that are believed, and the secret."""
    composed = stack.name == "compose"
    assert stack.get("/healthz", Host="podstep.example").status == (200 if composed else 400)
    assert stack.get("/healthz", Host="elsewhere.example").status == 400
    # Behind a trusted proxy that speaks https, links are https.
    proxied = {"X-Forwarded-Proto": "https"}
    answer = stack.post("/api/scenarios", {"bundle": small("proxy")}, **proxied)
    assert answer.json["url"].startswith("https:" if composed else "http:")
    data = stack.home / "data"
    assert (data / "secret").exists() is not composed
    assert (data / "podstep.sqlite3").exists() is not composed
    assert not stack.get("/no-such-page").body.count(b"Traceback")
    script = stack.get("/static/plotly/plotly.min.js", **{"Accept-Encoding": "gzip"})
    assert (script.status, script.headers.get("content-encoding")) == (200, "gzip")


@pytest.mark.xdist_group("compose")
def test_composed_data_lies_in_postgres_and_redis(stacks: Any, postgres: Server, redis: Server) -> None:
    """The servers that docker-compose.yml's variables name are used: one for rows, one as broker."""
    stack = stacks("compose")
    share(stack, small("where"))
    query = "from playground.models import Scenario; from django.db import connection as c; "
    query += "print(c.vendor, c.settings_dict['PASSWORD'], Scenario.objects.count() > 0)"
    assert stack.run("python", "manage.py", "shell", "--no-imports", "-c", query).split() == [
        "postgresql",
        SHELL["POSTGRES_PASSWORD"],
        "True",
    ]
    assert f":{postgres.port}/" in stack.env["DATABASE_URL"]
    assert f"127.0.0.1:{redis.port}/1" in stack.env["CELERY_BROKER_URL"]
    clients = stack.run("redis-cli", "-p", str(redis.port), "client", "list")
    assert {line.split("db=")[1].split()[0] for line in clients.splitlines() if "db=" in line} >= {"1"}


@pytest.mark.xdist_group("compose")
def test_composed_health_checks_tell_the_truth(stacks: Any) -> None:
    """The health checks of docker-compose.yml pass while a part lives and fail when it does not."""
    stack = stacks("compose")
    assert stack.is_healthy("web")
    assert stack.is_healthy("worker")
    stack.stop("web")
    assert not stack.is_healthy("web")
    stack.start("web")
    wait_until(lambda: stack.is_healthy("web"), 60, "the web server is healthy again")
    stack.processes["worker"].stop(signal.SIGTERM)
    # one that an earlier test killed may have been heard of seconds ago
    wait_until(lambda: not stack.is_healthy("worker"), 45, "the worker counts as gone")
    stack.start("worker")
    wait_until(lambda: stack.is_healthy("worker"), 60, "the worker is healthy again")


@pytest.mark.xdist_group("compose")
def test_composed_servers_pass_their_own_health_checks(postgres: Server, redis: Server) -> None:
    """The checks that docker-compose.yml asks of PostgreSQL and Redis pass on servers with its settings."""
    services = compose.read(SHELL)["services"]
    for name, port in (("postgres", postgres.port), ("redis", redis.port)):
        kind, command, *rest = services[name]["healthcheck"]["test"]
        assert kind == "CMD"
        here = ["--port", str(port), "--host", "127.0.0.1"] if name == "postgres" else ["-p", str(port)]
        env = {"PATH": os.environ["PATH"]}
        done = subprocess.run([program(command), *here, *rest], env=env, capture_output=True, check=False)
        assert done.returncode == 0, done
        closed = [program(command), *here, *rest]
        closed[closed.index(str(port))] = "1"
        assert subprocess.run(closed, env=env, capture_output=True, check=False).returncode != 0


@pytest.mark.xdist_group("compose")
def test_composed_web_processes_agree(stacks: Any) -> None:
    """Every process of the web server shows what was shared through another."""
    stack = stacks("compose")
    stored = share(stack, small("agree"))
    answers = [stack.get(f"/api/scenarios/{stored['id']}/cycles?count=5").json["cycles"] for _ in range(8)]
    assert all(answer == answers[0] for answer in answers)
    children = stack.processes["web"].popen.pid
    assert len(server_processes(children)) == int(SHELL["WEB_PROCESSES"])


def server_processes(parent: int) -> list[int]:
    """Return the processes that a uvicorn of several has started to serve."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            command = (status.parent / "cmdline").read_text()
        except OSError:
            continue
        if int(fields[1]) == parent and "spawn_main" in command:
            found.append(int(status.parent.name))
    return found

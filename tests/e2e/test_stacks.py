"""The main job over HTTP and WebSocket, on both ways to run podstep, with processes that die in between.

The stack ``compose`` is made of docker-compose.yml: its commands, variables and health checks run here.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
import zstandard
from websockets.exceptions import InvalidStatus

from playground.playback.executor import STORAGE_THREADS
from scheduler_core import Simulation, load
from tests.e2e.bundles import bundle, deployment, node, slow, small
from tests.parts import program
from tests.services import compose
from tests.services.client import CommandError, Socket
from tests.services.fixtures import only
from tests.services.processes import group_members, wait_until
from tests.services.servers import Server
from tests.services.stack import SHELL, Stack

pytestmark = [pytest.mark.services, pytest.mark.timeout(420)]

#: Nodes and pods: several slices of a worker on a fast machine, some seconds on a slow one.
SOME_SECONDS = (400, 700)
#: Far more than a worker computes while it is reported to end.
LONG = (1_500, 2_000)


def share(stack: Stack, text: str, title: str = "") -> dict[str, Any]:
    """Store a bundle over the API."""
    answer = stack.post("/api/scenarios", {"bundle": text, "title": title})
    assert answer.status == 201, answer.body
    found: dict[str, Any] = answer.json
    return found


def start_run(stack: Stack, text: str) -> dict[str, Any]:
    """Start a run of a bundle."""
    answer = stack.post("/api/runs", {"scenario": share(stack, text)["id"]})
    assert answer.status == 201, answer.body
    found: dict[str, Any] = answer.json
    return found


def under_way(run: dict[str, Any]) -> bool:
    """Tell whether a run has stored something and has more to do."""
    return run["state"] == "running" and 0 < run["done"] < run["total"]


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
    """Both health addresses answer 200, and readiness names database, disk, broker and worker."""
    assert stack.get("/healthz").status == 200
    ready = stack.get("/readyz").json
    assert {name for name, part in ready["parts"].items() if part["ok"]} == {
        "database",
        "disk",
        "broker",
        "worker",
    }


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
        90,
        f"{count} cycles of {scenario}",
    )


def test_many_at_once_are_all_answered(stack: Stack) -> None:
    """Thirty readers of one scenario are answered, and leave no connections but those of storage threads."""
    address = f"/api/scenarios/{share(stack, small('many'))['id']}"
    with ThreadPoolExecutor(30) as readers:
        answers = list(readers.map(lambda _: stack.get(address).status, range(120)))
    assert set(answers) == {200}
    if stack.name == "compose":
        query = (
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        kept = int(SHELL["WEB_PROCESSES"]) * STORAGE_THREADS
        wait_until(lambda: in_postgres(stack, query) <= kept, 30, "few connections are left when nobody asks")


def test_edits_of_one_draft_at_once(stack: Stack) -> None:
    """Of edits made on one revision at once, in whatever process, one is saved; all who watch hear of it."""
    made = stack.post("/api/drafts", {"bundle": small("edits")}).json
    cookie = {"Cookie": f"podstep_visitor={made['token']}"}
    edits = 6
    with ExitStack() as opened, ThreadPoolExecutor(edits) as threads:
        sockets = [opened.enter_context(stack.socket(**cookie)) for _ in range(edits)]
        for socket in sockets:
            assert socket.call("draft.watch", {"draft": made["id"]})["revision"] == 1

        def save(number: int, base: int) -> int | None:
            edit = {"draft": made["id"], "text": f"# {base}.{number}\n", "base": base}
            try:
                answer: int = sockets[number].call("draft.save", edit)["revision"]
            except CommandError as error:
                return None if error.code == "draft.stale" else -1
            return answer

        for base in range(1, 6):
            answers = list(threads.map(save, range(edits), [base] * edits))
            assert sorted(filter(None, answers)) == [base + 1]
            saved = stack.get(f"/api/drafts/{made['id']}", Authorization=f"Bearer {made['token']}")
            winner = next(number for number, answer in enumerate(answers) if answer)
            assert (saved.json["bundle"], saved.headers["etag"]) == (f"# {base}.{winner}\n", f'"{base + 1}"')
        for socket in sockets:
            while socket.push("draft.changed")["revision"] < 6:
                pass


def in_postgres(stack: Stack, query: str) -> int:
    """Return the one number that a query gives in the database that the stack is mentioned."""
    with psycopg.connect(stack.env["DATABASE_URL"]) as connection:
        row = connection.execute(query).fetchone()
        assert row
        return int(row[0])


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


@only("compose")
def test_a_run_outlives_its_worker_and_the_web_server(stack: Stack) -> None:
    """A killed worker's run goes on where it stopped, under a new web server, and ends as if undisturbed.

    On one machine too: ``tests/faults`` kills worker and web server there, and compares all that is stored.
    """
    text, pods = slow("survivor", *SOME_SECONDS), SOME_SECONDS[1]
    run = start_run(stack, text)
    with stack.socket() as socket:
        socket.call("run.watch", {"run": run["id"]})
        while not under_way(watched := socket.push("run.changed", timeout=90)):
            assert watched["state"] in {"queued", "running"}, watched
    stack.kill("worker")
    left = stack.get(f"/api/runs/{run['id']}").json
    assert under_way(left), left
    stack.stop("web")
    assert not stack.is_healthy("web")
    stack.start("web")
    stack.start("worker")
    stack.wait_until_answering()
    wait_until(lambda: stack.is_healthy("web"), 60, "the web server is healthy again")
    going_on = stack.wait_for(f"/api/runs/{run['id']}", lambda found: found["done"] > left["done"], 90)
    assert going_on["state"] in {"running", "done"}
    done = stack.wait_for_run(run["id"], ["done", "failed", "cancelled"], 180)
    assert (done["state"], done["done"], done["placed"]) == ("done", pods, pods), done
    expected = placements(text)
    at_the_break = stack.get(f"/api/runs/{run['id']}/cycles/{left['done'] + 1}").json
    assert (at_the_break["pod"], at_the_break["node"]) == expected[left["done"]]
    with stack.socket() as socket:
        opened = socket.call("scenario.open", {"source": {"run": run["id"]}, "step": str(pods)})
        assert (opened["index"], opened["cycles"], opened["complete"]) == (pods, pods, True)
        names, keys = opened["nodes"]["names"], opened["pods"]["keys"]
        seen: list[tuple[str, str | None]] = []
        while len(seen) < pods:
            asked = {"source": {"run": run["id"]}, "from": len(seen) + 1, "count": 100}
            cycles = socket.call("cycles.window", asked)["cycles"]
            assert cycles
            seen += [(keys[one["pod"]], names[one["node"]]) for one in cycles]
        assert seen == expected


def test_a_run_is_broken_off_taken_up_and_cancelled(stack: Stack) -> None:
    """Ending the worker in the midst of a run loses nothing; only who started the run can cancel it."""
    run = start_run(stack, slow("stopped", *LONG))
    address = f"/api/runs/{run['id']}"
    before = stack.wait_for(address, under_way, 90)
    worker = stack.processes["worker"].popen.pid
    began = time.monotonic()
    stack.stop("worker")
    assert time.monotonic() - began < stack.parts["worker"].grace + 10
    wait_until(lambda: not list(group_members(worker)), 30, "nothing of the worker is left")
    left = stack.get(address).json
    assert under_way(left), left
    assert left["done"] >= before["done"]
    if stack.name == "compose":  # it ends in order, and says so
        # one that an earlier test killed may have been heard of seconds ago
        wait_until(lambda: not stack.answers("/readyz"), 45, "the worker counts as gone")
        assert not stack.is_healthy("worker")
    stack.start("worker")
    stack.wait_for(address, lambda found: found["done"] > left["done"], 90)
    assert stack.post(f"{address}/cancel", {}).status == 403
    token = f"Bearer {run['cancel_token']}"
    assert stack.post(f"{address}/cancel", {}, Authorization=token).status == 200
    ended = stack.wait_for_run(run["id"], ["cancelled", "done"], 60)
    assert ended["state"] == "cancelled"
    wait_until(lambda: stack.answers("/readyz"), 90, "the worker counts as there")
    wait_until(lambda: stack.is_healthy("worker"), 60, "the worker is healthy again", pause=1)
    cycle = stack.get(f"{address}/cycles/{ended['done']}")
    assert cycle.json["index" if "index" in cycle.json else "step"] is not None


def test_a_short_run_leaves_a_whole_trace(stack: Stack) -> None:
    """A finished run's trace can be downloaded and holds every cycle as the simulation decides it."""
    text = small("trace", replicas=40)
    run = stack.post("/api/runs", {"scenario": share(stack, text)["id"]}).json
    assert stack.wait_for_run(run["id"], ["done", "failed"], 60)["state"] == "done"
    assert [(cycle["pod"], cycle["node"]) for cycle in trace_of(stack, run["id"])] == placements(text)


def test_a_command_that_makes_no_sense_is_answered(stack: Stack) -> None:
    """Unknown commands and sources are reported by their codes, and the connection goes on."""
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
    page = stack.get("/", **proxied)
    assert ("strict-transport-security" in page.headers) is composed
    cookies = [value for name, value in page.fields if name.lower() == "set-cookie"]
    assert [("; Secure" in cookie) for cookie in cookies] == [composed] * 2
    # A page of another port is one of another site.
    foreign = {"Origin": f"http://127.0.0.1:{stack.port + 1}", "Content-Type": "text/plain"}
    assert stack.post("/api/scenarios", small("foreign").encode(), **foreign).status == 403
    with pytest.raises(InvalidStatus, match="403"), stack.socket(Origin=foreign["Origin"]):
        pass
    data = stack.home / "data"
    assert (data / "secret").exists() is not composed
    assert (data / "podstep.sqlite3").exists() is not composed
    assert not stack.get("/no-such-page").body.count(b"Traceback")
    script = stack.get("/static/plotly/plotly.min.js", **{"Accept-Encoding": "gzip"})
    assert (script.status, script.headers.get("content-encoding")) == (200, "gzip")


def redis_client(redis: Server) -> tuple[str, ...]:
    """Return the command about Redis' clients, with the password that it wants."""
    known = ("--no-auth-warning", "-a", SHELL["REDIS_PASSWORD"])
    return (program("redis-cli"), "-p", str(redis.port), *known, "client")


@pytest.mark.xdist_group("compose")
def test_composed_data_lies_in_postgres_and_redis(stacks: Any, postgres: Server, redis: Server) -> None:
    """The servers that docker-compose.yml's variables name are used: one for rows, one as broker."""
    stack = stacks("compose")
    share(stack, small("where"))
    assert in_postgres(stack, "SELECT count(*) FROM playground_scenario") > 0
    assert f":{SHELL['POSTGRES_PASSWORD']}@" in stack.env["DATABASE_URL"]
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(stack.env["DATABASE_URL"].replace(SHELL["POSTGRES_PASSWORD"], "another"))
    assert f":{postgres.port}/" in stack.env["DATABASE_URL"]
    assert f"127.0.0.1:{redis.port}/1" in stack.env["CELERY_BROKER_URL"]

    def databases() -> set[str]:
        clients = stack.run(*redis_client(redis), "list")
        return {line.split("db=")[1].split()[0] for line in clients.splitlines() if "db=" in line}

    # Not at once if Redis was away: a worker takes seconds to connect again.
    wait_until(lambda: "1" in databases(), 60, "a worker is connected to the broker's database")


@pytest.mark.xdist_group("compose")
def test_composed_connections_outlive_those_to_redis(stacks: Any, redis: Server) -> None:
    """A page that says nothing for a while stays connected, also when Redis ends every connection."""
    ask = redis_client(redis)
    stack = stacks("compose")
    with stack.socket() as socket:
        socket.call("session.hello")
        listed = stack.run(*ask, "list").splitlines()
        for client in (line.split()[0].removeprefix("id=") for line in listed if " db=0 " in line):
            subprocess.run([*ask, "kill", "id", client], capture_output=True, check=True)
        with pytest.raises(TimeoutError):
            socket.push("nothing", timeout=1)
        assert "version" in socket.call("session.hello")


@pytest.mark.xdist_group("compose")
def test_composed_servers_pass_their_own_health_checks(postgres: Server, redis: Server) -> None:
    """The checks that docker-compose.yml asks of PostgreSQL and Redis pass on servers with its settings."""
    services = compose.read(SHELL)["services"]
    for name, port in (("postgres", postgres.port), ("redis", redis.port)):
        kind, command, *rest = services[name]["healthcheck"]["test"]
        assert kind == "CMD"
        here = ["--port", str(port), "--host", "127.0.0.1"] if name == "postgres" else ["-p", str(port)]
        env = {"PATH": os.environ["PATH"], **services[name]["environment"]}
        done = subprocess.run([program(command), *here, *rest], env=env, capture_output=True, check=False)
        assert done.returncode == 0, done
        if name == "redis":  # what has no password is not answered
            bare = {"PATH": os.environ["PATH"]}
            asked = [program(command), *here, *rest]
            assert subprocess.run(asked, env=bare, capture_output=True, check=False).returncode != 0
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
    parent, wanted = stack.processes["web"].popen.pid, int(SHELL["WEB_PROCESSES"])
    wait_until(lambda: len(server_processes(parent)) == wanted, 60, f"{wanted} processes serve")


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

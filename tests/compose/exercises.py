"""What is done to the deployment, in this order; each returns what it saw in a few words."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import zstandard

from tests.compose.project import Project
from tests.e2e.bundles import slow, small
from tests.services.client import open_socket
from tests.services.processes import wait_until

#: Nodes and pods of a run that takes a worker long enough to be killed in the midst of it.
LONG = (1_000, 600)
SHORT = 40  # pods of a run that is over at once
KEPT: dict[str, str] = {}  # scenario and run that later exercises find again


def build(project: Project) -> str:
    """Build the image."""
    project.compose("build")
    size = int(project.engine.docker("image", "inspect", "--format", "{{.Size}}", "podstep:0.1.0"))
    return f"{size / 2**20:,.0f} MiB"


def up(project: Project) -> str:
    """Start everything: all that stays up is healthy, and what prepares it has ended well."""
    project.compose("up", "--detach", "--no-build")
    project.wait_until_healthy()
    once = [name for name in project.services if name not in project.lasting]
    for name in once:
        states = [project.inspect(one)["State"] for one in project.containers(name)]
        assert [(state["Status"], state["ExitCode"]) for state in states] == [("exited", 0)], states
    assert project.answers("/readyz") == 200
    return f"{', '.join(project.lasting)} healthy; {', '.join(once)} exited with 0"


def privileges(project: Project) -> str:
    """No container runs as root, has a capability or can gain one; its output is kept in bounded files."""
    for name in project.lasting:
        for container in project.containers(name):
            status = project.engine.docker("exec", container, "cat", "/proc/1/status")
            rows = dict(line.split(":", 1) for line in status.splitlines())
            assert "0" not in rows["Uid"].split(), (name, rows["Uid"])
            assert {int(rows[f"Cap{kind}"], 16) for kind in ("Eff", "Prm", "Bnd", "Inh")} == {0}, (name, rows)
            assert rows["NoNewPrivs"].strip() == "1", name
            logging = project.inspect(container)["HostConfig"]["LogConfig"]
            assert {"max-size", "max-file"} <= set(logging["Config"]), (name, logging)
    return "no root, no capabilities, no new privileges, logs rotated"


def page(project: Project) -> str:
    """Open the start page with its files, and a scenario over HTTP and the WebSocket."""
    start = project.request("GET", "/")
    assert start.status == 200
    assert "unsafe-inline" not in start.headers["content-security-policy"]
    for path in (
        "/static/js/theme-early.js",
        "/static/vendor/codemirror.js",
        "/static/vendor/mediabunny.js",
        "/static/plotly/plotly.min.js",
    ):
        assert project.answers(path) == 200, path
    KEPT["scenario"] = project.share(small("compose", SHORT), "Kept over an upgrade")
    assert project.answers(f"/s/{KEPT['scenario']}/") == 200
    with open_socket(project.base_url) as socket:
        source = {"scenario": KEPT["scenario"]}
        opened = socket.call("scenario.open", {"source": source, "step": "3"})
    assert opened["index"] == 3
    return f"step 3 of {opened['cycles']} cycles"


def run(project: Project) -> str:
    """Compute a run in the worker, and download its trace."""
    KEPT["run"] = project.start_run(small("computed", SHORT), "A short run")
    project.ends(KEPT["run"], SHORT)
    return f"{trace(project)} cycles"


def trace(project: Project) -> int:
    """Return how many cycles the kept run's trace has."""
    answer = project.request("GET", f"/api/runs/{KEPT['run']}/trace.jsonl.zst")
    assert answer.status == 200, answer.body[:500]
    lines = zstandard.ZstdDecompressor().decompressobj().decompress(answer.body).splitlines()
    assert len(lines) == SHORT
    return len(lines)


def _under_way(run: dict[str, Any]) -> bool:
    """Tell whether a run has stored something, and has most of it to do."""
    return run["state"] == "running" and run["done"] > LONG[1] // 20


def two_workers(project: Project) -> str:
    """Scale to two workers: two long runs are computed side by side."""
    project.compose("up", "--detach", "--no-build", "--no-recreate", "--scale", "worker=2", "worker")
    project.wait_until_healthy("worker")
    assert len(project.containers("worker")) == 2
    runs = [project.start_run(slow(f"beside-{at}", *LONG), f"Beside {at}") for at in range(2)]
    for one in runs:
        project.run_until(one, _under_way)
    states = [project.request("GET", f"/api/runs/{one}").json["state"] for one in runs]
    assert states == ["running", "running"], states
    for one in runs:
        project.ends(one, LONG[1])
    return "two runs at once, both done"


def killed_worker(project: Project) -> str:
    """Kill the worker that computes a run: it is restarted, and the run resumes from what it stored."""
    project.compose("up", "--detach", "--no-build", "--no-recreate", "--scale", "worker=1", "worker")
    return _survives(project, "worker")


def killed_web(project: Project) -> str:
    """Kill the web server during a run: it comes back, and the run never stopped."""
    name = project.start_run(slow("web", *LONG), "While web is killed")
    project.run_until(name, _under_way)
    began = time.monotonic()
    project.kill("web")
    wait_until(lambda: project.answers("/readyz") == 200, 120, "the web server is ready again", pause=0.3)
    away = time.monotonic() - began
    project.ends(name, LONG[1])
    project.wait_until_healthy()
    return f"ready after {away:.0f} s, the run done"


def killed_redis(project: Project) -> str:
    """Kill cache and broker during a run: what was queued is announced again."""
    return _survives(project, "redis")


def restarted_postgres(project: Project) -> str:
    """Stop the database during a run, and start it: not ready meanwhile, and nothing is lost."""
    name = project.start_run(slow("database", *LONG), "While the database is restarted")
    left = project.run_until(name, _under_way)
    project.compose("stop", "postgres")
    status = project.answers("/readyz")
    assert status == 503, status
    assert project.answers("/healthz") == 200
    project.compose("start", "postgres")
    project.wait_until_healthy()
    project.ends(name, LONG[1])
    return f"stopped at {left['done']:,} of {LONG[1]:,} cycles; 503 meanwhile, then done"


def killed_postgres(project: Project) -> str:
    """Kill the database during a run: it recovers, and so does the run."""
    return _survives(project, "postgres")


def _survives(project: Project, service: str) -> str:
    name = project.start_run(slow(service, *LONG), f"While {service} is killed")
    project.run_until(name, _under_way)
    began = time.monotonic()
    project.kill(service)
    # What it had stored; a server that is away meanwhile is asked again.
    left = project.run_until(name, lambda _: True)
    assert left["done"] < LONG[1], f"it was done before {service} was killed: {left}"
    project.run_until(name, lambda seen: seen["done"] > left["done"])
    further = time.monotonic() - began
    project.ends(name, LONG[1])
    project.wait_until_healthy()
    return f"killed at cycle {left['done']:,} of {LONG[1]:,}; further after {further:.0f} s, all done"


def upgrade(project: Project) -> str:
    """Take everything down but the volumes, build and start again: scenario and run are still there."""
    project.compose("down")
    assert not project.containers("web")
    project.compose("up", "--detach", "--build")
    project.wait_until_healthy()
    assert project.answers(f"/s/{KEPT['scenario']}/") == 200
    return f"the scenario is there, and the run's {trace(project)} cycles"


EXERCISES: tuple[Callable[[Project], str], ...] = (
    build,
    up,
    privileges,
    page,
    run,
    two_workers,
    killed_worker,
    killed_web,
    killed_redis,
    restarted_postgres,
    killed_postgres,
    upgrade,
)

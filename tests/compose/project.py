"""The services of docker-compose.yml, started by Compose under a name of their own."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.compose.engine import Engine
from tests.services import client, compose
from tests.services.processes import wait_until

PROJECT = "podstep-check"
#: A machine that is busy with other work starts several processes of Python in this time.
HEALTHY_SECONDS = 240
RUN_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Project:
    """One deployment: its engine, and where its pages are."""

    engine: Engine
    port: int

    @property
    def base_url(self) -> str:
        """The address of the web server, without a slash at its end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def services(self) -> Mapping[str, Any]:
        """The services of the file."""
        found: Mapping[str, Any] = compose.read({})["services"]
        return found

    @property
    def lasting(self) -> list[str]:
        """The services that stay up: those with a health check."""
        return [name for name, service in self.services.items() if "healthcheck" in service]

    def compose(self, *arguments: str, check: bool = True) -> str:
        """Run ``docker compose``, with nothing of this machine's own ``.env``."""
        values = {
            "ALLOWED_HOSTS": "127.0.0.1,podstep.example",
            "PORT": str(self.port),
            "POSTGRES_PASSWORD": "a-password",
            "WEB_PROCESSES": "2",
            "WORKER_PROCESSES": "1",
        }
        own = ("--project-name", PROJECT, "--env-file", os.devnull, "--file", str(compose.FILE))
        settings = [f"{name}={value}" for name, value in values.items()]
        return self.engine.run("env", *settings, *self.engine.compose, *own, *arguments, check=check)

    def containers(self, service: str) -> list[str]:
        """Return the ids of a service's containers, stopped ones too."""
        return self.compose("ps", "--all", "--quiet", service).split()

    def inspect(self, container: str) -> dict[str, Any]:
        """Return what the engine knows of a container."""
        found: dict[str, Any] = json.loads(self.engine.docker("inspect", container))[0]
        return found

    def health(self, service: str) -> list[str]:
        """Return how each container of a service says that it is."""
        states = [self.inspect(one)["State"] for one in self.containers(service)]
        return [state["Health"]["Status"] if state["Running"] else state["Status"] for state in states]

    def wait_until_healthy(self, *services: str) -> None:
        """Wait until every container of these services, or of all, is healthy."""
        for service in services or self.lasting:
            wait_until(
                lambda service=service: set(self.health(service)) == {"healthy"},  # type: ignore[misc]
                HEALTHY_SECONDS,
                f"{service} is healthy",
                pause=1,
            )

    def kill(self, service: str) -> None:
        """Kill a service's first container with SIGKILL, and wait until the engine has restarted it."""
        container = self.containers(service)[0]
        before = self.inspect(container)
        pid = before["State"]["Pid"]
        own = Path(f"/proc/{pid}/cgroup")
        if own.exists() and before["Id"] in own.read_text():
            os.kill(pid, signal.SIGKILL)
        else:  # the engine is on another machine: a kill through it counts as stopped by hand
            self.engine.docker("kill", "--signal", "KILL", container)
            self.engine.docker("start", container)

        def anew() -> bool:
            state = self.inspect(container)["State"]
            return bool(state["Running"] and state["Pid"] != pid)

        wait_until(anew, 60, f"{service} runs again", pause=0.2)

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> client.Answer:
        """Send a request to the web server."""
        return client.request(method, self.base_url + path, body, headers=headers)

    def answers(self, path: str) -> int:
        """Return the status of a GET, 0 if nobody answers."""
        try:
            return self.request("GET", path).status
        except OSError:
            return 0

    def share(self, text: str, title: str) -> str:
        """Store a scenario, and return its id."""
        answer = self.request("POST", "/api/scenarios", {"bundle": text, "title": title})
        assert answer.status == 201, answer.body[:1000]
        return str(answer.json["id"])

    def start_run(self, text: str, title: str) -> str:
        """Start a run, and return its id."""
        answer = self.request("POST", "/api/runs", {"scenario": self.share(text, title)})
        assert answer.status == 201, answer.body[:1000]
        return str(answer.json["id"])

    def run_until(self, run: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until what the API says of a run is so; a server that is away meanwhile is waited for."""
        deadline = time.monotonic() + RUN_SECONDS
        seen: dict[str, Any] = {}
        while not (seen and holds(seen)):
            assert time.monotonic() < deadline, f"run {run} after {RUN_SECONDS} seconds: {str(seen)[:500]}"
            time.sleep(0.3)
            try:
                answer = self.request("GET", f"/api/runs/{run}")
            except OSError:
                continue
            seen = answer.json if answer.status == 200 else {}
            assert seen.get("state") not in {"failed", "cancelled"}, seen
        return seen

    def ends(self, run: str, pods: int) -> dict[str, Any]:
        """Wait until a run is done, with every pod placed."""
        done = self.run_until(run, lambda seen: seen["state"] == "done")
        assert (done["done"], done["placed"]) == (pods, pods), done
        return done

"""Web server and workers as real processes, by the commands that people start them with.

``embedded`` takes the commands of ``manage.py serve``; ``compose`` takes every command, variable and health
check from docker-compose.yml, with the addresses of containers replaced by addresses of this machine.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playground.queues import WORKERS
from playground.serving.supervisor import programs
from tests.parts import REPOSITORY
from tests.playground.lti_platform import registration
from tests.services import client, compose
from tests.services.processes import Process, free_port, wait_until, wait_until_ready
from tests.services.servers import Server

#: Values for the variables that docker-compose.yml takes from the shell; none is its default.
SHELL = {
    "ALLOWED_HOSTS": "127.0.0.1,podstep.example",
    "PLAYGROUND_ACCOUNTS": "1000",
    "PLAYGROUND_EXTENDERS": "https://extender.example/scheduler",
    "PLAYGROUND_EXTENDER_NETWORKS": "10.0.0.0/8",
    "PLAYGROUND_LESSONS": "/data/lessons",
    "PLAYGROUND_LRS": "https://key:secret@lrs.example/xapi",
    "PLAYGROUND_LRS_HOME": "https://podstep.example",
    "PLAYGROUND_LTI": "/data/lti.json",
    "PLAYGROUND_LTI_KEY": "/data/key-of-platforms.pem",
    "PLAYGROUND_METRICS_TOKEN": "a-token-for-metrics",
    "PLAYGROUND_TRUSTED_PROXIES": "1",
    "PORT": "8123",
    "POSTGRES_PASSWORD": "a-password",
    "REDIS_PASSWORD": "another-password",
    "SECRET_KEY": "a-secret-for-tests-of-more-than-fifty-characters-0123456789",
    "SECRET_KEY_FALLBACKS": "the-secret-before-that-one,another-one-before",
    "SHORT_WORKER_PROCESSES": "2",
    "WEB_MEMORY": "4g",
    "WEB_PROCESSES": "2",
    "WORKER_MEMORY": "5g",
    "WORKER_PROCESSES": "1",
}
#: A worker must have said that it is there, which may take as long as its imports on a busy machine.
READY_SECONDS = 180


@dataclass(frozen=True, slots=True)
class Part:
    """A process of a stack: its command, its environment, how it ends, and its health check."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str]
    stop_signal: signal.Signals = signal.SIGTERM
    grace: float = 10.0  # as Docker's
    health: tuple[str, ...] | None = None
    restarts: bool = False  # what runs it starts it again when it ends by itself


@dataclass
class Stack:
    """A running podstep, and what a test does to it."""

    name: str
    port: int
    parts: Mapping[str, Part]
    home: Path
    processes: dict[str, Process] = field(default_factory=dict)
    _stopped: set[str] = field(default_factory=set)

    @property
    def base_url(self) -> str:
        """The address of the web server, without a slash at its end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def env(self) -> Mapping[str, str]:
        """The environment of the web server."""
        return self.parts["web"].env

    def start(self, name: str) -> None:
        """Start a part that does not run."""
        part = self.parts[name]
        self._stopped.discard(name)
        self.processes[name] = Process(
            name, part.command, log=self.home / f"{name}.log", env=part.env, cwd=REPOSITORY
        )

    def stop(self, name: str) -> None:
        """End a part as its supervisor or container engine would."""
        self._stopped.add(name)
        self.processes[name].stop(self.parts[name].stop_signal, self.parts[name].grace)

    def kill(self, name: str) -> None:
        """Kill a part and everything it started, without a warning."""
        self._stopped.add(name)
        self.processes[name].kill()

    def restart_ended(self) -> None:
        """Restart what ended by itself, as its restart policy demands; a stalled worker ends itself."""
        for name, process in list(self.processes.items()):
            if self.parts[name].restarts and name not in self._stopped and not process.running:
                self.start(name)

    def wait_until_answering(self) -> None:
        """Wait until the web server answers."""
        wait_until_ready(self.processes["web"], lambda: self.answers("/healthz"), READY_SECONDS)

    def wait_until_ready(self) -> None:
        """Wait until database, broker and worker are there."""
        self.wait_until_answering()
        try:
            # Less often: every no is a query, and a line of the log.
            wait_until_ready(self.processes["web"], self.is_ready, READY_SECONDS, pause=0.3)
        except AssertionError as error:
            raise AssertionError(f"not ready: {self.get('/readyz').json}\n{self.logs()}") from error

    def is_ready(self) -> bool:
        """Return whether every dependency of the web server is available, after restarts that are due."""
        self.restart_ended()
        return self.answers("/readyz")

    def run(self, *command: str) -> str:
        """Run a command in the environment of the web server and return what it printed."""
        done = subprocess.run(
            command,
            env=dict(self.env),
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def is_healthy(self, name: str) -> bool:
        """Tell what the health check of a part says; without one, what ``/healthz`` or ``/readyz`` does."""
        part = self.parts[name]
        if part.health is None:
            return self.answers("/healthz" if name == "web" else "/readyz")
        done = subprocess.run(part.health, env=dict(part.env), cwd=REPOSITORY, timeout=120, check=False)
        return done.returncode == 0

    def answers(self, path: str) -> bool:
        """Tell whether a GET is answered with 200."""
        try:
            return self.get(path).status == 200
        except OSError:
            return False

    def get(self, path: str, **headers: str) -> client.Answer:
        """GET a path."""
        return client.request("GET", self.base_url + path, headers=headers)

    def post(self, path: str, body: Any, **headers: str) -> client.Answer:
        """POST bytes, or anything else as JSON."""
        return client.request("POST", self.base_url + path, body, headers=headers)

    def delete(self, path: str, body: Any = None, **headers: str) -> client.Answer:
        """DELETE a path."""
        return client.request("DELETE", self.base_url + path, body, headers=headers)

    def socket(self, **headers: str) -> AbstractContextManager[client.Socket]:
        """Connect to ``/ws/``."""
        return client.open_socket(self.base_url, headers)

    def wait_for_run(self, run: str, states: Sequence[str], seconds: float = 120) -> dict[str, Any]:
        """Wait until a run is in one of the states, and return what the API says of it."""
        return self.wait_for(f"/api/runs/{run}", lambda found: found["state"] in states, seconds)

    def wait_for(self, path: str, holds: Callable[[Any], bool], seconds: float) -> dict[str, Any]:
        """GET a path until the JSON of its answer satisfies ``holds``, and return that."""
        found: dict[str, Any] = {}

        def look() -> bool:
            self.restart_ended()
            found.update(self.get(path).json)
            return holds(found)

        try:
            wait_until(look, seconds, path)
        except AssertionError as error:
            raise AssertionError(f"{error}; at last {json.dumps(found)[:600]}\n{self.logs()}") from error
        return found

    def workers_output(self) -> str:
        """Return all that the workers printed, whichever of them computed what."""
        names = [name for name, _ in WORKERS if name in self.processes]
        return "".join(self.processes[name].output() for name in names)

    def logs(self) -> str:
        """Return the end of what each process printed."""
        return "\n".join(f"--- {name}\n{one.output()[-2000:]}" for name, one in self.processes.items())


def clean_environment() -> dict[str, str]:
    """Return this process' environment without the variables that podstep reads."""
    ours = {"DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL", "SECRET_KEY", "SECRET_KEY_FALLBACKS"}
    ours |= {"ALLOWED_HOSTS", "DEBUG", "PORT", "DJANGO_SETTINGS_MODULE", "WEB_CONCURRENCY", "CI"}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ours and not name.startswith(("PLAYGROUND_", "PYTEST_", "COVERAGE_"))
    }
    # The commands of docker-compose.yml are looked up as in the image, whose PATH begins with its .venv.
    kept["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    kept["PYTHONUNBUFFERED"] = "1"
    return kept


def _platforms(folder: Path) -> Path:
    """Write the registration of a platform that a test may bring."""
    folder.mkdir(exist_ok=True)
    path = folder / "lti.json"
    path.write_text(json.dumps({"platforms": [registration(f"http://127.0.0.1:{free_port()}")]}))
    return path


def embedded_parts(home: Path, port: int) -> dict[str, Part]:
    """Return what ``make run`` starts, with the data in ``home``, and a platform that a test may bring."""
    env = {
        **clean_environment(),
        "PLAYGROUND_DATA_DIR": str(home / "data"),
        "PLAYGROUND_LTI": str(_platforms(home)),
    }
    parts = {
        program.name: Part(
            program.name, program.command, env, program.stop_signal, program.grace, restarts=True
        )
        for program in programs("127.0.0.1", port)
    }
    return {**parts, "migrate": Part("migrate", (sys.executable, "manage.py", "prepare"), env)}


def compose_parts(home: Path, port: int, postgres: Server, redis: Server) -> dict[str, Part]:
    """Return the services of docker-compose.yml that run podstep's image."""
    services = compose.read(SHELL)["services"]
    _platforms(home / "data")
    places = {
        "postgres:5432": f"127.0.0.1:{postgres.port}",
        "redis:6379": f"127.0.0.1:{redis.port}",
        "0.0.0.0": "127.0.0.1",
        "8000": str(port),
        "/data": str(home / "data"),
    }

    def words(values: Sequence[Any]) -> tuple[str, ...]:
        return tuple(compose.moved(str(value), places) for value in values)

    parts = {}
    for name, service in services.items():
        if not service["image"].startswith("podstep:"):
            continue
        env = {key: compose.moved(str(value), places) for key, value in service["environment"].items()}
        health = service.get("healthcheck", {}).get("test")
        parts[name] = Part(
            name,
            words(service["command"]),
            {**clean_environment(), **env},
            signal.Signals[service.get("stop_signal", "SIGTERM")],
            health=words(health[1:]) if health else None,
            restarts=service.get("restart") == "unless-stopped",
        )
    return parts


@contextmanager
def running(name: str, parts: Mapping[str, Part], home: Path, port: int) -> Iterator[Stack]:
    """Prepare the database, start web server and workers, and end them afterwards."""
    (home / "data").mkdir(exist_ok=True)
    stack = Stack(name, port, parts, home)
    try:
        stack.start("migrate")
        assert stack.processes["migrate"].popen.wait(READY_SECONDS) == 0, stack.logs()
        stack.start("web")
        for worker, _ in WORKERS:
            stack.start(worker)
        stack.wait_until_ready()
        yield stack
    finally:
        for part in (*(worker for worker, _ in WORKERS), "web"):
            if part in stack.processes:
                stack.stop(part)

"""A container engine and its Compose: what this machine has, or a private daemon and a Compose built here.

Nothing of the machine's is changed but Debian packages that are missing; all that a private daemon stores is
in ``var/compose``, which a second call finds again.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.parts import REPOSITORY
from tests.services.processes import Process

KEPT = REPOSITORY / "var" / "compose"
START_SECONDS = 60
COMMAND_SECONDS = 1_800
BUILD_SECONDS = 3_600  # Compose from its sources, on a busy machine of two processors
#: Compose as a Go module; its own go.sum holds the hash of everything that it is built from.
COMPOSE = "github.com/docker/compose/v2"
COMPOSE_VERSION = "v2.40.3"
COMPOSE_SUM = "h1:XeYkQu1svDtyfZPv5nTwFryQ25ZJMkIlc4pz9HalMPI="
#: Ways to start the daemon, the usual one first: others lack a file system or rules of the network.
DAEMONS: tuple[tuple[str, ...], ...] = (
    ("--storage-driver", "overlay2"),
    ("--storage-driver", "vfs"),
    ("--storage-driver", "vfs", "--iptables=false", "--ip-masq=false"),
)


class NoEngineError(RuntimeError):
    """No container engine runs here, or no Compose can be had; the text says what was tried."""


@dataclass
class Engine:
    """A daemon that answers, and how it came to be."""

    env: Mapping[str, str]
    how: str
    private: bool
    compose: tuple[str, ...] = ()
    log: list[str] = field(default_factory=list)

    def run(
        self, *command: str, check: bool = True, seconds: float = COMMAND_SECONDS, cwd: Path = REPOSITORY
    ) -> str:
        """Return what a command prints; raises AssertionError with all of that where it fails."""
        done = subprocess.run(
            command,
            env={**os.environ, **self.env},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"{' '.join(command)[:300]}:\n{(done.stdout + done.stderr)[-4000:]}")
        return done.stdout

    def docker(self, *arguments: str, check: bool = True, seconds: float = COMMAND_SECONDS) -> str:
        """Run ``docker``."""
        return self.run("docker", *arguments, check=check, seconds=seconds)


def _says(command: Sequence[str], env: Mapping[str, str]) -> str | None:
    """Return what a short command prints, None if it fails."""
    try:
        done = subprocess.run(
            command, env={**os.environ, **env}, capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _version(env: Mapping[str, str]) -> str | None:
    text = _says(("docker", "version", "--format", "{{.Server.Version}}"), env)
    return f"Docker {text}" if text else None


@contextmanager
def engine() -> Iterator[Engine]:
    """Yield the engine of this machine, else a private one that ends afterwards. Raises NoEngineError."""
    if version := _version({}):
        yield _with_compose(Engine({}, f"{version}, which runs on this machine", private=False))
        return
    if os.geteuid() != 0:
        raise NoEngineError("No Docker daemon answers, and only root can start one.")
    packages = ("docker.io", "iptables", "debootstrap")
    made = subprocess.run([REPOSITORY / ".ci" / "system-packages", *packages], check=False)
    daemon = shutil.which("dockerd")
    if made.returncode or daemon is None:
        raise NoEngineError(f"No Docker daemon answers, and {', '.join(packages)} cannot be installed.")
    tried: list[str] = []
    with tempfile.TemporaryDirectory(prefix="podstep-engine-") as folder:
        for options in DAEMONS:
            home = Path(folder) / str(len(tried))
            home.mkdir()
            process, env = _daemon(daemon, options, home)
            try:
                if version := _started(process, env):
                    yield _with_compose(Engine(env, f"{version}, private, {' '.join(options)}", private=True))
                    return
                tried.append(f"dockerd {' '.join(options)}:\n{process.output()[-3000:]}")
            finally:
                process.stop(signal.SIGTERM, 30)
    raise NoEngineError("dockerd does not start here:\n" + "\n".join(tried))


def _daemon(program: str, options: Sequence[str], home: Path) -> tuple[Process, dict[str, str]]:
    """Start a daemon that shares nothing with another one of this machine but the kernel."""
    socket = f"unix://{home}/docker.sock"
    data = KEPT / "docker"
    data.mkdir(parents=True, exist_ok=True)
    command = [
        *(program, "--host", socket, "--data-root", str(data), "--exec-root", str(home / "run")),
        *("--pidfile", str(home / "pid"), "--mtu", str(_mtu()), *options),
    ]
    process = Process("dockerd", command, log=home / "log", env=os.environ, cwd=home)
    return process, {"DOCKER_HOST": socket}


def _mtu() -> int:
    """Return the largest packet of the network that leads out: a bridge with a larger one loses packets."""
    rows = json.loads(_says(("ip", "-json", "route", "show", "default"), {}) or "[]")
    sizes = [Path(f"/sys/class/net/{row['dev']}/mtu") for row in rows]
    return min((int(path.read_text()) for path in sizes if path.exists()), default=1500)


def _started(process: Process, env: Mapping[str, str]) -> str | None:
    """Return the daemon's version once it answers; None if it ends or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while process.running and time.monotonic() < deadline:
        if version := _version(env):
            return version
        time.sleep(0.5)
    return None


def _with_compose(found: Engine) -> Engine:
    """Name the Compose that there is, or build it. Raises NoEngineError."""
    if version := _says(("docker", "compose", "version", "--short"), found.env):
        found.compose = "docker", "compose"
    else:
        program = _built_compose(found)
        found.compose, version = (str(program),), f"{COMPOSE_VERSION}, built here"
    found.how += f"; Compose {version}"
    return found


def _built_compose(found: Engine) -> Path:
    """Build Compose from its sources, once."""
    program = KEPT / f"docker-compose-{COMPOSE_VERSION}"
    if program.exists():
        return program
    go = shutil.which("go", path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/local/go/bin")))
    if go is None:
        raise NoEngineError("Docker has no `compose`, and there is no Go to build it with.")
    fetched = json.loads(
        found.run(go, "mod", "download", "-json", f"{COMPOSE}@{COMPOSE_VERSION}", cwd=Path("/"))
    )
    if fetched["Sum"] != COMPOSE_SUM:
        raise NoEngineError(f"The sources of Compose are others: {fetched['Sum']}")
    KEPT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="podstep-compose-") as folder:
        # `go install` takes no module whose go.mod excludes others; as the main module it may.
        sources = Path(folder) / "compose"
        shutil.copytree(fetched["Dir"], sources)
        made = Path(folder) / "docker-compose"
        command = (go, "build", "-trimpath", "-ldflags", "-s -w", "-o", str(made), "./cmd")
        found.run(*command, cwd=sources, seconds=BUILD_SECONDS)
        shutil.copy(made, program)
    return program

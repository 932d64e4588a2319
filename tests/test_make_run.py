"""``make run`` as people meet it: one address, one Ctrl-C, and a clear word when something is wrong."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from playground.queues import QUEUES
from tests.e2e.bundles import small
from tests.parts import REPOSITORY
from tests.services.client import request
from tests.services.processes import Process, free_port, listens, wait_until, wait_until_ready
from tests.services.stack import clean_environment

# Starting everything takes both cores for a moment: one such test at a time.
pytestmark = [pytest.mark.services, pytest.mark.xdist_group("make-run")]


#: Too large to be read by the web process itself.
LARGE = b"---\n".join(
    b"apiVersion: v1\nkind: Pod\nmetadata: {name: p%d}\nspec: {containers: [{name: c, image: i}]}\n" % at
    for at in range(1_000)
)


@pytest.fixture(scope="module", autouse=True)
def made() -> None:
    """Have set-up make what is missing, as `make test` does: what it prints is no line of a process."""
    subprocess.run([".ci/setup"], cwd=REPOSITORY, env=clean_environment(), check=True)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the data that lives on from one `make run` to the next: only the first has to make it."""
    return tmp_path_factory.mktemp("data")


@contextmanager
def make_run(log: Path, data: Path, port: int, **variables: str) -> Iterator[Process]:
    """Run `make run` with its data in a folder, in a session of its own as in a terminal."""
    env = {**clean_environment(), "PLAYGROUND_DATA_DIR": str(data), **variables}
    process = Process("make", ["make", "run", f"PORT={port}"], log=log, env=env, cwd=REPOSITORY)
    try:
        yield process
    finally:
        process.kill()


def wait_for_address(process: Process, port: int) -> None:
    """Wait for the line that tells the address."""
    line = f"podstep answers at http://127.0.0.1:{port}\n"
    wait_until_ready(process, lambda: line in process.output(), 200)


def children(parent: int) -> set[int]:
    """Return all living descendants of a process."""
    table: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            table.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found: set[int] = set()
    waiting = [parent]
    while waiting:
        for child in table.get(waiting.pop(), []):
            found.add(child)
            waiting.append(child)
    return found


def parent_of(pid: int) -> int:
    """Return the process that started another one, 0 where that is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def command_of(pid: int) -> str:
    """Return a process' command line, or "" if there is none."""
    try:
        return (Path("/proc") / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def alive(pids: set[int]) -> set[int]:
    """Return those of the processes that still run, a zombie not counted."""
    return {pid for pid in pids if command_of(pid)}


def unnamed_lines(output: str) -> list[str]:
    """Return the lines that neither make nor podstep nor a process under its name has printed."""
    known = re.compile(r"make|podstep answers|(web         |worker      |worker-short) \| ")
    return [line for line in output.splitlines() if line.strip() and not known.match(line)]


def computes(port: int, seconds: float = 60) -> bool:
    """Start a run, and tell whether a worker finishes it."""
    address = f"http://127.0.0.1:{port}"
    scenario = request("POST", f"{address}/api/scenarios", {"bundle": small("restarted")}).json["id"]
    run = request("POST", f"{address}/api/runs", {"scenario": scenario}).json["id"]
    wait_until(
        lambda: request("GET", f"{address}/api/runs/{run}").json["state"] == "done", seconds, "the run ends"
    )
    return True


def named_as_the_server_may_be_called(make: Process, data: Path, port: int) -> None:
    """Each line of a process begins with its name, whatever other names the server may be called by."""
    assert unnamed_lines(make.output().rpartition("\n")[0]) == []
    ready = request("GET", f"http://127.0.0.1:{port}/readyz", headers={"Host": "podstep.example"})
    assert ready.status == 200


def replaced_worker(make: Process, data: Path, port: int) -> None:
    """A worker is killed: one line says so; the web server answers on, and a new worker computes."""
    before = children(make.popen.pid)
    worker = next(pid for pid in sorted(before) if "celery" in command_of(pid))
    web = next(pid for pid in sorted(before) if "uvicorn" in command_of(pid))
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: "restarting" in make.output(), 60, "the death is noticed")
    assert "worker ended (signal SIGKILL); restarting in 1 s (1 of 5).\n" in make.output()
    assert request("GET", f"http://127.0.0.1:{port}/healthz").status == 200
    wait_until(lambda: computes(port), 120, "the new worker computes")
    assert command_of(web)
    assert not alive({pid for pid in before if "celery" in command_of(pid)} - children(make.popen.pid))


def killed_idle_processes(make: Process, data: Path, port: int) -> None:
    """They take the lock of their worker's queue along; the worker notices that it starts nothing."""

    def idle() -> set[int]:
        workers = {pid for pid in children(make.popen.pid) if "celery" in command_of(pid)}
        return {pid for pid in workers if parent_of(pid) in workers}

    wait_until(lambda: bool(idle()), 60, "the worker has its processes")
    for pid in idle():
        os.kill(pid, signal.SIGKILL)
    assert computes(port, 120)


#: Messages that no program of ours has sent.
OF_OTHERS = (
    '{"body": "e30=", "headers": {}, "properties": {}}',
    "[]",
    "",
    "null",
    '{"headers": {"task": []}}',
)


def messages_of_others(make: Process, data: Path, port: int) -> None:
    """Whatever lies in the broker's folder, no program ends, and the next run is computed."""
    queue = data / "broker" / "queue"
    for number, text in enumerate(OF_OTHERS):
        (queue / f"{number:03}.{QUEUES[number % 2]}.msg").write_text(text)
    (queue / "100.short.msg").mkdir()
    wait_until(lambda: not list(queue.glob("*.msg")), 60, "the worker takes them")
    assert computes(port)
    assert len(list((data / "broker" / "quarantine").iterdir())) == 6
    assert "restarting" not in make.output()
    assert "Traceback" not in make.output()


def ctrl_c(make: Process, started: set[int]) -> None:
    """End it as a terminal does."""
    os.killpg(make.popen.pid, signal.SIGINT)


def sigterm_to_make(make: Process, started: set[int]) -> None:
    """End it as a service manager does."""
    make.popen.send_signal(signal.SIGTERM)


def sigkill_to_make(make: Process, started: set[int]) -> None:
    """Kill the process that was started."""
    make.popen.kill()


def sigkill_to_the_supervisor(make: Process, started: set[int]) -> None:
    """Kill what started everything else."""
    os.kill(next(pid for pid in sorted(started) if "manage.py serve" in command_of(pid)), signal.SIGKILL)


Lives = Callable[[Process, Path, int], None]
Ends = Callable[[Process, set[int]], None]
#: What happens to each start, and how it is ended: starting takes most of the time.
STARTS: dict[str, tuple[Lives, Ends]] = {
    "ctrl-c": (named_as_the_server_may_be_called, ctrl_c),
    "a worker is replaced, sigterm to make": (replaced_worker, sigterm_to_make),
    "idle processes are killed, sigkill to make": (killed_idle_processes, sigkill_to_make),
    "messages of others, sigkill to the supervisor": (messages_of_others, sigkill_to_the_supervisor),
}


@pytest.mark.parametrize(("lives", "ends"), STARTS.values(), ids=STARTS)
def test_it_serves_and_ends_all_it_started(tmp_path: Path, data: Path, lives: Lives, ends: Ends) -> None:
    """Make run answers at the address it prints, and however it is ended nothing stays behind."""
    port = free_port()
    allowed = "127.0.0.1,.podstep.example"
    with make_run(tmp_path / "log", data, port, ALLOWED_HOSTS=allowed) as make:
        wait_for_address(make, port)
        assert request("POST", f"http://127.0.0.1:{port}/api/scenarios", LARGE).status == 201
        lives(make, data, port)
        started = children(make.popen.pid)
        commands = " ".join(map(command_of, started))
        assert "uvicorn" in commands
        assert "celery" in commands
        assert "forkserver" in commands, "the processes that read large bundles"
        ends(make, started)
        make.popen.wait(60)
        wait_until(lambda: not alive(started), 60, f"all of {len(started)} processes end")
        assert not listens(port)
        if ends is ctrl_c:
            assert unnamed_lines(make.output()) == []
        if lives not in {replaced_worker, killed_idle_processes}:
            assert "Traceback" not in make.output()


def test_a_taken_port_is_named_before_anything_starts(tmp_path: Path) -> None:
    """With the port taken, make run names the port and a way out, and stores and starts nothing."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with make_run(tmp_path / "log", tmp_path / "data", port) as make:
            assert make.popen.wait(120) != 0
            assert f"Port {port} of 127.0.0.1 is in use" in make.output()
            assert f"make run PORT={port + 1}" in make.output()
            assert "Traceback" not in make.output()
    assert not list(tmp_path.glob("data/*.sqlite3"))


def test_a_second_setup_takes_no_time() -> None:
    """Make setup looks at two small files when there is nothing to do."""
    # Below another make, make tells which folder it is in.
    env = {name: value for name, value in os.environ.items() if name not in {"MAKELEVEL", "MAKEFLAGS"}}
    began = os.times()
    done = subprocess.run(
        ["make", "setup"], cwd=REPOSITORY, env=env, capture_output=True, text=True, check=True
    )
    ended = os.times()
    # Of the processor: on a busy machine everything takes its time.
    assert ended.children_user + ended.children_system - began.children_user - began.children_system < 1
    assert done.stdout + done.stderr == ""


def test_the_environment_is_what_the_lock_file_says() -> None:
    """Every package that requirements-dev.txt names for this platform is installed in that version."""
    asked = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--no-index", "--quiet"]
    lock = (REPOSITORY / "requirements-dev.txt").read_text()
    pins = re.findall(r"^([\w.-]+==\S+(?: ;[^\\\n]*)?)", lock, re.MULTILINE)
    assert len(pins) > 50
    done = subprocess.run([*asked, *pins], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_lock_files_agree() -> None:
    """What serving needs is a part of what testing needs, in the same versions, all with hashes."""
    served, tested = (
        dict(re.findall(r"^([\w.-]+)==(\S+)", (REPOSITORY / name).read_text(), re.MULTILINE))
        for name in ("requirements.txt", "requirements-dev.txt")
    )
    assert served.items() <= tested.items()
    for name in ("requirements.txt", "requirements-dev.txt"):
        entries = re.split(r"^(?=[\w.-]+==)", (REPOSITORY / name).read_text(), flags=re.MULTILINE)[1:]
        assert all("--hash=sha256:" in entry for entry in entries)

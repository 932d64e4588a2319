"""The supervisor with small programs in place of web server and worker."""

from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from playground.serving import supervisor
from playground.serving.supervisor import RestartPolicy, ServerProcess, Slot, Supervisor
from tests.parts import REPOSITORY
from tests.playground.conftest import PATIENCE
from tests.services.processes import wait_until

FOREVER = "import time\nwhile True: time.sleep(0.05)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf')\n" + FOREVER


def once_there(mark: Path) -> str:
    """Return Python code that waits for a file."""
    return f"import pathlib, time\nwhile not pathlib.Path({str(mark)!r}).exists(): time.sleep(0.02)\n"


def python(name: str, code: str, grace: float = 10.0) -> ServerProcess:
    """Return a program that runs this Python code."""
    return ServerProcess(name, (sys.executable, "-u", "-c", code), signal.SIGTERM, grace)


def run(
    *programs: ServerProcess, signals: tuple[signal.Signals, ...] = (), ready: str = ""
) -> tuple[int, str]:
    """Supervise programs; once ``ready`` was printed, send this process the signals."""
    output = io.StringIO()
    running = Supervisor(programs, output=output)

    def send() -> None:
        for sig in signals:
            os.kill(os.getpid(), sig)
            running.stopping.wait()  # two signals of one kind that come at once are one

    status = running.run(
        ready=lambda: bool(signals) and ready in output.getvalue(),
        on_ready=threading.Thread(target=send).start,
    )
    assert all(child.process.poll() is not None for child in running.children)
    return status, output.getvalue()


@pytest.mark.parametrize("sig", supervisor.SIGNALS)
def test_a_signal_ends_all_and_is_no_failure(sig: signal.Signals) -> None:
    """Ctrl-C, a polite kill and a closed terminal end every program, with status 0."""
    status, output = run(
        python("one", f"print('up')\n{FOREVER}"), python("two", FOREVER), signals=(sig,), ready="up"
    )
    assert status == 0
    assert output == "one | up\n"


@pytest.mark.parametrize(("code", "how"), [("exit(3)", "exit status 3"), ("exit(0)", "exit status 0")])
def test_a_program_that_does_not_start_ends_the_others(code: str, how: str) -> None:
    """A program that ends before all were ready is named, whatever its status, and the rest ends."""
    status, output = run(python("web", FOREVER), python("worker", code))
    assert status == 1
    assert f"worker ended during startup ({how}); stopping. See its output above.\n" in output
    assert "restarting" not in output


#: Restarts without waiting, for tests.
AT_ONCE = RestartPolicy(most=3, window=600, first=0.01, longest=0.02)


def keep_running(
    *programs: ServerProcess,
    policy: RestartPolicy = AT_ONCE,
    mark: Path = Path(os.devnull),
    until: Callable[[str], bool],
) -> tuple[int, str]:
    """Supervise programs until ``until(output)`` holds; ``mark`` is made once all have printed."""
    output = io.StringIO()
    running = Supervisor(programs, output=output, policy=policy)
    ended = threading.Event()

    def end() -> None:
        mark.touch()
        deadline = time.monotonic() + PATIENCE
        while not until(output.getvalue()) and not ended.is_set() and time.monotonic() < deadline:
            time.sleep(0.02)
        if not ended.is_set():
            os.kill(os.getpid(), signal.SIGTERM)

    # Ready once each program has printed something.
    names = [program.name for program in programs]
    status = running.run(
        ready=lambda: all(f"{name} " in output.getvalue() for name in names),
        on_ready=threading.Thread(target=end).start,
    )
    ended.set()
    assert running.children == [] or all(child.process.poll() is not None for child in running.children)
    return status, output.getvalue()


DIES_ONCE = (
    "import os, pathlib, signal, sys, time\n"
    "mark = pathlib.Path(sys.argv[1])\n"
    "first = not mark.exists()\n"
    "print('up', flush=True)\n"
    "while first and not mark.exists(): time.sleep(0.02)\n"
    "if first: os.kill(os.getpid(), signal.SIGKILL)\n" + FOREVER
)


def test_a_killed_program_is_started_again(tmp_path: Path) -> None:
    """One line names the program, the signal and the delay; the other program runs on."""
    dying = ServerProcess(
        "worker",
        (sys.executable, "-u", "-c", DIES_ONCE, str(tmp_path / "mark")),
        signal.SIGTERM,
        10.0,
    )
    web = python("web", f"print('up')\n{FOREVER}")
    status, output = keep_running(
        web, dying, mark=tmp_path / "mark", until=lambda text: text.count("worker | up") == 2
    )
    assert status == 0
    assert output.count("web    | up") == 1
    assert "worker ended (signal SIGKILL); restarting in 0.01 s (1 of 3).\n" in output


KEEPS_DYING = (
    "import pathlib, sys, time\n"
    "mark = pathlib.Path(sys.argv[1])\n"
    "print('up', flush=True)\n"
    "while not mark.exists(): time.sleep(0.02)\n"
    "exit(7)"
)


def test_a_program_that_keeps_dying_ends_everything(tmp_path: Path) -> None:
    """After so many restarts the whole fails, and the line says how often and whose output to read."""
    command = (sys.executable, "-u", "-c", KEEPS_DYING, str(tmp_path / "mark"))
    dying = ServerProcess("worker", command, signal.SIGTERM, 10.0)
    web = python("web", f"print('up')\n{FOREVER}")
    status, output = keep_running(web, dying, mark=tmp_path / "mark", until=lambda _: False)
    assert status == 1
    assert output.count("worker | up") == 1 + AT_ONCE.most
    assert output.count("restarting in") == AT_ONCE.most
    last = output.splitlines()[-1]
    assert last == (
        "worker ended again (exit status 7) after 3 restarts within 600 s; "
        "stopping. See the lines of 'worker' above."
    )


def test_delays_double_up_to_a_bound_and_old_restarts_are_forgotten() -> None:
    """1, 2, 4 … seconds, never more than the longest; what happened before the window does not count."""
    policy = RestartPolicy(most=4, window=100, first=1, longest=5)
    slot = Slot(python("web", ""))
    assert [slot.died(policy, now) for now in (0, 1, 2, 3)] == [1, 2, 4, 5]
    assert slot.died(policy, 99) is None
    assert slot.died(policy, 100) == 5
    assert slot.died(policy, 203) == 1


def test_a_signal_ends_the_wait_for_a_restart(tmp_path: Path) -> None:
    """Ctrl-C while a program waits for its restart ends everything at once, and starts nothing."""
    policy = RestartPolicy(first=300, longest=300)
    mark = tmp_path / "mark"
    code = f"print('up', flush=True)\n{once_there(mark)}exit(7)"
    began = time.monotonic()
    status, output = keep_running(
        python("worker", code), policy=policy, mark=mark, until=lambda text: "restarting in 300 s" in text
    )
    assert status == 0
    assert output.count("worker | up") == 1
    assert time.monotonic() - began < 200


def test_the_processes_of_a_killed_program_end_with_it(tmp_path: Path) -> None:
    """What a program started does not compute on beside its successor."""
    code = (
        "import os, pathlib, signal, subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', {FOREVER!r}], stdout=subprocess.DEVNULL)\n"
        "print('child', child.pid, flush=True)\n"
        f"{once_there(tmp_path / 'mark')}os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    _, output = keep_running(
        python("web", code), mark=tmp_path / "mark", until=lambda text: text.count("child") >= 2
    )
    first = int(output.split("child ")[1].split()[0])
    wait_until(lambda: _is_gone(first), PATIENCE, "the first child ends")


def test_orphans_are_reaped() -> None:
    """As PID 1 of a container, the supervisor leaves no zombies of processes that others started."""
    code = (
        "import subprocess, sys, time\n"
        "from playground.serving import supervisor\n"
        "supervisor.adopt_orphans()\n"
        "inner = 'import subprocess, sys, time; '"
        ' \'print(subprocess.Popen(["sleep", "0.3"], start_new_session=True).pid, flush=True)\'\n'
        "command = (sys.executable, '-c', inner + '; time.sleep(1)')\n"
        "program = supervisor.ServerProcess('web', command, 15, 1)\n"
        "policy = supervisor.RestartPolicy(first=3)\n"
        "one = supervisor.Supervisor([program], output=sys.stdout, policy=policy, owns_children=True)\n"
        "one.run(ready=lambda: True, on_ready=lambda: None)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", code], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
    )
    try:
        assert process.stdout is not None
        orphan = int(process.stdout.readline().split("|")[1])
        assert "restarting" in process.stdout.readline()
        wait_until(lambda: not Path(f"/proc/{orphan}").exists(), PATIENCE, "the orphan is reaped")
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()


def test_a_program_that_does_not_listen_is_killed() -> None:
    """What ignores its signal is killed when its grace is over."""
    began = time.monotonic()
    status, _ = run(python("deaf", STUBBORN, grace=0.5), signals=(signal.SIGTERM,), ready="deaf")
    assert status == 0
    assert time.monotonic() - began >= 0.5


def test_a_second_signal_does_not_wait() -> None:
    """Ctrl-C twice kills at once."""
    began = time.monotonic()
    run(python("deaf", STUBBORN, grace=200), signals=(signal.SIGINT, signal.SIGINT), ready="deaf")
    assert time.monotonic() - began < 100


def test_what_a_program_started_ends_too() -> None:
    """A process that a program leaves behind goes with its group."""
    code = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen([sys.executable, '-c', {STUBBORN!r}], stdout=subprocess.DEVNULL)\n"
        f"print(child.pid)\n{FOREVER}"
    )
    _, output = run(python("web", code, grace=0.5), signals=(signal.SIGTERM,), ready="web |")
    orphan = int(output.split("|")[1])
    # Its new parent may take a moment to bury it.
    wait_until(lambda: _is_gone(orphan), PATIENCE, "the orphan ends")


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_lines_carry_the_name_of_who_spoke() -> None:
    """Names are padded to one width, standard error is shown as well, and odd bytes do no harm."""
    code = r"import sys; print('a\nb'); sys.stderr.write('c\n'); sys.stdout.buffer.write(b'\xff\n'); exit(1)"
    _, output = run(python("web", code), python("worker", FOREVER))
    lines = {line for line in output.splitlines() if "ended during startup" not in line}
    assert lines == {"web    | a", "web    | b", "web    | c", "web    | \ufffd"}


def test_it_ends_when_the_one_who_started_it_is_gone() -> None:
    """With a parent to look at that is not ours any more, everything ends without a failure."""
    running = Supervisor([python("web", FOREVER)], output=io.StringIO(), parent=-1)
    assert running.run(ready=lambda: False, on_ready=lambda: None) == 0


def test_signals_mean_what_they_meant_before() -> None:
    """The supervisor gives signal handlers back."""
    before = [signal.getsignal(sig) for sig in supervisor.SIGNALS]
    run(python("web", "exit(1)"))
    assert [signal.getsignal(sig) for sig in supervisor.SIGNALS] == before


def test_a_port_is_taken_while_something_listens() -> None:
    """A listening socket is seen; a port that was used a moment ago is free."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        problem = supervisor.listening_problem("127.0.0.1", port)
        assert problem
        assert f"Port {port} of 127.0.0.1 is in use" in problem
    assert supervisor.listening_problem("127.0.0.1", port) is None


def test_an_address_of_another_machine_is_not_called_taken() -> None:
    """The reason is the system's own."""
    problem = supervisor.listening_problem("192.0.2.1", 8000)
    assert problem
    assert "Cannot listen at port 8000 of 192.0.2.1: Cannot assign requested address" in problem


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),
        ("::", "http://[::1]:80"),
        ("::1", "http://[::1]:80"),
        ("podstep.example", "http://podstep.example:80"),
    ],
)
def test_the_server_is_asked_at_an_address_of_this_machine(host: str, address: str) -> None:
    """A wildcard is no address to connect to, and IPv6 is bracketed."""
    assert supervisor.local_address(host, 80) == address


def test_an_address_answers_only_with_200() -> None:
    """Nothing listening, or anything but a 200, is no answer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        for status, expected in (("200 OK", True), ("503 Not yet", False)):
            seen: list[bytes] = []

            def serve(status: str = status, seen: list[bytes] = seen) -> None:
                connection, _ = server.accept()
                with connection:
                    seen.append(connection.recv(10_000))
                    connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())

            thread = threading.Thread(target=serve)
            thread.start()
            assert supervisor.answers(url, "podstep.example") is expected
            thread.join()
            assert b"Host: podstep.example\r\n" in seen[0]
    assert not supervisor.answers(url, "podstep.example")

"""The supervisor with small programs in place of web server and worker."""

from __future__ import annotations

import io
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from playground import supervisor
from playground.supervisor import Program, Supervisor
from tests.services.processes import wait_until

from .conftest import PATIENCE

FOREVER = "import time\nwhile True: time.sleep(0.05)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf')\n" + FOREVER


def python(name: str, code: str, grace: float = 10.0) -> Program:
    """Return a program that runs this Python code."""
    return Program(name, (sys.executable, "-u", "-c", code), signal.SIGTERM, grace)


def run(*programs: Program, signals: tuple[signal.Signals, ...] = (), ready: str = "") -> tuple[int, str]:
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
def test_a_program_that_ends_takes_the_others_with_it(code: str, how: str) -> None:
    """A program that ends by itself is named, whatever its status, and the whole fails."""
    status, output = run(python("web", FOREVER), python("worker", code))
    assert status == 1
    assert f"worker ended by itself ({how}); ending the rest.\n" in output


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
    lines = {line for line in output.splitlines() if "ended by itself" not in line}
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
        assert supervisor.port_is_taken("127.0.0.1", port)
    assert not supervisor.port_is_taken("127.0.0.1", port)


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

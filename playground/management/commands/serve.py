"""``manage.py serve``: everything on one machine, as ``make run`` starts it."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.db import connection

from playground.management.command import PlainCommand
from playground.models import Worker
from playground.queues import QUEUES
from playground.runtime import outage
from playground.serving import lan, supervisor
from playground.serving.connections import raise_file_limit


def _workers_are_there() -> bool:
    try:
        with outage.SuppressOutage():
            return Worker.serving() >= set(QUEUES)
        return False
    finally:
        connection.close()


def _port(text: str) -> int:
    port = int(text)
    if not 0 < port <= supervisor.HIGHEST_PORT:
        raise ValueError
    return port


def _opened(local: str, file: Path, say: Callable[[str], None]) -> str:
    """Make a scenario of a bundle; returns its address, or the server's if it was refused."""
    from scheduler_core.cli import upload
    from scheduler_core.cli.input_files import InputError

    try:
        address = upload.send(local, file.read_bytes(), file.name, browser=False)
    except InputError as error:
        say(str(error))
        return local
    say(f"{file.name} is at {address}")
    return address


def _has_screen() -> bool:
    """Return whether a browser has a screen: without one, Python would start a browser of the terminal."""
    return sys.platform in {"darwin", "win32"} or bool({"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys())


_port.__name__ = "port number"  # argparse: invalid port number value: '99999'


class Command(PlainCommand):
    help = "Prepare the database, then run the web server and the workers until Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the address to listen on."""
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument(
            "--port", type=_port, default=settings.PORT, help="port to listen on (default: PORT, else 8000)"
        )
        parser.add_argument(
            "--end-with-parent", action="store_true", help="exit when the parent process exits"
        )
        parser.add_argument("--browser", action="store_true", help="open the address in the user's browser")
        parser.add_argument("--open", metavar="FILE", type=Path, help="a bundle to make a scenario of")

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve until a signal arrives; exit with 1 if a program cannot be started or kept running."""
        parent = os.getppid() if options["end_with_parent"] else None
        host, port = options["host"], options["port"]
        if problem := supervisor.listening_problem(host, port):
            raise CommandError(problem)
        others = lan.lan_address(host)
        if others and "ALLOWED_HOSTS" not in os.environ:  # of the programs that are started
            os.environ["ALLOWED_HOSTS"] = ",".join([*settings.ALLOWED_HOSTS, lan.bracketed(others)])
        call_command("prepare")
        supervisor.adopt_orphans()
        raise_file_limit()
        local = supervisor.local_address(host, port)
        running = supervisor.Supervisor(
            supervisor.programs(host, port), output=sys.stdout, parent=parent, owns_children=True
        )
        # Django answers only requests for ALLOWED_HOSTS.
        first = next(iter(settings.ALLOWED_HOSTS), "").lstrip(".")
        name = first if first not in {"", "*"} else "localhost"
        network = supervisor.local_address(others, port) if others else ""
        also = f", and in your network at {network}" if network not in {"", local} else ""

        def ready() -> None:
            running.say(f"podstep answers at {local}{also}")
            address = _opened(local, options["open"], running.say) if options["open"] else local
            if options["browser"] and _has_screen():
                webbrowser.open(address)

        status = running.run(
            # The server decides; it is not queried before it can be ready, because a failed check is logged.
            ready=lambda: _workers_are_there() and supervisor.answers(f"{local}/readyz", name),
            on_ready=ready,
        )
        sys.exit(status)

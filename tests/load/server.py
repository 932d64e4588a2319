"""The server that is measured: one of our own in a temporary folder, or one that runs already."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.load.web import resident
from tests.services.processes import free_port
from tests.services.stack import embedded_parts, running

#: All visitors of a measurement have one address: what is counted by address must not end it.
RAISED = {
    "PLAYGROUND_API_WRITES_PER_MINUTE": "100000",
    "PLAYGROUND_API_READS_PER_MINUTE": "1000000",
    "PLAYGROUND_IMPORTS_PER_MINUTE": "100000",
    "PLAYGROUND_SOCKETS_PER_ADDRESS": "10000",
}


@dataclass(frozen=True, slots=True)
class Server:
    """Where the server answers, and its web process where that is known."""

    base: str
    pid: int | None = None
    home: Path | None = None  # with the logs of its processes, if it was started here

    def resident_mib(self) -> float:
        """Return the resident memory of the web process in MiB, 0 where it is not known."""
        return 0.0 if self.pid is None else resident(self.pid)


@contextmanager
def serving(
    base: str | None = None, pid: int | None = None, limits: Mapping[str, str] = RAISED
) -> Iterator[Server]:
    """Yield a server: the one at ``base``, else one that is started with ``limits`` and ended afterwards."""
    if base is not None:
        yield Server(base.rstrip("/"), pid)
        return
    with tempfile.TemporaryDirectory(prefix="podstep-load-") as folder:
        home, port = Path(folder), free_port()
        parts = {
            name: replace(part, env={**part.env, **limits})
            for name, part in embedded_parts(home, port).items()
        }
        with running("load", parts, home, port) as stack:
            yield Server(stack.base_url, stack.processes["web"].popen.pid, home)

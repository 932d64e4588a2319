"""The servers and stacks, each started once for all tests of a process that ask for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.services import compose
from tests.services.processes import free_port
from tests.services.servers import Server, postgres_server, redis_server
from tests.services.stack import SHELL, Stack, compose_parts, embedded_parts, running

STACKS = ("embedded", "compose")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL with the database of docker-compose.yml."""
    with postgres_server(compose.read(SHELL)["services"]["postgres"]["environment"]) as server:
        yield server


@pytest.fixture(scope="session")
def redis() -> Iterator[Server]:
    """A Redis started by the command in docker-compose.yml."""
    with redis_server(compose.read(SHELL)["services"]["redis"]["command"]) as server:
        yield server


@pytest.fixture(scope="session")
def stacks(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Stack]]:
    """Start a stack by its name, or return the one that runs already."""
    started: dict[str, Stack] = {}
    with ExitStack() as opened:

        def get(name: str) -> Stack:
            if name not in started:
                home, port = tmp_path_factory.mktemp(name), free_port()
                if name == "embedded":
                    parts = embedded_parts(home, port)
                else:
                    servers = request.getfixturevalue("postgres"), request.getfixturevalue("redis")
                    parts = compose_parts(home, port, *servers)
                started[name] = opened.enter_context(running(name, parts, home, port))
            return started[name]

        yield get


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in STACKS])
def stack(request: pytest.FixtureRequest, stacks: Callable[[str], Stack]) -> Stack:
    """podstep, running: once as `make run` starts it, once as docker-compose.yml does."""
    return stacks(request.param)


def only(name: str) -> pytest.MarkDecorator:
    """Return the mark of a test of one stack, which another test spares the other ones."""
    return pytest.mark.parametrize(
        "stack", [pytest.param(name, marks=pytest.mark.xdist_group(name))], indirect=True
    )

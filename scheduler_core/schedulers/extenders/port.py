"""What passes between the engine and an extender: a call, and a reply or none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

from msgspec import Struct

from scheduler_core.schedulers.extenders.configuration import Extender, Verb
from scheduler_core.schedulers.extenders.rules import V1_11_RULES

Source = Literal["declared", "recorded", "live"]
Proposed = tuple[tuple[str, tuple[tuple[str, str], ...], int], ...]
"""The victims that preempt is asked about: a node, its pods as (namespace/name, uid), budgets violated."""


class ExtenderCall(Struct, frozen=True):
    """One question: ``verb`` of ``extender`` about ``pod`` in a cycle, numbered from 1.

    ``nodes`` are the names of the nodes asked about; ``victims``, of preempt alone, what is proposed on each.
    ``body`` makes the JSON that is posted, only where it is needed.
    """

    extender: Extender
    verb: Verb
    cycle: int
    pod: str
    nodes: tuple[str, ...]
    body: Callable[[], str]
    victims: Proposed = ()

    @property
    def url(self) -> str:
        """The address that it is posted to."""
        return self.extender.address(self.verb)


class Reply(Struct, frozen=True):
    """What came back after ``seconds``: a status and a body, or the ``failure`` that prevented them."""

    status: int = 200
    body: str = ""
    failure: str = ""
    seconds: float = 0.0
    source: Source = "declared"


class Port(Protocol):
    """Answers calls."""

    def ask(self, call: ExtenderCall) -> Reply | None:
        """Return the reply; ``None`` if there is neither an answer nor leave to call."""
        ...


class ExtenderTransport(Protocol):
    """Posts to a URL, as far as the operator approves of it."""

    def approves(self, url: str) -> bool:
        """Return whether a URL may be called."""
        ...

    def post(self, url: str, body: str, timeout: float, about: str) -> Reply:
        """Post JSON and return the reply, whatever happens.

        ``timeout`` is in seconds; ``about`` identifies the run and its cycle.
        """
        ...


def timed_out(url: str) -> str:
    """Return the error of a call that took too long; releases after v1.11 word it otherwise."""
    return V1_11_RULES.late.format(url=url)


def digest(url: str, body: str) -> str:
    """Return what identifies a request among a run's recorded answers: 32 hexadecimal digits."""
    import hashlib

    return hashlib.sha256(f"{url}\n{body}".encode()).hexdigest()[:32]

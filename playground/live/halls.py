"""The rooms that somebody is in over this web process, and who that is."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from playground.live.moves import RoomPosition
from playground.live.notifications import Watcher
from playground.models import Room
from playground.rooms import questions
from playground.serving.protocols import encoded
from playground.wire import frame


@dataclass(frozen=True, slots=True)
class Veil:
    """What is hidden while a question is open: everything of a scenario after its ``last`` cycle.

    With a ``phase`` also what that cycle decides after it; "" is before its attempt.
    """

    scenario: str
    last: int
    phase: str | None = None


@dataclass(eq=False, slots=True)
class Member:
    """A connection in a room."""

    connection: Watcher
    hall: Hall
    person: str
    name: str
    holds_token: bool
    projects: bool = False  # it is the projector's page: nobody, and never the leader
    place: str = ""  # the step of who went elsewhere
    lost: str = ""  # why this page cannot follow

    @property
    def leads(self) -> bool:
        """Whether this person leads: they were handed the lead or, unless somebody was, have the token."""
        leader = self.hall.row.leader
        return not self.projects and (self.person == leader if leader else self.holds_token)

    @property
    def role(self) -> str:
        """The role as the protocol has it."""
        return "lead" if self.leads else "watch"


@dataclass(eq=False, slots=True)
class Hall:
    """A room as this process knows it; its position is in ``moves``, not in the row."""

    row: Room
    moves: RoomPosition
    members: dict[Watcher, Member] = field(default_factory=dict)
    votes: int = 0
    others: int = 0  # who watch over other processes
    pushed: dict[str, int] = field(default_factory=dict)  # who watches, as pushed last
    counting: asyncio.Task[None] | None = None
    tallying: asyncio.Task[None] | None = None
    counted: float = float("-inf")

    @property
    def here(self) -> int:
        """How many watch over this process."""
        return sum(not (member.leads or member.projects) for member in self.members.values())

    @property
    def position(self) -> dict[str, Any]:
        """The position as the protocol has it."""
        return {"scene": self.moves.scene, "seq": self.moves.seq, **self.moves.position}

    @property
    def state(self) -> dict[str, Any]:
        """Everything that a page shows of the room, of one version, as the protocol has it."""
        row, veil = self.row, self.veil
        return {
            "version": row.changed,
            "scenario": row.scenario.short,
            "title": row.title or row.scenario.title,
            "position": self.position,
            "veil": None if veil is None else [veil.last, veil.phase],
            "question": self.question,
            "lesson": None if row.lesson is None else {"away": False, **row.lesson},
        }

    @property
    def question(self) -> dict[str, Any] | None:
        """The question as the protocol has it."""
        return questions.wire(self.row.question, self.votes)

    @property
    def votable(self) -> bool:
        """Whether there is a question, as far as this process knows, that is not revealed."""
        return self.row.question is not None and not self.row.question["revealed"]

    @property
    def veil(self) -> Veil | None:
        """What is hidden from all but the leader, ``None`` while nothing is asked, or to be."""
        asked, kept = questions.veil_of(self.row.question), (self.row.lesson or {}).get("veil")
        short = self.row.scenario.short
        if kept is not None and (asked is None or asked >= kept[0]):
            return Veil(short, *kept)
        return None if asked is None else Veil(short, asked)

    def named(self) -> list[tuple[str, str]]:
        """Return the people who gave a name."""
        return [(member.person, member.name) for member in self.members.values() if member.name]

    @property
    def lost(self) -> int:
        """How many of those over this process cannot follow."""
        return sum(bool(member.lost) for member in self.members.values() if not member.leads)

    def followers(self) -> list[tuple[str, str, str, str]]:
        """Return who follows: their name, the step of who went elsewhere, and why they cannot follow."""
        members = [one for one in self.members.values() if not (one.leads or one.projects)]
        return list({one.person: (one.person, one.name, one.place, one.lost) for one in members}.values())

    def push(self, name: str, payload: Any, *, latest: bool = False) -> None:
        """Push a frame, encoded once, to everybody; ``latest``: in place of one of that name not yet sent."""
        text = frame(name, None, payload)
        sent = encoded(text)
        for connection in list(self.members):
            connection.push_text(text, name if latest else "", sent)

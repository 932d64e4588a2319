"""Where a run's answers come from: recorded, declared, or by the transport that the operator installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scheduler_core.schedulers.extenders.answers import Answers, RecordedReply, Table, recording
from scheduler_core.schedulers.extenders.configuration import Verb
from scheduler_core.schedulers.extenders.port import ExtenderCall, ExtenderTransport, Reply, digest

MOST_LIVE = 2_000  # calls of one run
MOST_SECONDS = 300.0  # that the calls of one run may take together
SPENT = f"not called: a run makes {MOST_LIVE:,} calls at most, of {MOST_SECONDS:,.0f} s together"


class Asking:
    """The port of one run, shared by its copies: what was answered once is never asked again.

    ``transport`` is ``None`` where nothing may be called; ``run`` returns what identifies the run to it.
    """

    def __init__(
        self, declared: Iterable[Answers], transport: ExtenderTransport | None, run: Callable[[], str] = str
    ) -> None:
        self.table = Table(declared)
        self.transport = transport
        self._run = run
        self._name: str | None = None
        self._seconds = 0.0
        self._replies: dict[tuple[Verb, int, str], RecordedReply] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Asking:
        """Return the port itself: a copied run asks nothing again."""
        return self

    @property
    def state(self) -> tuple[bool, float, dict[tuple[Verb, int, str], RecordedReply]]:
        """Whether it may call, the seconds that calls took, and what was answered."""
        return self.transport is not None, self._seconds, self._replies

    def resume(self, seconds: float, replies: Mapping[tuple[Verb, int, str], RecordedReply]) -> None:
        """Take over what another port of the run was answered in so many seconds."""
        self._seconds = seconds
        self._replies |= replies

    def ask(self, call: ExtenderCall) -> Reply | None:
        """Return the reply to a call, ``None`` if there is none and none may be fetched."""
        known = self.table.find(call)
        if known is not None:
            return known
        if self.transport is None or not self.transport.approves(call.url):
            return None
        body = call.body()
        request = digest(call.url, body)
        key = (call.verb, call.cycle, request)
        if key not in self._replies:
            if len(self._replies) >= MOST_LIVE or self._seconds >= MOST_SECONDS:
                return Reply(0, "", SPENT, 0.0, "live")
            if self._name is None:
                self._name = self._run()
            about = f"{self._name}/{call.cycle}"
            reply = self.transport.post(call.url, body, call.extender.timeout, about)
            self._seconds += reply.seconds
            url = call.extender.url
            self._replies[key] = RecordedReply(url, call.verb, call.cycle, call.pod, request, reply)
        return self._replies[key].reply

    def recording(self) -> dict[str, Any] | None:
        """Return the ``ExtenderAnswers`` of the calls that were made; ``None`` if there were none."""
        return recording(self._replies.values()) if self._replies else None

"""The live stage of a stop: its scenario as a shared one, and the address at which it is framed.

While a prediction is open the frame has a veil: the server answers nothing of the cycle in question and of
those after it (:mod:`playground.live.framing`).
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlencode

from msgspec import Struct

from playground.storage import bundles, store
from scheduler_core.authoring.lessons import Stop
from scheduler_core.authoring.lessons.played import played
from scheduler_core.scenario import scenario as core

PREDICTING = "predict"


class Stage(Struct, frozen=True):
    """The frames of a stop: ``open`` while its question is, ``shown`` once it is answered.

    They are the same where nothing is predicted. ``scenario`` is the short id of what they show.
    """

    scenario: str
    open: str
    shown: str

    @property
    def veiled(self) -> bool:
        """Whether something is hidden while the question is open."""
        return self.open != self.shown


def stage(stop: Stop, text: str, title: str) -> Stage:
    """Return the frames of a stop on the scenario ``text``: the lesson's own, or a variant."""
    short, views = _stored(text, title), ",".join(stop.views)
    phase = stop.phase if stop.step else ""
    if stop.task is None or stop.task.kind != PREDICTING:
        shown = _frame(short, views=views, step=stop.step or "0", phase=phase)
        return Stage(short, shown, shown)
    shown = _frame(short, views=views, step=stop.step or "end")
    index = played(text).cycle(stop.step).index if stop.step else 0
    if not phase:
        last = str(max(0, index - 1))
        return Stage(short, _frame(short, views="", step=last, veil=last), shown)
    at = str(index)
    return Stage(short, _frame(short, views=views, step=at, phase=phase, veil=at, upto=phase), shown)


@lru_cache(maxsize=256)
def _read(text: str, title: str) -> core.Scenario:
    return bundles.parse([("", text)], title)


def _stored(text: str, title: str) -> str:
    """Return the short id of a scenario; share it without an owner on first use."""
    return store.shared_by_nobody(_read(text, title), text).short


def _frame(short: str, **query: str) -> str:
    chosen = {key: value for key, value in query.items() if value or key == "views"}
    return f"/e/{short}/?{urlencode(chosen, safe=',')}"

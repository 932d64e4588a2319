"""The types of what is sent: sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NotRequired, TypedDict

from playground.protocol.declarations import Named


class PhraseWire(TypedDict):
    """A part of a sentence: text, or what the page makes a link or emphasis of."""

    pod: NotRequired[str]
    node: NotRequired[str]
    predicate: NotRequired[str]
    priority: NotRequired[str]
    tab: NotRequired[str]
    group: NotRequired[str]
    job: NotRequired[str]
    strong: NotRequired[str]


Sentence = Annotated[Sequence[str | PhraseWire] | str, Named("Sentence")]


class AbsentWire(TypedDict):
    """In place of a part that has nothing to show: why."""

    why: Sentence

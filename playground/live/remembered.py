"""Sources that commands have found: during a database outage, those that are open remain playable."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from playground.playback import sources
from playground.runtime import outage
from playground.storage import withdrawals

REMEMBERED = 2_000  # the latest sources of a process

#: A visitor, a kind, and the name: a visitor who may not see a source never found it.
SourceKey = tuple[str, str, str]
Lookup = Callable[[], Awaitable[sources.Source]]

#: With the count of withdrawals when it was found; only used in the event loop.
_found: OrderedDict[SourceKey, tuple[sources.Source, int]] = OrderedDict()


async def find(look: Lookup, visitor: str, kind: str, wire: Any, *, owner: bool) -> sources.Source:
    """Return the result of ``look``; during an outage, the open source that it found before.

    Few callers wait for the database then, as its threads are few. Changes by an ``owner`` need the database
    anyway. A withdrawal in this process invalidates what was remembered. Raises what ``look`` does, and
    UnavailableError.
    """
    key = (visitor, kind, json.dumps(wire, sort_keys=True))
    withdrawn = withdrawals.count()
    known, since = _found.get(key, (None, 0))
    if owner or since != withdrawn or (known is not None and not sources.is_open(known)):
        known = None
    if not sources.reads.due():
        if known is None:
            raise outage.UnavailableError
        return known
    try:
        with sources.reads.recorded():
            source = await look()
    except sources.NotFoundError:
        _found.pop(key, None)
        raise
    except Exception as error:
        if known is None or outage.cause_of(error) is None:
            raise
        return known
    _found[key] = source, withdrawn
    _found.move_to_end(key)
    while len(_found) > REMEMBERED:
        _found.popitem(last=False)
    return source

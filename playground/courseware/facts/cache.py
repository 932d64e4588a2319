"""The equivalence cache, and the reuse of batching."""

from __future__ import annotations

from playground.courseware.expression import FactError
from playground.courseware.facts.moment import ShownMoment
from scheduler_core.record.cache_record import CacheRecord


def hits(moment: ShownMoment, at: str = "", of: str = "") -> int:
    """How many answers a cycle took from the cache; in the whole run without ``at``."""
    if at:
        return _record(moment, at, of).counts.hits
    return sum(one.cache.counts.hits for one in moment.ended(of).cycles if one.cache is not None)


def invalidated(moment: ShownMoment, at: str = "", of: str = "") -> list[str]:
    """The predicates whose answers were thrown away since the cycle before; ``all`` for all of them."""
    found: dict[str, None] = {}
    for one in _record(moment, at, of).invalidations:
        found.update(dict.fromkeys(one.predicates if one.predicates is not None else ("all",)))
    return list(found)


def cleared(moment: ShownMoment, at: str = "", of: str = "") -> int:
    """How many valid answers were thrown away since the cycle before."""
    return sum(one.cleared for one in _record(moment, at, of).invalidations)


def stale(moment: ShownMoment, at: str = "", of: str = "") -> list[str]:
    """The cells of a cycle, ``n1/GeneralPredicates``, whose cached answer is no longer true."""
    return [f"{one.node}/{one.predicate}" for one in _record(moment, at, of).stale]


def first_stale(moment: ShownMoment, of: str = "") -> str:
    """The step of the first cycle with a wrong answer from the cache, "" if there is none."""
    cycles = moment.ended(of).cycles
    return next((one.step for one in cycles if one.cache is not None and one.cache.stale), "")


def _record(moment: ShownMoment, at: str, of: str) -> CacheRecord:
    found = moment.decided(at, of).cache
    if found is None:
        raise FactError("the cache is off in this scenario")
    return found


FACTS = (
    hits,
    invalidated,
    cleared,
    stale,
    first_stale,
)

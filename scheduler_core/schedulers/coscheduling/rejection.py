"""The effect of a failed member on its group: waiting members rejected, the group denied or backed off.

PostFilter and Unreserve both return a :class:`Rejection`; the caller rejects the pods.
"""

from __future__ import annotations

from msgspec import Struct

from scheduler_core.schedulers.coscheduling.arguments import Arguments
from scheduler_core.schedulers.coscheduling.editions import Edition
from scheduler_core.schedulers.coscheduling.state import GangState


class Rejection(Struct, frozen=True):
    """The waiting members to reject, with their rejection message.

    ``denied_until`` and ``backed_off_until`` are virtual seconds; ``extended`` is false if a live entry
    already existed, which is not extended by adding it again.
    """

    group: str
    rejected: tuple[str, ...]
    message: str
    denied_until: float | None = None
    backed_off_until: float | None = None
    extended: bool = False
    permission_ended: bool = False


def reject_group(
    edition: Edition,
    arguments: Arguments,
    state: GangState,
    group: str,
    message: str,
    now: float,
    *,
    back_off: bool = False,
) -> Rejection:
    """Reject the group's waiting members and record its failure as the edition does.

    Denial (classic) and back-off (current, if ``back_off``) do not extend a live entry.
    """
    extended = False
    if edition.denies:
        extended = state.denied.add(group, arguments.denied_seconds, now)
    if edition.backs_off and back_off and arguments.backoff_seconds > 0:
        extended = state.backed_off.add(group, arguments.backoff_seconds, now)
    ended = state.permitted.delete(group)
    if edition.failure_sorts:
        state.failed_at[group] = now
    return Rejection(
        group,
        tuple(state.waiting_of(group)),
        message,
        state.denied.until(group, now) if edition.denies else None,
        state.backed_off.until(group, now) if edition.backs_off else None,
        extended,
        ended,
    )

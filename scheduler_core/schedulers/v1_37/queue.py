"""The scheduling queue: active, backing off, unschedulable and gated (pkg/scheduler/backend/queue)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from scheduler_core.schedulers.v1_37.backoff import DEFAULT, Backoff, is_backing_off
from scheduler_core.schedulers.v1_37.clock import SECOND, MillisecondClock, whole_second
from scheduler_core.schedulers.v1_37.entities import Entity, Order, QueuedGroup, QueuedPodInfo
from scheduler_core.schedulers.v1_37.entity_queue import EntityQueue, Numbered, QueueEntry
from scheduler_core.schedulers.v1_37.flights import InFlightPods
from scheduler_core.schedulers.v1_37.interface import ClusterEvent
from scheduler_core.schedulers.v1_37.moves import Move, Moves, combined
from scheduler_core.schedulers.v1_37.pods import CompiledPod
from scheduler_core.schedulers.v1_37.queue_order import ByExpiry, QueueSort, by_expiry, by_order
from scheduler_core.schedulers.v1_37.unschedulable import UnschedulableEntities

LEFTOVER_AFTER = 300 * SECOND
"""How long an entity may be unschedulable before it is moved anyway (podMaxInUnschedulablePodsDuration)."""

LEFTOVER_EVERY = 30 * SECOND
"""How often that is looked at."""

TIMEOUT = ClusterEvent("", "UnschedulableTimeout", None, None)
ACTIVATE = "ForceActivate"
"""The event of a pod that a plugin has made active."""
REFILED = "UnscheduledPodAdd"
"""The event under which a group is filed again when its members change."""


class QueueingRules(Protocol):
    """What the queue asks of the plugins."""

    def gate(self, waiting: QueuedPodInfo) -> str | None:
        """Return the plugin whose PreEnqueue refuses the pod, or None."""
        ...

    def answers(self, waiting: QueuedPodInfo, event: ClusterEvent) -> dict[str, str]:
        """Return the hints of the plugins that rejected the pod and registered the event."""
        ...

    def registered(self, event: ClusterEvent) -> frozenset[str]:
        """Return the plugins that registered the event."""
        ...


class SchedulingQueue:
    """Entities in their queues, and the moves between them."""

    def __init__(
        self, clock: MillisecondClock, rules: QueueingRules, moves: Moves, backs_off: Backoff = DEFAULT
    ) -> None:
        self.clock = clock
        self.backs_off = backs_off
        self.rules = rules
        self.moves = moves
        self.active = EntityQueue(by_order)
        self.backoff = EntityQueue(by_expiry)
        self.error_backoff = EntityQueue(by_expiry)
        self.unschedulable = UnschedulableEntities()
        self.flights = InFlightPods()

        self.popped = 0
        """Number of cycles so far."""

        self._arrivals = 0
        self.sort: QueueSort | None = None
        """The plugin that sorts in the place of PrioritySort."""

    # Sorting.

    def sort_by(self, sort: QueueSort) -> None:
        """Have a plugin sort the queue."""
        self.sort = sort
        self.resort()

    def resort(self) -> None:
        """Sort again after what the plugin compares has changed."""
        if self.sort is None:
            return
        self.active.rank_by(self.sort.rank)
        self.backoff.rank_by(ByExpiry(self.sort).rank)
        self.error_backoff.rank_by(ByExpiry(self.sort).rank)

    def rank(self, entity: Entity) -> tuple[Any, ...]:
        """Return what the queue sorts by."""
        return entity.order if self.sort is None else self.sort.rank(entity)

    # Reading.

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits: there is nothing to try, and nothing that time moves."""
        return not (
            self.active.entities
            or self.unschedulable.entities
            or self.backoff.entities
            or self.error_backoff.entities
        )

    @property
    def hears(self) -> bool:
        """Whether an event is noted: somebody is asked about it, or an attempt is under way."""
        return bool(self.unschedulable.entities) or bool(self.flights)

    def find(self, key: str) -> Entity | None:
        """Return the entity of that key wherever it waits."""
        for ranked in (self.active, self.backoff, self.error_backoff):
            entity = ranked.get(key)
            if entity is not None:
                return entity
        return self.unschedulable.get(key)

    def waiting(self) -> Iterator[tuple[QueuedPodInfo, str]]:
        """Yield every waiting pod with the name of its queue."""
        for name, entities in (
            ("active", self.active),
            ("backoff", self.backoff),
            ("errorBackoff", self.error_backoff),
            ("", self.unschedulable.values()),
        ):
            for entity in entities:
                queue = name or ("gated" if entity.gated_by else "unschedulable")
                for member in entity.members:
                    yield member, queue

    # Arrival.

    def number(self) -> int:
        """Return the next number of arrival."""
        self._arrivals += 1
        return self._arrivals

    def enter(self, entity: Entity) -> None:
        """Add a new entity: active, unless a plugin gates it."""
        self._to_active(entity)

    def is_still(self, event: ClusterEvent) -> bool:
        """Return whether nothing would be done for the event, and nothing for time that passes."""
        waits = self.flights or self.unschedulable.rejected() or len(self.backoff) or len(self.error_backoff)
        return not waits and not self.unschedulable.reached(self.rules.registered(event))

    def wakes_nobody(self, event: ClusterEvent) -> bool:
        """Return whether the event means nothing to any entity that waits for one."""
        registered = self.rules.registered(event)
        return all(
            isinstance(entity, QueuedPodInfo) and entity.is_indifferent(registered)
            for entity in self.unschedulable.reached(registered)
        )

    def enter_replicas(self, pods: Iterable[CompiledPod], *, apart: int) -> None:
        """Let pods in that no plugin gates, with so many milliseconds after each; see :meth:`is_still`."""
        self.active.add_ranked(self._arriving(pods, apart))

    def _arriving(
        self, pods: Iterable[CompiledPod], apart: int
    ) -> Iterator[tuple[Order, str, QueuedPodInfo]]:
        """Yield an entry of the active queue for each pod, at the time of its arrival."""
        clock, backoff = self.clock, self.backs_off
        for pod in pods:
            self._arrivals += 1
            info = QueuedPodInfo(pod, self._arrivals, clock.now, backoff=backoff)
            yield info.order, pod.key, info
            clock.now += apart

    def remove(self, key: str) -> tuple[Entity | None, str]:
        """Remove an entity; return it with the queue it was in."""
        for name, ranked in (
            ("active", self.active),
            ("backoff", self.backoff),
            ("backoff", self.error_backoff),
        ):
            entity = ranked.remove(key)
            if entity is not None:
                return entity, name
        return self.unschedulable.pop(key), "unschedulable"

    def file_again(self, group: QueuedGroup, queue: str) -> None:
        """Put a group whose members changed back where it was: each time under the event of an added pod."""
        if queue == "unschedulable":
            self.unschedulable.put(group)
            return
        backing_off = queue == "backoff" and self._backing_off(group)
        to = self._to_backoff(group) if backing_off else self._to_active(group)
        self.moves.add(Move(REFILED, group.key, {}, to, group=True))

    # Scheduling.

    def pop(self) -> Entity | None:
        """Remove and return the head of the active queue, else of the backoff queue, whatever its expiry."""
        entity = self.active.pop() or self.backoff.pop()
        if entity is None:
            return None
        for member in entity.members:
            member.attempts += 1
            member.rejected_by = member.pending = frozenset()
        self.flights.begin(entity.key)
        self.popped += 1
        return entity

    def pop_all(self, entries: Sequence[QueueEntry]) -> None:
        """Remove the first active entities, which have these entries; their flights have ended."""
        self.active.pop_all(entries)
        self.popped += len(entries)

    def put_back(self, entries: Sequence[QueueEntry], entities: Iterable[Numbered]) -> None:
        """Undo the cycles of the entities that were popped last, from the first one to the last."""
        self.active.put_back(entries, entities)
        self.popped -= len(entries)

    def done(self) -> None:
        """End the flight of the entity that was popped."""
        self.flights.end()

    def force_active(self, keys: Iterable[str]) -> list[str]:
        """Make pods active, whatever is left of their backoff, or once they come back; return the moved."""
        moved = []
        for key in keys:
            entity, _ = self.remove(key) if self.active.get(key) is None else (None, "")
            if entity is not None and (to := self._to_active(entity)) is not None:
                self.moves.add(Move(ACTIVATE, key, {}, to))
                moved.append(key)
            else:
                self.flights.activate(key)
        return moved

    def requeue(self, waiting: QueuedPodInfo) -> str:
        """File a pod whose attempt failed; return its queue.

        An event during the attempt that would have moved it moves it now; the record leaves out where to.
        """
        flight = self.flights.land(waiting.key)
        if not waiting.rejectors:
            return self._to_backoff(waiting) or "unschedulable"
        for event in flight.events:
            hints = self.rules.answers(waiting, event)
            self.moves.add(Move(event.name, waiting.key, hints, None))
            if any(answer != "QueueSkip" for answer in hints.values()):
                return self._requeue(waiting, hints) or "unschedulable"
        if flight.activated:
            return self._requeue(waiting, {}) or "unschedulable"
        self.unschedulable.put(waiting)
        return "unschedulable"

    def requeue_group(self, group: QueuedGroup) -> None:
        """File a group after its cycle: backing off, or active at once."""
        if self._backing_off(group):
            self._to_backoff(group)
        else:
            self._to_active(group)

    def activate(self, group: QueuedGroup) -> None:
        """File a group as active without backoff."""
        self._to_active(group)

    # Events.

    def broadcast(self, event: ClusterEvent, *, at_most: int | None = None, but: str = "") -> None:
        """Ask every unschedulable entity whether the event helps it, except that of the key ``but``.

        ``at_most``: only pods of at most that priority are asked.
        """
        if self.unschedulable.entities:
            self._ask_reached(event, at_most, but)
        self.flights.add(event)

    def _ask_reached(self, event: ClusterEvent, at_most: int | None, but: str) -> None:
        registered = self.rules.registered(event)
        for entity in self.unschedulable.reached(registered):
            if entity.key == but:
                continue
            if isinstance(entity, QueuedPodInfo) and entity.is_indifferent(registered):
                continue
            if at_most is None or any(member.priority <= at_most for member in entity.members):
                self._ask(entity, event)

    def notify(self, key: str, event: ClusterEvent) -> bool:
        """Requeue one unschedulable entity if a change of its own pod helps it; return whether it moved."""
        entity = self.unschedulable.get(key)
        return entity is not None and self._ask(entity, event) is not None

    def _ask(self, entity: Entity, event: ClusterEvent) -> str | None:
        hints: dict[str, str] = {}
        helps = event is TIMEOUT
        immediately = False
        for member in entity.members:
            answers = {} if event is TIMEOUT else self.rules.answers(member, event)
            hints = combined(hints, answers)
            if not member.rejectors:
                helps = True
            for plugin, answer in answers.items():
                if answer != "QueueSkip":
                    helps = True
                    immediately = immediately or plugin in member.pending
        to = None
        if helps:
            self.unschedulable.pop(entity.key)
            backing_off = not immediately and self._backing_off(entity)
            to = self._to_backoff(entity) if backing_off else self._to_active(entity)
        self.moves.add(Move(event.name, entity.key, hints, to, group=isinstance(entity, QueuedGroup)))
        return to

    # Time.

    def pass_to(self, moment: int) -> None:
        """Advance the time, flushing the queues at the seconds at which something is due."""
        while True:
            due = self.next_due()
            if due is None or due > moment:
                break
            self.clock.pass_to(due)
            self.flush(leftover=due % LEFTOVER_EVERY == 0)
        self.clock.pass_to(moment)

    def flush(self, *, leftover: bool) -> None:
        """Move what is due now, with ``leftover`` also what has been unschedulable for too long."""
        self._flush_backoff()
        if leftover:
            self._flush_leftover()

    def next_due(self) -> int | None:
        """Return the next second, after now, at which a flush would move something."""
        if not (self.backoff.entities or self.error_backoff.entities or self.unschedulable.entities):
            return None
        now = self.clock.now
        due = []
        for ranked in (self.backoff, self.error_backoff):
            first = ranked.first()
            if first is not None:
                due.append((first.backoff_expires or 0) + SECOND)
        # Gated entities are not moved by time: their plugins would refuse again.
        since = self.unschedulable.oldest()
        if since is not None:
            grid = (since + LEFTOVER_AFTER) // LEFTOVER_EVERY + 1
            due.append(grid * LEFTOVER_EVERY)
        return max(min(due), whole_second(now) + SECOND) if due else None

    def _flush_backoff(self) -> None:
        for ranked in (self.backoff, self.error_backoff):
            while (entity := ranked.first()) is not None and not self._backing_off(entity):
                ranked.remove(entity.key)
                self.active.add(entity)  # PreEnqueue ran when it began to back off

    def _flush_leftover(self) -> None:
        for entity in list(self.unschedulable.values()):
            if self.clock.now - entity.since > LEFTOVER_AFTER:
                self._ask(entity, TIMEOUT)

    # Filing.

    def _backing_off(self, entity: Entity) -> bool:
        return is_backing_off(entity.backoff_expires, self.clock.now)

    def _requeue(self, waiting: QueuedPodInfo, hints: dict[str, str]) -> str | None:
        immediately = any(
            plugin in waiting.pending for plugin, answer in hints.items() if answer != "QueueSkip"
        )
        if not immediately and self._backing_off(waiting):
            return self._to_backoff(waiting)
        return self._to_active(waiting)

    def _to_active(self, entity: Entity) -> str | None:
        if self._gated(entity):
            return None
        if self.sort is not None:
            self._note_entry(entity)
        self.active.add(entity)
        return "active"

    def _note_entry(self, entity: Entity) -> None:
        for member in entity.members:
            if member.entered is None:
                member.entered = self.clock.now

    def _to_backoff(self, entity: Entity) -> str | None:
        if self._gated(entity):
            return None
        (self.backoff if entity.rejectors else self.error_backoff).add(entity)
        return "backoff"

    def _gated(self, entity: Entity) -> bool:
        """Run PreEnqueue on every member; an entity with a refused one is gated."""
        gated_by = None
        for member in entity.members:
            member.gated_by = self.rules.gate(member)
            if member.gated_by:
                member.rejected_by |= {member.gated_by}
                gated_by = member.gated_by
        entity.gated_by = gated_by
        if gated_by:
            self.unschedulable.put(entity)
        return gated_by is not None

    def document(self, nominated: dict[str, str]) -> dict[str, Any]:
        """Return the record's form of all waiting pods. ``nominated``: node by pod."""
        return {
            waiting.key: queue_entry(waiting, queue, nominated.get(waiting.key))
            for waiting, queue in sorted(self.waiting(), key=lambda row: row[0].key)
        }


def queue_entry(waiting: QueuedPodInfo, queue: str, nominated: str | None) -> dict[str, Any]:
    """Return the record's form of one waiting pod."""
    return {
        "queue": queue,
        "unschedulablePlugins": sorted(waiting.rejected_by),
        "pendingPlugins": sorted(waiting.pending),
        "gatedBy": waiting.gated_by,
        "nominatedNodeName": nominated or None,
    }


def new_pod(queue: SchedulingQueue, pod: CompiledPod) -> QueuedPodInfo:
    """Return a pod that arrives now."""
    return QueuedPodInfo(pod, queue.number(), queue.clock.now, backoff=queue.backs_off)

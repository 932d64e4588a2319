"""What a workbench asks about a scenario, asked beforehand: the answers of a whole run, each text once."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from playground.limits import limit
from playground.live.errors import CommandError
from playground.live.halls import Veil
from playground.panels.cycle import INSPECT
from playground.playback.cycle_search import KINDS, Match, matches
from playground.playback.deadlines import TooMuchWorkError
from playground.playback.playback import SLICE_SECONDS, Playback
from playground.playback.sources import Source, open_playback
from playground.playback.veil import veiled
from playground.recordings.client import LocalClient
from playground.wire import encode
from scheduler_core.progress import Watch, unwatched
from scheduler_core.schedulers.v1_11.equivalence.pages import LEVELS

MIB = 2**20
Question = tuple[str, dict[str, Any]]
#: Cycles that a page asks for at once, by the number of nodes, as in static/js/workbench/playback/records.ts.
SPANS = ((600, 50), (2_000, 20))
LARGEST_SPAN = 8
PARTS = (*INSPECT, "moments", "cuts", "policy")
END = "end"  # in place of the parts of the step after the last cycle
EXTRA_SECONDS = 10.0  # for what is asked beyond the tabs' own answers
QUESTIONS = 2_000  # of each kind of these
WAITING = 20  # failed attempts about which Why? is asked
RANKED = 3  # nodes of a cycle whose scores are explained
CANDIDATES, STEPS = 50, 150  # of a page: those of static/js/workbench/inspect
NAMED_CELLS = 500_000  # pods and nodes × cycles that are searched for breakpoints
ROUTINE = ("session.hello", "policy.catalogue", "scenario.triage", "scenario.recorded", "contracts.ready")


class TooLongError(TooMuchWorkError):
    """The run is too large for one file; the message says what would fit."""


class Recording(Struct, frozen=True):
    """The answers of a run.

    ``texts`` are JSON, each once, in the order in which a page that steps forward needs them; the others are
    places among them: of ``answers`` by :func:`key_of`, of ``parts`` by part and cycle, from the first.
    ``found`` are the cycles in which each condition of ``cycle.find`` holds.
    """

    texts: list[str]
    answers: dict[str, int]
    parts: dict[str, list[int]]
    steps: list[str]
    found: dict[str, list[Match]]
    release: str
    charts: bool = False  # there is something to draw over time


def key_of(command: str, payload: dict[str, Any]) -> str:
    """Return the key of a question, without its source and the pods that the client knows."""
    asked = {name: payload[name] for name in sorted(payload) if name not in ("source", "pods")}
    return encode([command, asked])


def played(source: Source, watch: Watch = unwatched) -> Playback:
    """Return a source's playback, computed to its end; raises TooLongError beyond a recording's bounds."""
    playback = open_playback(source)
    nodes = max(1, len(playback.tables.node_index))
    most = min(limit("RECORDING_CYCLES"), limit("RECORDING_CELLS") // nodes)
    while playback.advance(SLICE_SECONDS):
        watch("playing", len(playback), most)
        if len(playback) > most:
            break
    if len(playback) > most:
        raise TooLongError(
            f"A file holds at most {most:,} cycles of {nodes:,} nodes, and this run has more. Share a link, "
            "or end the run earlier (`until` of SimulationSettings)."
        )
    if playback.stopped:
        raise TooLongError(f"The run cannot be recorded to its end. {playback.stopped}")
    return playback


def check_size(size: int) -> None:
    """Raise TooLongError beyond the bytes that the answers of a file may have."""
    if size > limit("RECORDING_MIB") * MIB:
        raise TooLongError(
            f"The answers about this run have more than {limit('RECORDING_MIB'):,} MiB, all that "
            "a file may hold. Share a link, or record fewer nodes or cycles."
        )


async def record(
    source: Source, threads: list[dict[str, Any]], watch: Watch = unwatched, veil: Veil | None = None
) -> Recording:
    """Return what a page is answered about a source, whose comments are ``threads``; nothing behind a veil.

    Raises TooLongError, and what reading the source raises.
    """
    playback = played(source, watch)
    if veil is not None:
        playback = veiled(playback, min(veil.last, len(playback)), veil.phase)
    return await _Recorder(LocalClient(source, veil), playback, watch).run(threads)


class _Recorder:
    def __init__(self, client: LocalClient, playback: Playback, watch: Watch) -> None:
        self.client = client
        self.playback = playback
        self.watch = watch
        self.last = len(playback)
        self.made = Recording(
            [], {}, {name: [] for name in (*PARTS, "events")}, [], {}, playback.scenario.release
        )
        self._places: dict[str, int] = {}
        self._bytes = 0

    async def run(self, threads: list[dict[str, Any]]) -> Recording:
        """Ask what opening asks, then what each step and its tabs ask, then more as long as there is time."""
        await self.ask("scenario.open")
        await self.ask("timeline.get", **{"from": 1, "to": self.last})
        if threads:
            scenario = self.client.source.wire["scenario"]
            self.keep("comment.watch", {}, encode({"scenario": scenario, "threads": threads}))
        for command in ROUTINE:
            await self.ask(command)
        await self.ask("policy.text")
        over_time = json.loads(await self.ask("availability.get") or "null")
        listed = json.loads(await self.ask("operations.list") or '{"operations": []}')
        for operation in listed["operations"]:
            await self.ask("operations.outcome", id=operation["id"])
        await self._steps()
        await self._extras()
        return replace(self.made, charts=bool(over_time and over_time["workloads"]))

    def put(self, text: str) -> int:
        """Return the place of a text, which is kept once."""
        place = self._places.get(text)
        if place is None:
            place = self._places[text] = len(self.made.texts)
            self.made.texts.append(text)
            self._bytes += len(text)
            check_size(self._bytes)
        return place

    def keep(self, command: str, payload: dict[str, Any], text: str) -> None:
        """Keep the answer to a question."""
        self.made.answers[key_of(command, payload)] = self.put(text)

    async def ask(self, command: str, **payload: Any) -> str | None:
        """Keep the answer to a question, and return it; None where it is refused, as it is on the page."""
        try:
            text = await self.client.answer(command, **payload)
        except CommandError:
            return None
        self.keep(command, payload, text)
        return text

    async def _steps(self) -> None:
        span = _span(len(self.playback.tables.node_index))
        policies = False
        for index in range(1, self.last + 1):
            self.watch("recording", index, self.last)
            if index % span == 1:
                await self._window(index, min(span, self.last - index + 1))
            answer = json.loads(await self.client.answer("cycle.get", step=str(index), parts=[*PARTS]))
            self._part(answer)
            await self.ask("objects.list", step=str(index))
            policies = policies or bool(answer["policy"])
            if policies and index > 1:
                await self.ask("policy.text", step=self.made.steps[index - 2])
        await self.ask("objects.list", step="0")
        if self.playback.ended:
            self.keep(END, {}, await self.client.answer("cycle.get", step=END, parts=[]))
        if self.client.veil is None:  # a search would reveal later steps
            self.made.found.update(matches(self.playback, self._conditions()))

    async def _window(self, first: int, count: int) -> None:
        window = await self.ask("cycles.window", **{"from": first, "count": count})
        for light in json.loads(window or "null")["cycles"]:
            self.made.parts["events"].append(self.put(encode(light["events"])))

    def _part(self, answer: dict[str, Any]) -> None:
        self.made.steps.append(answer["step"])
        for name in PARTS:
            self.made.parts[name].append(self.put(encode(answer[name])))

    def _conditions(self) -> list[str]:
        """Return the conditions whose cycles are recorded: those of every kind, and of every name if few."""
        tables = self.playback.tables
        names = [f"node:{name}" for name in tables.node_index] + [f"pod:{key}" for key in tables.pod_index]
        general = [name for name, kind in KINDS.items() if not kind.needs]
        return general + (names if len(names) * self.last <= NAMED_CELLS else [])

    async def _extras(self) -> None:
        """Ask what opens in a tab, kind by kind, as long as there is time."""
        until = time.monotonic() + EXTRA_SECONDS
        for questions in (
            self._why,
            self._preemption,
            self._groups,
            self._sessions,
            self._cache,
            self._scores,
        ):
            for count, (command, payload) in enumerate(questions()):
                if count >= QUESTIONS or time.monotonic() > until:
                    break
                await self.ask(command, **payload)

    def _why(self) -> Iterator[Question]:
        """Ask why the first pods that end without a node have none, at the end and where they were tried."""
        marks = self.playback.trail.marks(1, self.last) if self.last else {"result": "", "pod": []}
        keys = list(self.playback.tables.pod_index)
        failed = [(i, pod) for i, pod in enumerate(marks["pod"], 1) if marks["result"][i - 1] in "uep"]
        for index, pod in failed[:WAITING]:
            for step in {str(index), str(self.last)}:
                yield "why.ask", {"pod": keys[pod], "step": step}

    def _preemption(self) -> Iterator[Question]:
        for index, part in self._parts("preemption"):
            listed = part.get("candidates") or {"count": 0, "rows": []}
            for row in listed["rows"]:
                yield "preemption.run", {"cycle": index, "node": row["node"]}
            for first in range(len(listed["rows"]), listed["count"], CANDIDATES):
                yield "preemption.candidates", {"cycle": index, "from": first, "count": CANDIDATES}

    def _groups(self) -> Iterator[Question]:
        for index, part in self._parts("podgroups", end=True):
            for key, *_ in part.get("groups", ()):
                yield "podgroup.get", {"cycle": index, "group": key}

    def _sessions(self) -> Iterator[Question]:
        for index, part in self._parts("session"):
            steps = part.get("steps") or {"count": 0}
            for first in range(STEPS, steps["count"], STEPS):
                asked = {"cycle": index, "from": first, "count": STEPS}
                yield "kubebatch.steps", {**asked, "action": "", "job": ""}

    def _cache(self) -> Iterator[Question]:
        for index, part in self._parts("cache"):
            if "counts" in part:
                yield "cache.classes", {"cycle": index, "from": 0, "count": 25}
                for by in LEVELS:
                    yield "cache.map", {"cycle": index, "by": by, "from": 0, "count": 50}

    def _scores(self) -> Iterator[Question]:
        """Ask how the scores of the nodes that rank first came about."""
        for index, part in self._parts("priorities"):
            ranked = sorted(zip(part.get("totals", ()), part.get("nodes", ())), key=lambda one: -one[0])
            first = [part.get("winner"), *(node for _, node in ranked[:RANKED])]
            for node in dict.fromkeys(node for node in first if node is not None):
                for priority in range(len(part["rows"])):
                    yield "scores.explain", {"cycle": index, "node": node, "priority": priority}

    def _parts(self, name: str, *, end: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield each cycle's index with a part of it; with ``end`` also that of the state after the last."""
        for index, place in enumerate(self.made.parts[name], 1):
            yield index, json.loads(self.made.texts[place])
        if end and key_of(END, {}) in self.made.answers:
            yield self.last + 1, json.loads(self.made.texts[self.made.answers[key_of(END, {})]])[name]


def _span(nodes: int) -> int:
    return next((span for most, span in SPANS if nodes <= most), LARGEST_SPAN)

"""Costs and savings of a cache on a source, and where another mode diverges, computed in slices.

An answer is cached by its source's content, so that a repeated question takes no time. A question that is
already being computed is not computed twice: later callers wait for it; it is abandoned once none waits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Struct

from playground.calls.requests import Parameter, Request, one_of
from playground.edits import branches
from playground.edits.configuration import configured
from playground.limits import limit
from playground.models import Draft
from playground.models import Scenario as ScenarioRow
from playground.playback import sources
from playground.playback.answers import RecentAnswers
from playground.playback.deadlines import TooMuchWorkError
from playground.playback.executor import in_engine, in_storage
from playground.playback.playback import SLICE_SECONDS
from playground.pool import offload
from playground.pool.jobs import pool_job
from playground.pool.shares import BusyError
from playground.storage import bundles, store, texts
from playground.visitors import identity
from playground.wire import Encoded, encode
from scheduler_core.compare.cost import Cost, Progress, measuring, with_cache
from scheduler_core.compare.divergence import RunDivergence, diverging
from scheduler_core.kubernetes.problems import BundleError, PolicyError
from scheduler_core.scenario.scenario import Scenario
from scheduler_core.settings.release import CACHING, CONFIGURATION_KIND, row_of
from scheduler_core.settings.settings import CACHE_MODES, EQUIVALENCE_CLASSES, STALE_WRITES

READING = ("reading", "checking", "assembling")  # stages of reading; any other is a strategy's name
ANSWERS_KEPT = 256
ANSWER_BYTES = 8 * 2**20  # of all cached answers
JOBS_AT_ONCE = 16  # each holds one or two clusters in memory

_FIELDS = {"cache": "cache", "equivalenceClass": "equivalence_class", "staleWrites": "stale_writes"}

CostProgress = tuple[int, int, str]  # cycles done, cycles expected, strategy
SettingPairs = tuple[tuple[str, str], ...] | None
CostWork = Generator[CostProgress, None, Any]  # returns a JSON-serializable value


class NoCacheError(ValueError):
    """A scheduler of the scenario has no equivalence cache under any setting."""

    def __init__(self, release: str) -> None:
        under = row_of(release).title.removesuffix(": ") or f"a {CONFIGURATION_KIND}"
        super().__init__(
            f"Under {under} there is no equivalence cache to compare: "
            "kube-scheduler removed it before profiles existed. v1.11 has one."
        )


class CostQuestion(Struct, frozen=True):
    """A question about a source: its costs or, with ``settings``, where it diverges under these."""

    source: sources.Source
    settings: SettingPairs = None

    @property
    def key(self) -> Hashable:
        """The cache key of an answer; it changes when a draft is saved."""
        return (self.source.key, self.settings)

    @property
    def large(self) -> bool:
        """Whether the pool computes it. Of a draft only the size of its text is known."""
        row = self.source.row
        work = row.nodes * row.pods if isinstance(row, ScenarioRow) else 0
        return offload.enabled() and (work > offload.WORK or sources.is_large(self.source))


def _begun(stored: sources.Stored, settings: SettingPairs) -> CostWork:
    """Read a source and return the work. Raises BundleError, NoCacheError or the error of a limit."""
    scenario = _read(stored)
    return _costs(scenario) if settings is None else _usable(_other(scenario, dict(settings)))


def _usable(work: CostWork) -> CostWork:
    """Yield from work; a mode that the policy excludes is an error of the input."""
    try:
        return (yield from work)
    except PolicyError as error:
        raise BundleError(error.problems) from error


_Mode = Parameter("cache", f"The other mode, {one_of(CACHE_MODES).description}")
_Class = Parameter("equivalenceClass", "controller or attributes; defaults to the scenario's own")
_Writes = Parameter("staleWrites", "none, isUpToDate or generations; defaults to the scenario's own")
_Audit = Parameter("audit", "false disables the check of hits; it changes no decision")


class CacheRequest(Request):
    """Another mode of the equivalence cache; what is not given is as the scenario has it."""

    cache: Annotated[str, one_of(CACHE_MODES), _Mode]
    equivalence_class: Annotated[str, one_of(EQUIVALENCE_CLASSES), _Class] | None = None
    stale_writes: Annotated[str, one_of(STALE_WRITES), _Writes] | None = None
    audit: Annotated[str, one_of(("true", "false")), _Audit] | None = None


def under(source: sources.Source, asked: CacheRequest) -> CostQuestion:
    """Return the question where a source diverges under other cache settings."""
    chosen = {name: value for name, value in asked.wire.items() if name != "source"}
    return CostQuestion(source, tuple(sorted(chosen.items())))


def copy(question: CostQuestion, visitor: str) -> Draft:
    """Store a copy of the source with these settings as a draft of the visitor. Raises BundleError."""
    source, chosen = question.source, dict(question.settings or ())
    [(kind, name)] = source.wire.items()
    based_on = f"{kind}:{name}"
    if isinstance(source.row, Draft):
        based_on = source.row.based_on
    text = source.text()
    for key, value in chosen.items():
        text = configured(text, "setting", key, value)["text"]
    [(_, text)] = texts.presumed([("", text)], CACHING)  # without a cache nothing else may name it
    title = store.clean_title(f"{source.title or 'Untitled'}: cache {chosen['cache']}")
    scenario = bundles.parse([("", text)], title)
    changed = tuple(f"{key} {value}" for key, value in chosen.items())
    origin = branches.origin_of(source, words=changed)
    draft = store.create_draft(visitor, [("", text)], title, based_on, origin)
    sources.seed(draft, scenario)
    return draft


def _read(stored: sources.Stored) -> Scenario:
    scenario = stored.load()
    framework = any(configuration.in_framework for configuration in scenario.configurations)
    if framework or (scenario.row.answers_alone and not scenario.row.has_cache):
        raise NoCacheError(scenario.release)
    work = bundles.interactive_work(scenario)
    if work > limit("INTERACTIVE_WORK"):
        nodes, pods, _ = bundles.counts(scenario)
        raise TooMuchWorkError(_too_much(f"{nodes:,} nodes and {pods:,} pods are"))
    return scenario


def _too_much(what: str) -> str:
    return (
        f"{what} too much to run several times while you wait. The command line does: `cost FILE` prints "
        "these figures, `compare FILE --cache MODE` where two modes part. Or start a run under each mode."
    )


def _costs(scenario: Scenario) -> CostWork:
    work = measuring(scenario)
    while True:
        try:
            progress: Progress = next(work)
        except StopIteration as end:
            costs: list[Cost] = end.value
            return {"rows": [cost.as_dict() for cost in costs]}
        yield progress.done, progress.total, progress.strategy


def _other(scenario: Scenario, settings: dict[str, str]) -> CostWork:
    audit = settings.get("audit", "true") == "true"  # it changes no decision
    wanted = {_FIELDS[name]: value for name, value in settings.items() if name in _FIELDS}
    work = diverging(with_cache(scenario, audit=audit), with_cache(scenario, **wanted, audit=audit))
    while True:
        try:
            done, expected = next(work)
        except StopIteration as end:
            found: RunDivergence = end.value
            return found.as_dict()
        yield done, expected, settings["cache"]


answers = RecentAnswers(ANSWERS_KEPT, ANSWER_BYTES)


@dataclass(slots=True)
class Slices:
    """Work done in slices. Raises TooMuchWorkError beyond the time limit of interactive computing."""

    begin: Callable[[], CostWork]
    report: CostProgress = (0, 0, "")
    _work: CostWork | None = None
    _seconds: float = 0.0

    def turn(self) -> Encoded | None:
        """Run one slice; return the answer once it is complete."""
        began, began_cpu = time.monotonic(), time.thread_time()
        if self._work is None:
            self._work = self.begin()
        while time.monotonic() - began < SLICE_SECONDS:
            try:
                self.report = next(self._work)
            except StopIteration as end:
                return Encoded(encode(end.value))
        self._seconds += time.thread_time() - began_cpu  # time spent waiting for other threads does not count
        if self._seconds > limit("INTERACTIVE_SECONDS"):
            raise TooMuchWorkError(_too_much(f"More than {limit('INTERACTIVE_SECONDS')} seconds are"))
        return None


def answered(question: CostQuestion) -> Encoded:
    """Compute an answer in this thread or in the pool, unless it is cached."""
    answer = answers.get(question.key)
    if answer is None:
        stored = question.source.stored()
        if question.large:
            answer = offload.compute(identity.asker(), worked_out, stored, question.settings, long=True)
        else:
            answer = worked_out(stored, question.settings)
        answers.put(question.key, answer)
    return answer


@pool_job
def worked_out(stored: sources.Stored, settings: SettingPairs) -> Encoded:
    """Compute an answer in this thread; report progress per strategy to the watch of bundle reading."""
    slices, watch = Slices(lambda: _begun(stored, settings)), bundles.watching()
    while (answer := slices.turn()) is None:
        done, total, strategy = slices.report
        watch(strategy, done, total)
    return answer


@dataclass(slots=True)
class CostJob:
    """A question being computed for ``asker``, and the number of callers waiting for it."""

    question: CostQuestion
    asker: str
    report: CostProgress = (0, 0, "")
    task: asyncio.Task[Encoded | None] = field(init=False)
    waiting: int = 0

    async def run(self) -> Encoded | None:
        """Compute and cache the answer; return ``None`` if no caller waits for it any longer."""
        answer = await (self._in_pool() if self.question.large else self._in_turns())
        if answer is not None:
            answers.put(self.question.key, answer)
        return answer

    async def _in_turns(self) -> Encoded | None:
        slices = Slices(lambda: _begun(self.question.source.stored(), self.question.settings))
        while self.waiting:
            answer = await in_engine(self.asker, slices.turn)
            self.report = slices.report
            if answer is not None:
                return answer
        return None

    async def _in_pool(self) -> Encoded | None:
        stored = await in_storage(self.question.source.stored)
        try:
            return await offload.computed(
                self.asker, worked_out, stored, self.question.settings, watch=self._hear, long=True
            )
        except _Unwanted:
            return None

    def _hear(self, stage: str, done: int, of: int) -> None:
        if not self.waiting:
            raise _Unwanted
        if stage not in READING:
            self.report = (done, of, stage)


class _Unwanted(Exception):  # noqa: N818 - a signal within this module
    """No caller waits for the answer any longer."""


_jobs: dict[Hashable, CostJob] = {}
WAIT_SECONDS = 0.1  # between two polls of a job


async def wait_for(
    question: CostQuestion, asker: str, unwanted: Callable[[], bool], notify: Callable[[CostProgress], None]
) -> Encoded | None:
    """Return the answer, reporting progress while it is computed; ``None`` once it is unwanted.

    Raises BusyError if too many other jobs are running, and whatever :func:`worked_out` raises.
    """
    kept = answers.get(question.key)
    if kept is not None:
        return kept
    job = _job(question, asker)
    job.waiting += 1
    reported: CostProgress = (0, 0, "")
    try:
        while not unwanted():
            done, _ = await asyncio.wait({job.task}, timeout=WAIT_SECONDS)
            if done:
                return job.task.result()
            if job.report != reported:
                reported = job.report
                notify(reported)
    finally:
        job.waiting -= 1
        if not job.waiting and _jobs.get(question.key) is job:
            del _jobs[question.key]
    return None


def _job(question: CostQuestion, asker: str) -> CostJob:
    """Return the job for a question in this event loop; start one if there is none."""
    loop = asyncio.get_running_loop()
    for key in [key for key, job in _jobs.items() if job.task.get_loop() is not loop]:
        del _jobs[key]  # of a closed event loop
    job = _jobs.get(question.key)
    if job is None or job.task.done():
        if len(_jobs) >= JOBS_AT_ONCE:
            raise BusyError("The server is busy with other computations; try again in a minute.")
        job = _jobs[question.key] = CostJob(question, asker)
        job.task = loop.create_task(job.run())
        # retrieve its exception even if the last caller has just left
        job.task.add_done_callback(lambda task: task.cancelled() or task.exception())
    return job

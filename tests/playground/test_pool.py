"""The pool's processes: turns, bounds, death, overruns, progress, cancelling, and no process left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError as FutureCancelledError
from pathlib import Path

import pytest

from playground.edits.edit_operations import ObjectError
from playground.pool import offload
from playground.pool.pool import Pool
from playground.pool.process import CancelledError, JobError, LostError, OverrunError
from playground.pool.shares import Bounds, BusyError
from playground.pool.transfer import packed, unpacked
from playground.storage import bundles
from scheduler_core.kubernetes.replicas import with_replicas, with_replicas_of_any
from tests.parts import REPOSITORY
from tests.playground import pool_jobs
from tests.playground.conftest import PATIENCE
from tests.services.processes import wait_until

WIDE = Bounds(running=4, queued=100, queued_by_all=1_000)


@pytest.fixture
def pools() -> Iterator[Callable[..., Pool]]:
    """Make pools that end with the test."""
    made: list[Pool] = []

    def make(processes: int = 1, bounds: Bounds = WIDE) -> Pool:
        made.append(Pool(processes, bounds))
        return made[-1]

    yield make
    for pool in made:
        pool.close()


def test_visitors_take_turns(pools: Callable[..., Pool], tmp_path: Path) -> None:
    """Who comes after another's ten jobs waits for one of them."""
    pool, log, go = pools(), str(tmp_path / "log"), tmp_path / "go"
    first = pool.submit("a", pool_jobs.held, str(go))
    jobs = [pool.submit("a", pool_jobs.noted, log, f"a{number}") for number in range(10)]
    jobs += [pool.submit("b", pool_jobs.noted, log, f"b{number}") for number in range(2)]
    go.touch()
    assert first.future.result(PATIENCE) == str(go)
    for job in jobs:
        job.future.result(PATIENCE)
    order = Path(log).read_text().split()
    assert order[:4] in (["a0", "b0", "a1", "b1"], ["b0", "a0", "b1", "a1"])


def test_one_visitor_never_has_every_process(pools: Callable[..., Pool], tmp_path: Path) -> None:
    """The second job of a visitor waits although a process is free; another's does not."""
    pool, go = pools(2, Bounds(running=1, queued=10, queued_by_all=10)), tmp_path / "go"
    mine = [pool.submit("a", pool_jobs.held, str(go)) for _ in range(2)]
    assert pool.submit("b", pool_jobs.process_id).future.result(PATIENCE) > 0
    assert not any(job.future.done() for job in mine)
    go.touch()
    assert [job.future.result(PATIENCE) for job in mine] == [str(go)] * 2


def test_long_jobs_leave_a_process_to_short_ones(pools: Callable[..., Pool], tmp_path: Path) -> None:
    """However many visitors compute for a minute, what is read is read beside them."""
    pool, go = pools(2), tmp_path / "go"
    long = [pool.submit(name, pool_jobs.held, str(go), long=True) for name in "abc"]
    assert pool.submit("d", pool_jobs.process_id).future.result(PATIENCE) > 0
    assert not any(job.future.done() for job in long)
    go.touch()
    assert [job.future.result(PATIENCE) for job in long] == [str(go)] * 3


def test_nobodys_text_waits_for_their_own_computation(pools: Callable[..., Pool], tmp_path: Path) -> None:
    """One job of a visitor runs at once, and one long one beside it."""
    pool, go = pools(2, Bounds(running=1, queued=10, queued_by_all=10)), tmp_path / "go"
    long = [pool.submit("a", pool_jobs.held, str(go), long=True) for _ in range(2)]
    assert pool.submit("a", pool_jobs.process_id).future.result(PATIENCE) > 0
    assert not any(job.future.done() for job in long)
    go.touch()
    assert [job.future.result(PATIENCE) for job in long] == [str(go)] * 2


def test_what_waits_is_bounded_by_visitor_and_in_all(pools: Callable[..., Pool], tmp_path: Path) -> None:
    """Who has as many jobs as may wait is refused, and nobody else; then the queue itself is full."""
    pool, go = pools(1, Bounds(running=1, queued=2, queued_by_all=3)), str(tmp_path / "go")
    running = pool.submit("a", pool_jobs.held, go)
    wait_until(running.future.running, PATIENCE, "the first job runs")
    for _ in range(2):
        pool.submit("a", pool_jobs.process_id)
    with pytest.raises(BusyError) as refused:
        pool.submit("a", pool_jobs.process_id)
    assert refused.value.retry_after > 0
    pool.submit("b", pool_jobs.process_id)
    with pytest.raises(BusyError, match="The server is busy"):
        pool.submit("c", pool_jobs.process_id)
    Path(go).touch()


def test_who_would_wait_too_long_is_reported_their_place(
    pools: Callable[..., Pool], limits: Callable[..., None], tmp_path: Path
) -> None:
    """Ten searches of twenty seconds at once: who can begin in time waits, and nobody else."""
    limits(POOL_WAIT_SECONDS=60)
    pool, go = pools(2), str(tmp_path / "go")
    kept, refused = [], []
    for number in range(10):
        try:
            job = pool.submit(f"visitor-{number}", pool_jobs.held, go, long=True, expects=25.0)
        except BusyError as error:
            refused.append(error)
        else:
            kept.append(job)
            if number == 0:
                wait_until(job.future.running, PATIENCE, "the first one runs")
    assert (len(kept), len(refused)) == (3, 7)
    assert "number 4 in the queue" in str(refused[0])
    assert 0 < refused[0].retry_after <= 16
    assert f"come back in {refused[0].retry_after} seconds" in str(refused[0])
    Path(go).touch()
    assert [job.future.result(PATIENCE) for job in kept] == [go] * 3
    assert pool.submit("visitor-9", pool_jobs.process_id, long=True).future.result(PATIENCE) > 0


def test_one_visitors_queue_refuses_nobody_else(
    pools: Callable[..., Pool], limits: Callable[..., None], tmp_path: Path
) -> None:
    """Visitors take turns: of another's jobs one is before somebody's first."""
    limits(POOL_WAIT_SECONDS=60)
    pool, go = pools(2), str(tmp_path / "go")
    mine = [pool.submit("a", pool_jobs.held, go, long=True, expects=25.0) for _ in range(3)]
    with pytest.raises(BusyError, match="number 4"):
        pool.submit("a", pool_jobs.held, go, long=True, expects=25.0)
    other = pool.submit("b", pool_jobs.held, go, long=True, expects=20.0)
    pool.cancel(mine.pop())
    Path(go).touch()
    assert [job.future.result(PATIENCE) for job in (*mine, other)] == [go] * (len(mine) + 1)


def test_a_process_that_dies_fails_its_own_job_alone(pools: Callable[..., Pool], tmp_path: Path) -> None:
    """It is noticed at once, and the next job of the same visitor has another process."""
    pool = pools(2)
    before = pool.submit("a", pool_jobs.process_id).future.result(PATIENCE)
    other = pool.submit("b", pool_jobs.held, str(tmp_path / "go"))
    with pytest.raises(LostError, match="ended unexpectedly"):
        pool.submit("a", pool_jobs.killed).future.result(PATIENCE)
    after = pool.submit("a", pool_jobs.process_id).future.result(PATIENCE)
    assert after != before
    (tmp_path / "go").touch()
    assert other.future.result(PATIENCE)


def test_a_process_killed_while_it_waits_is_replaced(pools: Callable[..., Pool]) -> None:
    """Nobody is reported: no job was lost."""
    pool = pools()
    before = pool.submit("a", pool_jobs.process_id).future.result(PATIENCE)
    os.kill(before, signal.SIGKILL)
    assert pool.submit("a", pool_jobs.process_id).future.result(PATIENCE) != before


@pytest.mark.parametrize(
    ("job", "limit", "reported"),
    [
        (pool_jobs.busy, {"POOL_SECONDS": 1}, "1 seconds"),
        (pool_jobs.silent, {"POOL_SECONDS": 1}, "1 seconds"),
        (pool_jobs.hungry, {"POOL_MIB": 250}, "250 MiB"),
    ],
)
def test_an_overrun_is_killed(
    pools: Callable[..., Pool],
    limits: Callable[..., None],
    job: Callable,
    limit: dict[str, int],
    reported: str,
) -> None:
    """What takes more time or memory than the limits allow ends with its process; the next job runs."""
    pool = pools()
    before = pool.submit("a", pool_jobs.process_id).future.result(PATIENCE)
    limits(**limit)
    with pytest.raises(OverrunError, match=reported):
        pool.submit("a", job).future.result(PATIENCE)
    assert not _runs(before)
    assert pool.submit("a", pool_jobs.process_id).future.result(PATIENCE) != before


def test_progress_comes_a_few_times_a_second(pools: Callable[..., Pool], tmp_path: Path) -> None:
    """A job that calls a hundred times a second is heard at most seven times."""
    pool = pools()
    pool.submit("a", pool_jobs.process_id).future.result(PATIENCE)
    job = pool.submit("a", pool_jobs.counting, str(tmp_path / "ended"))
    began, heard = time.monotonic(), set[object]()

    def often() -> bool:
        heard.add(job.report)
        return len(heard) > 10

    wait_until(often, PATIENCE, "ten reports", pause=0.01)
    pool.cancel(job)
    assert time.monotonic() - began > 1


def test_a_job_that_nobody_wants_ends(pools: Callable[..., Pool], tmp_path: Path) -> None:
    """One that waits is dropped; one that runs ends where it tells how far it is, in the same process."""
    pool, ended = pools(), tmp_path / "ended"
    before = pool.submit("a", pool_jobs.process_id).future.result(PATIENCE)
    running = pool.submit("a", pool_jobs.counting, str(ended))
    waiting = pool.submit("a", pool_jobs.noted, str(tmp_path / "log"), "never")
    wait_until(lambda: running.report is not None, PATIENCE, "the job tells of itself")
    pool.cancel(waiting)
    pool.cancel(running)
    with pytest.raises(CancelledError):
        running.future.result(PATIENCE)
    with pytest.raises(FutureCancelledError):
        waiting.future.result(PATIENCE)
    assert ended.exists()
    assert pool.submit("a", pool_jobs.process_id).future.result(PATIENCE) == before
    assert not (tmp_path / "log").exists()


def test_a_silent_job_that_nobody_wants_is_killed(pools: Callable[..., Pool]) -> None:
    """It has two seconds to notice."""
    pool = pools()
    job = pool.submit("a", pool_jobs.silent)
    wait_until(lambda: bool(_pids(pool)), PATIENCE, "the job runs")
    [before] = _pids(pool)
    pool.cancel(job)
    with pytest.raises(CancelledError):
        job.future.result(PATIENCE)
    assert not _runs(before)


def test_errors_come_back_as_they_were_raised(pools: Callable[..., Pool]) -> None:
    """Also those whose arguments are not what they were made of; what cannot come back is shown as text."""
    pool = pools()
    with pytest.raises(ObjectError, match="must be something") as raised:
        pool.submit("a", pool_jobs.wrong).future.result(PATIENCE)
    assert raised.value.problems[0].line == 3
    with pytest.raises(JobError, match="pickle"):
        pool.submit("a", pool_jobs.unpicklable).future.result(PATIENCE)
    assert pool.submit("a", pool_jobs.process_id).future.result(PATIENCE) > 0


def test_a_visitors_next_job_has_the_process_of_the_last(pools: Callable[..., Pool]) -> None:
    """What it has read is at hand there; while it works for others any process does."""
    pool = pools(2)
    places = {name: pool.submit(name, pool_jobs.process_id).future.result(PATIENCE) for name in "ab"}
    for name in "abbaab":
        assert pool.submit(name, pool_jobs.process_id).future.result(PATIENCE) == places[name]


def test_processes_come_after_those_that_answer_steps(pools: Callable[..., Pool]) -> None:
    """They are nicer than the web process, and the first to go where memory runs out."""
    pid = pools().submit("a", pool_jobs.process_id).future.result(PATIENCE)
    assert os.getpriority(os.PRIO_PROCESS, pid) == os.getpriority(os.PRIO_PROCESS, os.getpid()) + 10
    assert Path(f"/proc/{pid}/oom_score_adj").read_text().strip() == "500"


def test_a_scenario_comes_over_as_it_was_read(web: str) -> None:
    """With every document, object, operation and warning, in order."""
    scenario = bundles.parse([("", web)], "a title")
    assert unpacked(packed(scenario)) == scenario


REPLICAS = """kind: Deployment
apiVersion: apps/v1
metadata: {name: many}
spec:
  replicas: 600
  selector: {matchLabels: {app: many}}
  template:
    metadata: {labels: {app: many}}
    spec: {containers: [{name: c, image: nginx}]}
"""
SPEC = "{containers: [{name: c, image: nginx}]}"


def test_replicas_come_over_by_their_names() -> None:
    """They are what they were and share what they shared, in a hundred bytes each."""
    scenario = bundles.parse([("", REPLICAS)])
    sent, few = packed(scenario), packed(bundles.parse([("", REPLICAS.replace("600", "100"))]))
    came = unpacked(sent)
    assert came == scenario
    assert [len(alike) for _, alike in with_replicas(came.objects)] == [0, 0, 599]
    assert len({id(pod.meta.written) for pod in came.objects[2:]}) == 1
    assert len(sent) - len(few) < 500 * 100


def test_written_pods_come_over_with_their_own_manifests() -> None:
    """Of pods that are alike in typed fields each still refers to its own document."""
    pods = [f"{{kind: Pod, apiVersion: v1, metadata: {{name: {name}}}, spec: {SPEC}}}" for name in "abc"]
    came = unpacked(packed(bundles.parse([("", "\n---\n".join(pods))])))
    assert all(one.meta.written.document is of for one, of in zip(came.objects, came.documents, strict=True))


def test_written_pods_in_turn_come_over_by_their_names() -> None:
    """Of two templates: each is the pod of its own."""
    meta, spec = "metadata: {{name: p{}, labels: {{of: a{}}}}}", "spec: {{containers: [{{name: c}}]}}"
    pod = f"apiVersion: v1\nkind: Pod\n{meta}\n{spec}\n"
    scenario = bundles.parse([("", "---\n".join(pod.format(number, number % 2) for number in range(60)))])
    came = unpacked(packed(scenario))
    assert came == scenario
    assert [len(replicas) for _, replicas in with_replicas_of_any(came.objects)] == [0, 58]


@pytest.mark.parametrize(
    ("text", "large"),
    [
        ("kind: Pod", False),
        ("x" * (offload.TEXT_BYTES + 1), True),
        ("spec: {replicas: 100}\n---\nspec: {replicas: 100}", False),
        ("spec:\n  replicas: 30000", True),
        ('{"parallelism": 400}', True),
    ],
)
def test_what_takes_long_to_read_is_known_by_its_text(text: str, large: bool) -> None:
    """By its length, or by how many pods a few lines make."""
    assert offload.is_large(text) is large


ORPHANS = """
import sys, time, django
django.setup()
from playground.pool.pool import Pool
from playground.pool.shares import Bounds
from tests.playground import pool_jobs
if __name__ == "__main__":
    pool = Pool(2, Bounds(2, 9, 9))
    jobs = [pool.submit(name, pool_jobs.silent) for name in "ab"]
    while not all(process.pid for process in pool.processes):
        time.sleep(0.05)
    print(*(process.pid for process in pool.processes), flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_the_web_process(sig: signal.Signals) -> None:
    """However it ends, and whatever they are computing."""
    web = subprocess.Popen(
        [sys.executable, "-c", ORPHANS],
        stdout=subprocess.PIPE,
        cwd=REPOSITORY,
        start_new_session=True,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
    )
    try:
        assert web.stdout is not None
        pids = [int(pid) for pid in web.stdout.readline().split()]
        assert len(pids) == 2 and all(map(_runs, pids))
        web.send_signal(sig)
        web.wait(PATIENCE)
        wait_until(lambda: not any(map(_runs, pids)), 10, "the pool's processes end")
        wait_until(lambda: not _group(web.pid), 10, "so does the server that they are forked from")
    finally:
        if web.poll() is None:
            web.kill()
            web.wait()
        web.stdout.close()


def _pids(pool: Pool) -> list[int]:
    return [process.pid for process in pool.processes if process.pid is not None]


def _runs(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def _group(group: int) -> list[int]:
    from tests.services.processes import group_members

    return list(group_members(group))

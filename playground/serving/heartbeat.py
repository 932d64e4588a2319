"""A worker's sign of life: a row that is touched every few seconds, and a look for lost runs.

A process of the worker that was killed (mostly for want of memory) is noticed at once. A worker that starts
nothing any more ends, to be started again.

And its last word: what it computes when it is told to end was not its runs' fault.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Collection
from types import FrameType
from typing import Any

import structlog
from billiard.exceptions import WorkerLostError
from celery.signals import task_failure, worker_ready, worker_shutdown
from django.db import close_old_connections, connection
from django.utils import timezone

from playground.models import Worker
from playground.queues import QUEUES
from playground.runs import rescue
from playground.runtime import outage
from playground.serving.stalling import StallWatch

log = structlog.get_logger(__name__)

BEAT_SECONDS = 5.0
LAST_WORD_SECONDS = 1.0  # so long the signal that ends a worker waits for the database
ENDING = (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT)

_outages = outage.OutageLog("a worker's heartbeat")
_end = threading.Event()
_wake = threading.Event()  # beat before it is time
_ending = threading.Event()
# Held during a beat and during a fork: a child must not inherit a half-used database connection.
_beating = threading.Lock()


def name_of(worker: Any) -> str:
    """Return the name of this process' row: two workers of one machine may have one name."""
    return f"{os.getpid()}-{worker.hostname}"


def beat(name: str, queues: Collection[str] = QUEUES) -> None:
    """Say that the worker ``name`` serves ``queues``, and announce lost runs and those of dead processes."""
    Worker.objects.update_or_create(name=name, defaults={"seen": timezone.now(), "queues": sorted(queues)})
    rescue.release_dead_claims()
    rescue.rescue()


def _loop(name: str, queues: Collection[str], watch: StallWatch) -> None:
    while True:
        if watch.stalled():
            _give_up(name)
        with _beating:
            if _end.is_set():
                return  # the row is gone, or about to be
            try:
                close_old_connections()
                beat(name, queues)
                _outages.succeeded()
            except Exception as error:
                if outage.cause_of(error):
                    _outages.failed(error)
                else:
                    log.exception("a worker's beat failed", worker=name)
            finally:
                connection.close()
        _wake.wait(BEAT_SECONDS)
        _wake.clear()


def _give_up(name: str) -> None:
    """End the worker at once; whoever supervises it starts another one."""
    log.error("the worker's processes start nothing; it ends to be started again", worker=name)
    _last_word(os.getpid())
    os._exit(1)


@worker_ready.connect
def start(sender: Any = None, **_: Any) -> None:
    """Begin to beat once the worker takes tasks."""
    _speak_before_ending()
    os.register_at_fork(
        before=_beating.acquire, after_in_parent=_beating.release, after_in_child=_beating.release
    )
    served = tuple(sender.app.amqp.queues.consume_from)
    watch = StallWatch(sender.pool.num_processes)
    threading.Thread(
        target=_loop, args=(name_of(sender), served, watch), name="worker-beat", daemon=True
    ).start()


@task_failure.connect
def notice(exception: BaseException | None = None, **_: Any) -> None:
    """Look for the run of a process that was killed, without waiting for the next beat."""
    if isinstance(exception, WorkerLostError):
        _wake.set()


def _speak_before_ending() -> None:
    """Put a step of ours before what Celery does when it is told to end.

    Celery's own signal comes after the grace of a run, when the worker may have been killed.
    """
    worker = os.getpid()
    for number in ENDING:
        following = signal.getsignal(number)
        if callable(following):
            signal.signal(number, _before(following, worker))


Handler = Callable[[int, FrameType | None], Any]


def _before(following: Handler, worker: int) -> Handler:
    def handler(number: int, frame: FrameType | None) -> None:
        if os.getpid() == worker and not _ending.is_set():  # the processes it forks inherit the handler
            _ending.set()
            # A thread: the signal may have come in the midst of anything, with locks held.
            word = threading.Thread(target=_last_word, args=(worker,), name="worker-last-word", daemon=True)
            word.start()
            word.join(LAST_WORD_SECONDS)
        following(number, frame)

    return handler


def _last_word(worker: int) -> None:
    try:
        rescue.give_back_attempts(worker)
    except Exception:
        log.exception("a worker's attempts were not given back")
    finally:
        connection.close()


@worker_shutdown.connect
def stop(sender: Any = None, **_: Any) -> None:
    """Take the row away: a worker that left in order is gone at once."""
    _end.set()
    _wake.set()
    with _beating:
        try:
            Worker.objects.filter(name=name_of(sender)).delete()
        except Exception as error:
            if outage.cause_of(error) is None:
                raise
            _outages.failed(error)  # its row is soon too old to count
        finally:
            connection.close()

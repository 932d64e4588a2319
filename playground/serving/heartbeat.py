"""A worker's heartbeat: a row that is updated every few seconds, and a check for lost runs.

A worker process that was killed (mostly for lack of memory) is detected at once. A worker whose processes
no longer start tasks exits, so that it is restarted.

When the worker is asked to end, the attempts of its current runs are given back: it was not their fault.
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
from celery.signals import beat_init, task_failure, worker_init, worker_ready, worker_shutdown
from django.db import close_old_connections, connection
from django.utils import timezone

from playground.models import Worker
from playground.queues import QUEUES
from playground.runs import rescue
from playground.runtime import garbage, outage
from playground.serving import deployment
from playground.serving.stalls import StallWatch
from scheduler_core.run.table import preload

log = structlog.get_logger(__name__)

BEAT_SECONDS = 5.0
LAST_WORD_SECONDS = 1.0  # how long the handler of an ending signal waits for the database
ENDING = (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT)

_outages = outage.OutageLog("a worker's heartbeat")
_end = threading.Event()
_wake = threading.Event()  # beat early
_ending = threading.Event()
# Held during a beat and during a fork: a child must not inherit a half-used database connection.
_beating = threading.Lock()


def name_of(worker: Any) -> str:
    """Return the key of this process' row: two workers of one machine may have the same hostname."""
    return f"{os.getpid()}-{worker.hostname}"


def beat(name: str, queues: Collection[str] = QUEUES) -> None:
    """Record that worker ``name`` serves ``queues``; re-announce lost runs and those of dead processes."""
    known = {"queues": sorted(queues), "settings": deployment.fingerprints(), "seen": timezone.now()}
    Worker.objects.update_or_create(name=name, defaults=known)
    rescue.release_dead_claims()
    rescue.rescue()


def _loop(name: str, queues: Collection[str], watch: StallWatch) -> None:
    while True:
        if watch.stalled():
            _give_up(name)
        with _beating:
            if _end.is_set():
                return  # the row is deleted, or about to be
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
    """Exit the worker at once; its supervisor restarts it."""
    log.error("the worker's processes start nothing; it ends to be started again", worker=name)
    _last_word(os.getpid())
    os._exit(1)


@worker_init.connect
def prepare(**_: Any) -> None:
    """Import what runs need, which the forked processes share, and exempt it from their collections."""
    preload()
    garbage.full()


@worker_ready.connect
def start(sender: Any = None, **_: Any) -> None:
    """Start the heartbeat once the worker accepts tasks."""
    _speak_before_ending()
    os.register_at_fork(
        before=_beating.acquire, after_in_parent=_beating.release, after_in_child=_beating.release
    )
    served = tuple(sender.app.amqp.queues.consume_from)
    watch = StallWatch(sender.pool.num_processes)
    threading.Thread(
        target=_loop, args=(name_of(sender), served, watch), name="worker-beat", daemon=True
    ).start()


@beat_init.connect
def start_beat(**_: Any) -> None:
    """Say that scheduled tasks are sent from here."""
    connection.close()  # of the worker that this process may be forked from
    deployment.start(deployment.BEAT)


@task_failure.connect
def notice(exception: BaseException | None = None, **_: Any) -> None:
    """Check for the run of a killed process without waiting for the next beat."""
    if isinstance(exception, WorkerLostError):
        _wake.set()


def _speak_before_ending() -> None:
    """Install signal handlers that run before Celery's when the worker is asked to end.

    Celery sends its own shutdown signal after a run's grace period, when the worker may have been killed.
    """
    worker = os.getpid()
    for number in ENDING:
        following = signal.getsignal(number)
        if callable(following):
            signal.signal(number, _before(following, worker))


Handler = Callable[[int, FrameType | None], Any]


def _before(following: Handler, worker: int) -> Handler:
    def handler(number: int, frame: FrameType | None) -> None:
        if os.getpid() == worker and not _ending.is_set():  # forked processes inherit the handler
            _ending.set()
            # A thread: the signal may have interrupted any code, with locks held.
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
    """Delete the row, so that a worker that shut down cleanly disappears at once."""
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

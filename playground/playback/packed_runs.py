"""Packed simulations of a run in the database: a jump begins at one of them, not at the first cycle.

The worker pickles them. What is unpickled was signed for its run and cycle, with a key derived from the
installation's secret, by a process of the same code; anything else is ignored, and decisions are replayed. A
restore drops them (:mod:`playground.storage.backups`).
"""

from __future__ import annotations

import hmac
import platform
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

import msgspec
import numpy as np
import structlog
import zstandard
from django.db.models import F
from django.db.models.functions import Length
from django.utils.crypto import salted_hmac
from msgspec import Struct

import scheduler_core
from playground.limits import limit
from playground.models import Run, RunCheckpoint
from playground.runtime import garbage
from playground.storage.bundles import unpack
from scheduler_core.run import Packer, Stepper, Unpacker

log = structlog.get_logger(__name__)

_SIGNATURE = 32  # bytes
_EXACT, _AHEAD = b"\0", b"\1"


class SealedRun(Struct, frozen=True):
    """A run after a cycle, as it is stored: a signature, whether it is ahead, and the compressed bytes."""

    run: str
    cycle: int
    data: bytes

    @property
    def is_ahead(self) -> bool:
        """Whether it was packed while the run advanced beyond the cycle."""
        return self.data[_SIGNATURE : _SIGNATURE + 1] == _AHEAD

    def opened(self, unpacker: Unpacker) -> Stepper | None:
        """Return the run, ``None`` if other code, another installation or another run was sealed."""
        signature, content = self.data[:_SIGNATURE], self.data[_SIGNATURE:]
        if not hmac.compare_digest(signature, _signature(self.run, self.cycle, content)):
            return None
        try:
            return unpacker.unpack(unpack(content[1:]))
        except Exception:
            log.exception("a checkpoint cannot be read")
            return None


def packed(packer: Packer, simulation: Stepper) -> bytes | None:
    """Return a run as compressed bytes, ``None`` while a part of it cannot be stored."""
    with garbage.paused():
        data = packer.pack(simulation)
    if data is None:
        return None
    return (_AHEAD if simulation.is_ahead else _EXACT) + zstandard.ZstdCompressor(level=3).compress(data)


def _signature(run: str, cycle: int, content: bytes) -> bytes:
    signed = salted_hmac(__name__, f"{run} {cycle} ".encode() + _code(), algorithm="sha256")
    signed.update(content)
    return signed.digest()


@cache
def _code() -> bytes:
    """Return a digest of the engine and of what else the bytes depend on."""
    versions = platform.python_version(), np.__version__, msgspec.__version__
    digest = sha256(" ".join(versions).encode())
    root = Path(scheduler_core.__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(f"\0{path.relative_to(root)}\0".encode() + path.read_bytes())
    return digest.digest()


def engine_code() -> str:
    """Return a name of the code that computes runs: the same code computes the same."""
    return _code().hex()


def keep_checkpoint(run: Run, cycle: int, content: bytes) -> bool:
    """Sign and store a run as it is after a cycle; return whether others had to make room for it."""
    sealed = _signature(run.pk, cycle, content) + content
    RunCheckpoint.objects.create(run=run, cycle=cycle, data=sealed)
    stored = RunCheckpoint.objects.filter(run=run)
    kept = list(stored.order_by("cycle").values_list("cycle", Length("data")))
    gone: list[tuple[int, int]] = []
    while sum(size for _, size in kept) > limit("RUN_CHECKPOINT_BYTES"):
        gone += kept[::2]
        del kept[::2]
    if gone:
        stored.filter(cycle__in=[cycle for cycle, _ in gone]).delete()
    more = len(sealed) - sum(size for _, size in gone)
    Run.objects.filter(pk=run.pk).update(packed=F("packed") + more)
    return bool(gone)


def read_checkpoints(run_id: str, after: int) -> Iterator[SealedRun]:
    """Yield the stored runs after cycles beyond ``after``, in order."""
    rows = RunCheckpoint.objects.filter(run_id=run_id, cycle__gt=after).order_by("cycle")
    for cycle, data in rows.values_list("cycle", "data"):
        yield SealedRun(run_id, cycle, bytes(data))

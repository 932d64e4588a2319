"""A stepwise simulation of the scheduling framework in virtual time, the counterpart of v1.11's."""

from scheduler_core.run.loop import Stepper
from scheduler_core.run.packs import Packer, Unpacker, pack, unpack
from scheduler_core.run.table import is_timed, is_timed_run, simulate, usages

__all__ = [
    "Packer",
    "Stepper",
    "Unpacker",
    "is_timed",
    "is_timed_run",
    "pack",
    "simulate",
    "unpack",
    "usages",
]

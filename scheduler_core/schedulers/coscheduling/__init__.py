"""The Coscheduling plugin as a library: groups of pods that are scheduled together or not at all.

It covers both editions (:mod:`.editions`). Every extension point is a function of the objects, a small
explicit state (:class:`.state.GangState`) and the virtual time, all passed in. Each decision includes the
numbers behind it.
"""

from scheduler_core.schedulers.coscheduling.arguments import Arguments, ArgumentsError, read_arguments
from scheduler_core.schedulers.coscheduling.editions import CLASSIC, CURRENT, EDITIONS, Edition
from scheduler_core.schedulers.coscheduling.groups import Gangs, group_key
from scheduler_core.schedulers.coscheduling.state import GangState

__all__ = [
    "CLASSIC",
    "CURRENT",
    "EDITIONS",
    "Arguments",
    "ArgumentsError",
    "Edition",
    "GangState",
    "Gangs",
    "group_key",
    "read_arguments",
]

"""Kubernetes controllers as pure functions, and the manager that runs those affected by an event.

    manager = ControllerManager(Options(), admit)
    manager.start(objects)                          # what a loaded cluster holds, controllers expanded
    for change in manager.settle(now): ...          # create, update, delete; in order
    manager.observe("update", bound_pod, now)       # a change by the scheduler or a user
    manager.next_time()                             # the next time a controller acts without an event

A controller is ``reconcile(object, store, now)``: it reads the store, returns changes and wake-ups, and
changes nothing itself. A pod is bound when it is observed with a node; annotations determine how long it runs
(:mod:`scheduler_core.cluster.controllers.running`); nodes fail by their condition Ready or by annotations
(:mod:`scheduler_core.cluster.controllers.nodes`). Deletions are immediate: there is no grace period.
"""

from scheduler_core.cluster.controllers.changes import Change, Options, Wake
from scheduler_core.cluster.controllers.manager import ControllerManager, ReconcileTimer
from scheduler_core.cluster.store import Store

__all__ = ["Change", "ControllerManager", "Options", "ReconcileTimer", "Store", "Wake"]

"""Controllers of Kubernetes as pure functions, and the manager that runs those an event concerns.

    manager = ControllerManager(Options(), admit)
    manager.start(objects)                          # what a loaded cluster holds, controllers expanded
    for change in manager.settle(now): ...          # create, update, delete; in order
    manager.observe("update", bound_pod, now)       # what the scheduler, or a user, did
    manager.next_time()                             # when something happens by itself

A controller is ``reconcile(object, store, now)``: it reads the store, answers with changes and wake-ups,
and changes nothing itself. Pods bind by being observed with a node; how long they run say annotations
(:mod:`scheduler_core.controllers.running`); nodes fail by their condition Ready or by annotations
(:mod:`scheduler_core.controllers.nodes`). Deletions take no time: there is no grace period.
"""

from scheduler_core.controllers.changes import Change, Options, Wake
from scheduler_core.controllers.manager import ControllerManager, ReconcileTimer
from scheduler_core.controllers.store import Store

__all__ = ["Change", "ControllerManager", "Options", "ReconcileTimer", "Store", "Wake"]

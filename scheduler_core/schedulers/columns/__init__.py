"""The cluster's state in columns, and its changes by events."""

from scheduler_core.schedulers.columns.columns import NodeColumns
from scheduler_core.schedulers.columns.podinfo import PodInfo
from scheduler_core.schedulers.columns.pods import PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.columns.view import View

__all__ = ["Cluster", "NodeColumns", "PodInfo", "PodState", "View"]

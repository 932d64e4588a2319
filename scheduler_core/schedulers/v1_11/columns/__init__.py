"""The cluster's state in columns, and its changes by events."""

from scheduler_core.schedulers.v1_11.columns.columns import NodeColumns
from scheduler_core.schedulers.v1_11.columns.podinfo import PodInfo
from scheduler_core.schedulers.v1_11.columns.pods import PodState
from scheduler_core.schedulers.v1_11.columns.state import Cluster
from scheduler_core.schedulers.v1_11.columns.view import View

__all__ = ["Cluster", "NodeColumns", "PodInfo", "PodState", "View"]

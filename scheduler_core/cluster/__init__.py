"""The cluster's state in columns, and its changes by events."""

from scheduler_core.cluster.columns import NodeColumns
from scheduler_core.cluster.podinfo import PodInfo
from scheduler_core.cluster.pods import PodState
from scheduler_core.cluster.state import Cluster
from scheduler_core.cluster.view import View

__all__ = ["Cluster", "NodeColumns", "PodInfo", "PodState", "View"]

"""The what-if changes of a view: pods added and removed, row by row."""

from __future__ import annotations

from scheduler_core.kubernetes.arrays import IntVector
from scheduler_core.schedulers.columns.pods import AffinityClass, PodKind, PodState
from scheduler_core.schedulers.columns.state import Cluster
from scheduler_core.schedulers.columns.storage import NodeUse
from scheduler_core.schedulers.quirks import quirk


class RowChanges:
    """The difference between a view's rows and their nodes.

    ``uses`` maps a changed row to its own ports and volumes, ``removed`` and ``added`` to pods by
    key (``added`` with a flag: not only nominated); ``kinds`` and ``classes`` map to {row: how many more}.
    ``nominated`` is like ``kinds``, for the pods that are only nominated.
    """

    def __init__(self, cluster: Cluster, rows: IntVector | None) -> None:
        self.cluster = cluster
        self.rows = rows
        self.uses: dict[int, NodeUse] = {}
        self.removed: dict[int, dict[str, PodState]] = {}
        self.added: dict[int, dict[str, tuple[PodState, bool]]] = {}
        self.kinds: dict[PodKind, dict[int, int]] = {}
        self.nominated: dict[PodKind, dict[int, int]] = {}
        self.classes: dict[AffinityClass, dict[int, int]] = {}

    @quirk("nominated-pods-are-no-targets")
    def apply(self, row: int, pod: PodState, sign: int, *, nominated: bool) -> None:
        """Add (+1) a pod to a row or remove it (-1).

        A nominated pod has no node name yet: it uses resources, ports and volumes of the node, and its own
        terms apply, but in v1.11 it is not a target of an incoming pod's affinity terms.
        """
        if pod.info.ports or pod.info.volumes:
            self._change_use(row, pod, sign)
        self._list(row, pod, sign, nominated=nominated)
        kinds = self.nominated if nominated else self.kinds
        _add(kinds.setdefault(pod.kind, {}), row, sign)
        if pod.affinity is not None:
            _add(self.classes.setdefault(pod.affinity, {}), row, sign)

    def _change_use(self, row: int, pod: PodState, sign: int) -> None:
        if row not in self.uses:
            node = row if self.rows is None else int(self.rows[row])
            base = self.cluster.uses.get(node)
            self.uses[row] = NodeUse() if base is None else base.copy()
        use = pod.use if pod.use is not None else self.cluster.use_of(pod.info)
        self.uses[row].change(use, sign)

    def _list(self, row: int, pod: PodState, sign: int, *, nominated: bool) -> None:
        added = self.added.setdefault(row, {})
        if sign > 0:
            added[pod.key] = (pod, not nominated)
        elif pod.key in added:
            del added[pod.key]
        else:
            self.removed.setdefault(row, {})[pod.key] = pod


def _add(rows: dict[int, int], row: int, sign: int) -> None:
    left = rows.get(row, 0) + sign
    if left:
        rows[row] = left
    else:
        del rows[row]

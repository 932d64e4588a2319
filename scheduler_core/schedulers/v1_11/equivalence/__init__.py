"""The equivalence cache: classes of pods, cached predicate results, and the events that invalidate them.

Built from the proposal scheduler-equivalence-class and kube-scheduler v1.8 to v1.12. This package decides
nothing itself; the engine looks up, writes and invalidates.
"""

"""The equivalence cache: classes of pods, cached predicate results, and what makes them untrue.

Built from the proposal scheduler-equivalence-class and kube-scheduler v1.8 to v1.12. Nothing here decides
anything by itself; the engine asks, writes and invalidates.
"""

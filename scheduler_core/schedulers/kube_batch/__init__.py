"""kube-batch: sessions over a snapshot, in which actions place, preempt and reclaim for gangs and queues.

The version described is the last development line, after v0.5.0. ``docs/kube-batch.md`` explains it.
"""

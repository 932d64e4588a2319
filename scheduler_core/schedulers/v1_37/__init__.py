"""kube-scheduler v1.37: its plugins, one attempt, preemption and the queue, on columns over the nodes."""

"""Kueue v0.17: quota of queues and cohorts, and when a Workload is admitted, preempted and evicted."""

"""Topology-aware scheduling: which domains of a data center the pods of a workload go to, and why none do."""

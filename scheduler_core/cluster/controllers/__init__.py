"""What controllers make of a bundle's workloads when it is loaded, and what is shared with those that live.

The controllers of clusters in which time passes are in :mod:`scheduler_core.cluster.v1_37`.
"""

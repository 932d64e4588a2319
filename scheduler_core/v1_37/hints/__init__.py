"""Queueing hints: which events each plugin wants to hear of, and whether one may help a pod that it rejected."""

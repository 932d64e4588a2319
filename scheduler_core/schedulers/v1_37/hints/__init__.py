"""Queueing hints: which events a plugin registers, and whether one may help a pod that it rejected."""

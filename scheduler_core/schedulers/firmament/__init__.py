"""Firmament with Poseidon: each round places all pending pods by the cheapest flow through one network.

Poseidon 0.8 and Firmament 0.8 with the CPU-memory cost model. ``docs/firmament.md`` explains it.
"""

NAME = "poseidon"
"""The ``schedulerName`` of its pods."""

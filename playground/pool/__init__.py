"""Processes beside the web server that read large bundles and compute long answers, shared fairly.

:mod:`~playground.pool.shares` decides whose job is next, :mod:`~playground.pool.child` runs it in another
process, :mod:`~playground.pool.pool` brings both together. Callers use :mod:`playground.pool.offload`.
"""

"""A pool of processes that read large bundles and compute long answers, shared fairly among visitors.

:mod:`~playground.pool.shares` decides which job is next, :mod:`~playground.pool.child` runs it in another
process, :mod:`~playground.pool.pool` combines both. Callers use :mod:`playground.pool.offload`.
"""

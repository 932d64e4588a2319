"""Scheduler extenders: their configuration, their protocol, and the rules by which they are asked.

Nothing here opens a connection. Every question goes through a
:class:`~scheduler_core.schedulers.extenders.port.Port`, which answers from declared tables, from recorded
answers, or by a transport that the operator installed.
"""

"""Calls of extenders over HTTP, to URLs that an operator approves of: the transport of the engine's port.

Import the modules: :mod:`~scheduler_core.schedulers.extenders.webhooks.allowlist` is quick to load, the
transport is not.
"""

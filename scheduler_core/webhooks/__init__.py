"""Calls of extenders over HTTP, to URLs that an operator approves of: the transport of the engine's port."""

from __future__ import annotations

from scheduler_core.webhooks.approved import ApprovalError, Approved
from scheduler_core.webhooks.transport import Webhooks

__all__ = ["ApprovalError", "Approved", "Webhooks"]

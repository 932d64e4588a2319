"""Preemption: which pods have to go, and on which node (core.genericScheduler.Preempt)."""

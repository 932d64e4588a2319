"""Preemption: the choice of a node and its victims (core.genericScheduler.Preempt)."""

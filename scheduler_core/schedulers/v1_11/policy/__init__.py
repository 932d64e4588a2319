"""Policies: the predicates with their order, and the priorities with their weights."""

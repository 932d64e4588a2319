"""Scheduler extenders."""

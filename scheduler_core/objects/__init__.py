"""Kubernetes objects as the scheduler sees them: parsed, checked, and immutable."""

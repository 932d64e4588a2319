"""Lessons in a learning platform: LTI 1.3 launches, deep links and scores."""

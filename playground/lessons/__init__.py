"""Lessons on the web: stages, verdicts on answers, receipts, completion codes and reviews."""

"""The Cycle, and what it is made of."""

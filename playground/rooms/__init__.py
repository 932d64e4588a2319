"""Rooms: a leader steps through a scenario, up to hundreds of viewers follow, and predict what happens."""

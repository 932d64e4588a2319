"""A bundle's settings of its simulation: SimulationSettings, releases, feature gates, several schedulers."""

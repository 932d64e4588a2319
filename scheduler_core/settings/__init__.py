"""What a bundle says of its simulation: SimulationSettings, releases, feature gates, several schedulers."""

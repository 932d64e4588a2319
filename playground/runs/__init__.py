"""Long runs: what a visitor starts, what a worker computes, what everyone may look at."""

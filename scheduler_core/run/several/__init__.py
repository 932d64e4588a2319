"""Several schedulers in virtual time, each with a view of its own: late, and ahead by what it decided itself.

The API server is a framework without a scheduler (:mod:`.server`); what is written there reaches each view
(:mod:`.view`) after its watch delay. A peer (:mod:`.peers`) is a scheduler with its view. Without delays and
designs none of this runs: :class:`scheduler_core.run.simulation.TimedSimulation` does.
"""

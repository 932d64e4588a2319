"""The strategies of v0.9.0: one module each, whose ``STRATEGY`` declares it."""

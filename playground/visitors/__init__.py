"""The identity of a request's visitor, and the visitor's limits."""

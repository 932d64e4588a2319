"""Panels: pure functions from a ``Cycle`` to the shapes of docs/protocol.md.

They show what the engine decided and decide nothing themselves. Node indices of a ``Cycle``
count the nodes that exist at that cycle; those on the wire point into the table that opening
a source sent. :class:`playground.playback.tables.Tables` translates.
"""

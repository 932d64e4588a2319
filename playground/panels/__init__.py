"""Panels: pure functions from a ``Cycle`` to the shapes of docs/protocol.md.

They show the engine's decisions and decide nothing themselves. Node indices of a ``Cycle`` count the nodes
that exist at that cycle; those on the wire index the table that was sent when the source was opened.
:class:`playground.playback.tables.Tables` translates.
"""

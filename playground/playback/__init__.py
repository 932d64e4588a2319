"""Playing a source: the result of each cycle, and any cycle recomputed on demand.

``tables`` assigns nodes and pods their indices, ``trail`` keeps what each cycle changed, ``playback``
rebuilds cycles, ``library`` keeps playbacks open within bounds.
"""

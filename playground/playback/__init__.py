"""Playing a source: what happened at each cycle, and any cycle again on demand.

``tables`` gives nodes and pods their indices, ``trail`` keeps what each cycle changed,
``playback`` rebuilds cycles, ``library`` keeps playbacks open within bounds.
"""

"""The types of NumPy vectors that every package above this one passes around."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntVector = npt.NDArray[np.int64]
BoolVector = npt.NDArray[np.bool_]

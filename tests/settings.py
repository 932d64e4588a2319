"""podstep's settings for tests: the same, with the data in a folder that goes when the tests end."""

import atexit
import os
import shutil
import tempfile

if "PLAYGROUND_DATA_DIR" not in os.environ:
    # xdist's processes inherit the variable, and share the folder.
    os.environ["PLAYGROUND_DATA_DIR"] = tempfile.mkdtemp(prefix="podstep-tests-")
    atexit.register(shutil.rmtree, os.environ["PLAYGROUND_DATA_DIR"], ignore_errors=True)

from playground.settings import *  # noqa: F403

# What a test replaces is replaced in this process only. Tests of the pool and of whole servers have one.
PLAYGROUND["POOL_PROCESSES"] = 0  # noqa: F405

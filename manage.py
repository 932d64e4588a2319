#!/usr/bin/env python
"""Django's command line, with podstep's settings."""

import sys

from playground.__main__ import main

if __name__ == "__main__":
    main(sys.argv)

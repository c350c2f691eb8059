#!/usr/bin/env python
"""Django's command line, for a checkout of the repository. An installed copy has `first-fault` for the same."""

from attribution.command import main

if __name__ == "__main__":
    main()

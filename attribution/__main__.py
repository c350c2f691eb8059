"""`python -m attribution` is `first-fault`."""

from attribution.command import main

main()

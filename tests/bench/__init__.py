"""Measurements, not tests: `make bench` prints ratios of one run, with everything that went into them."""

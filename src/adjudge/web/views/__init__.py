"""What pages show: one value for each, with everything counted, worded and decided, so that templates only print."""

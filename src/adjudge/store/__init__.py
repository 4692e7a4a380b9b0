"""Where runs, judgments and what they saw are kept."""

"""adjudge judges what AI agents did, and holds every verdict to something that was seen."""

__version__ = "0.1.0"

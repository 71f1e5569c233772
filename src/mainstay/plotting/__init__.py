"""Displays: objects that hold what a picture shows, and draw it with matplotlib."""

from mainstay.plotting.forecast import ForecastDisplay

__all__ = ["ForecastDisplay"]

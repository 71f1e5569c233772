"""Colours and axes that all displays share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which people with colour blindness can tell apart
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#5F5F5F"


def new_axes(width: float = 6.4, height: float = 4.0) -> Axes:
    """Make one set of axes in a figure of its own, without pyplot's global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()

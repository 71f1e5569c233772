"""Colours, axes and labels that all displays share."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from mainstay._validation import check_choice
from mainstay._writing import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which people with colour blindness can tell apart
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#E69F00", "#009E73", "#5F5F5F"
LIGHT_GREY = "#D5D5D5"
LONGEST_NAME = 28
_NOTE_WIDTH = 68  # characters that fit beside the longest names


@dataclass(eq=False)
class Display:
    """What all displays have: where they were drawn, and a picture for notebooks."""

    ax_: Axes = field(init=False, repr=False)
    figure_: Figure = field(init=False, repr=False)

    def save(self, path: str | Path, *, dpi: float = 150) -> None:
        """Write the picture to a file.

        Parameters
        ----------
        path : str or Path
            Its ending says what is written: .png, .pdf, .svg, .jpg, … An old file is replaced only
            when the new one is complete.
        dpi : float
            Dots per inch.
        """
        known = self.figure_.canvas.get_supported_filetypes()
        kind = check_choice("picture format", Path(path).suffix.removeprefix("."), known)
        with replacing(path) as part:
            self.figure_.savefig(part, format=kind, dpi=dpi)

    def _repr_png_(self) -> bytes:
        """Give the picture to a notebook, which knows nothing of figures made without pyplot."""
        picture = io.BytesIO()
        self.figure_.savefig(picture, format="png")
        return picture.getvalue()


def new_axes(width: float = 6.4, height: float = 4.0) -> Axes:
    """Make one set of axes in a figure of its own, without pyplot's global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def rows_height(n_rows: int) -> float:
    """Inches for a picture with one line of text per row."""
    return max(2.2, 1.3 + 0.23 * n_rows)


def head(ax: Axes, title: str, note: str) -> None:
    """Write a title and, smaller and below it, what the picture leaves out."""
    note = "\n".join(fill(line, _NOTE_WIDTH) for line in note.splitlines())
    lines = note.count("\n") + 1
    ax.set_title(title, loc="left", pad=6 + 13 * lines, parse_math=False)
    ax.annotate(
        note, (0, 1), xytext=(0, 5), xycoords="axes fraction", textcoords="offset points",
        ha="left", va="bottom", fontsize="small", color=GREY, parse_math=False,
    )  # fmt: skip


def rows_of_features(ax: Axes, names: Sequence[str]) -> None:
    """Give every feature a row with its name, the first at the top."""
    ax.set_yticks(range(len(names)), short_names(names), parse_math=False)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)


def count_on_log_axis(ax: Axes) -> None:
    """Make the x-axis logarithmic, with 1, 3, 10, … written as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def legend_below(ax: Axes) -> None:
    """Put the legend under the label of the x-axis, where it covers nothing."""
    ax.legend(
        loc="upper left", bbox_to_anchor=(0, 0), borderaxespad=4.2, ncols=3, frameon=False,
        fontsize="small", columnspacing=1.4, handletextpad=0.4,
    )  # fmt: skip


def shown_of(n_shown: int, n_features: int) -> str:
    """Say how many features a picture shows."""
    if n_shown == n_features:
        return f"all {n_features:,} features"
    return f"{n_shown:,} of {n_features:,} features"


def letter(number: int) -> str:
    """A, B, …, Z, AA, AB, … for 0, 1, …"""
    text = ""
    while number >= 0:
        number, rest = divmod(number, 26)
        text = chr(ord("A") + rest) + text
        number -= 1
    return text


# ---------------------------------------------------------------------- names


def short_names(names: Sequence[str], longest: int = LONGEST_NAME) -> list[str]:
    """Shorten names to about `longest` columns, so that different names stay different.

    What is cut out is the middle, since names of one family often differ at their ends. Names that
    still look alike are numbered in their order.

    Examples
    --------
    >>> short_names(["mean radius", "expression of the gene BRCA1, probe 7"], 20)
    ['mean radius', 'expression…, probe 7']
    >>> short_names(["a" * 50, "a" * 60], 10)
    ['aaa…aa (1)', 'aaa…aa (2)']
    """
    clean = [_one_line(name) for name in names]
    short = [_cut(name, longest) for name in clean]
    taken = set(short)
    for alike in sorted(taken):
        members = [i for i, text in enumerate(short) if text == alike]
        if len(members) < 2:
            continue
        number = 0
        for i in members:
            text = alike
            while text in taken:
                number += 1
                suffix = f" ({number})"
                text = _cut(clean[i], longest - len(suffix)) + suffix
            short[i] = text
            taken.add(text)
    return short


def _one_line(name: str) -> str:
    """Replace line breaks and characters that cannot be drawn by spaces."""
    visible = "".join(" " if unicodedata.category(c) in _UNSEEN else c for c in name)
    return " ".join(visible.split()) or "(blank)"


_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def _cut(name: str, longest: int) -> str:
    """Cut the middle out of a name that is too long."""
    if _width(name) <= longest:
        return name
    left, right = 0, 0
    while _width(name[: left + 1]) + _width(name[len(name) - right :]) + 1 <= longest:
        left += 1
        if _width(name[:left]) + _width(name[len(name) - right - 1 :]) + 1 <= longest:
            right += 1
    return f"{name[:left]}…{name[len(name) - right :]}"


def _width(text: str) -> int:
    """Columns that a text takes: Chinese, Japanese and Korean characters take two."""
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text)

"""Exponents, tables and the plot of scaling.py, and what follows for data that nobody measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
from _pages import fill, table
from _pieces import PIECES, SHARED, Piece, Size

ROOT = Path(__file__).resolve().parents[1]
PAGE, PICTURE = ROOT / "docs" / "scaling.md", ROOT / "docs" / "_static" / "scaling.png"
STREAMING = ROOT / "benchmarks" / "results" / "streaming_bases.csv"
LEAST_MEMORY = 8.0  # MB; below it, pages and buffers are what is seen
TOLERANCE = 0.1  # of exponents
AXES = {"n": "rows", "p": "features", "m": "repetitions"}


# ---------------------------------------------------------------------- exponents


@dataclass(frozen=True)
class Exponent:
    """Slope in logarithms, and its standard error; NaN with two points."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.2f} ± {self.error:.2f}".replace("-", "−")


def exponent(sizes: np.ndarray, costs: np.ndarray) -> Exponent:
    """Fit log(cost) = a + b·log(size) by least squares."""
    x, y = np.log(sizes), np.log(costs)
    x, y = x - x.mean(), y - y.mean()
    slope = float(x @ y / (x @ x))
    left = float(np.sum((y - slope * x) ** 2))
    error = math.sqrt(left / (len(x) - 2) / float(x @ x)) if len(x) > 2 else math.nan
    return Exponent(slope, error)


def along(points: pd.DataFrame, piece: Piece, axis: str) -> pd.DataFrame:
    return points[(points["piece"] == piece.name) & (points["axis"] == axis)].sort_values("at")


# ---------------------------------------------------------------------- tables


def size_in_words(piece: Piece, size: Size) -> str:
    parts = [f"n = {size.n:,}"] if size.n > 0 else []
    parts.append(f"p = {size.p:,}")
    return ", ".join([*parts, *([f"{size.m:,} {piece.repeats}"] if piece.repeats else [])])


def with_expected(fit: Exponent, expected: float) -> str:
    """The exponent, what the work would give if that is not 1, and a mark if they differ."""
    work = "" if expected == 1 else f" (work: {expected:g})"
    return f"{fit}{work}" + (" ⚠" if abs(fit.value - expected) > TOLERANCE else "")


def time_table(points: pd.DataFrame) -> str:
    body = []
    for piece in PIECES:
        cells = []
        for axis in AXES:
            found = along(points, piece, axis)
            if found.empty:
                cells.append("")
                continue
            fit = exponent(found["at"].to_numpy(float), found["cpu"].to_numpy())
            cells.append(with_expected(fit, piece.expected[axis]))
        mine = points[(points["piece"] == piece.name) & (points["axis"] != "workers")]
        ends = [mine.loc[mine["cpu"].idxmin()], mine.loc[mine["cpu"].idxmax()]]
        shown = [
            f"{size_in_words(piece, Size(row['n'], row['p'], row['m']))}: {row['cpu']:.2f}"
            for row in ends
        ]
        body.append([piece.name, *cells, *shown])
    header = ["piece", "exponent in n", "in p", "in m", "fastest, CPU s", "slowest, CPU s"]
    return table(header, body)


def memory_table(points: pd.DataFrame) -> str:
    body = []
    for piece in PIECES:
        cells = []
        for axis in AXES:
            found = along(points, piece, axis)
            seen = found[found["memory"] >= LEAST_MEMORY]
            if found.empty:
                cells.append("")
            elif len(seen) < 3:
                cells.append(f"at most {found['memory'].max():.0f} MB")
            else:
                cells.append(str(exponent(seen["at"].to_numpy(float), seen["memory"].to_numpy())))
        mine = points[(points["piece"] == piece.name) & (points["axis"] != "workers")]
        most = mine.loc[mine["memory"].idxmax()]
        shown = f"{most['memory']:,.0f} MB"
        beside = f"{most['data']:,.0f} MB" if most["data"] else "–"
        body.append([piece.name, *cells, shown, f"{most['axis']} = {most['at']:,}", beside])
    header = ["piece", "exponent in n", "in p", "in m", "most, beside the data", "at", "data there"]
    return table(header, body)


def workers_table(points: pd.DataFrame) -> str:
    body = []
    for piece in SHARED:
        found = along(points, piece, "workers").set_index("at")
        alone = found.loc[1, "path"]
        cells = [f"{alone:.1f}"]
        for k in found.index[1:]:
            path, total = found.loc[k, "path"], found.loc[k, "cpu"]
            cells.append(f"{path:.1f} ({alone / (k * path):.0%}; {total / alone:.2f} × the CPU)")
        body.append([piece.name, size_in_words(piece, piece.axes["workers"][0]), *cells])
    return table(["piece", "size", "1 worker, CPU s", "2 workers", "4 workers"], body)


# ---------------------------------------------------------------------- larger data, by arithmetic


@dataclass(frozen=True)
class Plan:
    """Data that are too large for one machine, and the workers that share them."""

    n: int = 10**8
    p: int = 10**4
    workers: int = 100
    resamples: int = 100
    classes: int = 2
    bins: int = 10
    batch: int = 2_000  # rows in memory at a time
    disk: float = 0.5e9  # bytes per second and worker; an assumption

    @property
    def cells(self) -> float:
        """Rows × features of one worker."""
        return self.n * self.p / self.workers


def bases_of(bases: pd.DataFrame) -> tuple[dict[str, float], bool]:
    """CPU seconds of a unit of work: of streaming where that was measured, else in memory."""
    found = dict(zip(bases["what"], bases["seconds"], strict=True))
    if not STREAMING.is_file():
        return found, False
    streamed = pd.read_csv(STREAMING)
    return found | dict(zip(streamed["what"], streamed["seconds"], strict=True)), True


def duration(seconds: float) -> str:
    for unit, name in ((3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.0f} s"


def volume(n_bytes: float) -> str:
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.3g} {name}"
    return f"{n_bytes / 1e3:,.3g} kB"


def extrapolation(bases: pd.DataFrame, plan: Plan = Plan()) -> str:
    unit, streamed = bases_of(bases)
    cells, b = plan.cells, plan.resamples
    nano = {name: f"{1e9 * seconds:.2f} ns" for name, seconds in unit.items()}
    values = f"{cells:.0e}".replace("e+", "·10^").replace("1·", "")
    values = f"10{''.join('⁰¹²³⁴⁵⁶⁷⁸⁹'[int(d)] for d in values.split('^')[1])}"
    moments = b * plan.classes * plan.p * 2 * 8
    counts = b * plan.bins * plan.classes * plan.p * 4
    pairs = plan.p**2 * 8
    batch = 2 * plan.batch * plan.p * 4
    work = [
        ("read everything once, from files in memory", f"{values} values × {nano['read_parquet']}",
         cells * unit["read_parquet"], batch, 0.0),
        ("F-statistic, no resampling", f"{values} × {nano['f_statistic_once']}",
         cells * unit["f_statistic_once"], batch + moments / b, moments / b),
        (f"F-statistic, {b} Poisson resamples", f"{values} × {b} × {nano['f_statistic']}",
         cells * b * unit["f_statistic"], batch + moments, moments),
        (f"information gain, {b} Poisson resamples", f"{values} × {b} × {nano['information_gain']}",
         cells * b * unit["information_gain"], batch + counts, counts),
        ("all correlations", f"{values} × {plan.p:,}/2 × {1e9 * unit['product']:.3f} ns",
         cells * plan.p / 2 * unit["product"], batch + pairs, pairs),
    ]  # fmt: skip
    body = [
        [what, how, duration(seconds), volume(memory), volume(sent) if sent else "–",
         volume(sent * plan.workers) if sent else "–"]
        for what, how, seconds, memory, sent in work
    ]  # fmt: skip
    header = [
        "work",
        "CPU time of a worker",
        "=",
        "memory of a worker",
        "sent by it",
        "sent by all",
    ]
    source = (
        "CPU times of a unit of work are those of the streaming path (`benchmarks/streaming.py`)."
        if streamed
        else "CPU times of a unit of work are those of the kernels on rows in memory; "
        "`benchmarks/streaming.py` replaces them once it has written "
        "`benchmarks/results/streaming_bases.csv`."
    )
    data = plan.n * plan.p * 4
    lines = [
        f"- Data: {plan.n:,} × {plan.p:,} values of 4 bytes are {volume(data)}; each of "
        f"{plan.workers} workers has {plan.n // plan.workers:,} rows, {volume(cells * 4)}.",
        f"- Disks: {volume(cells * 4)} a worker at {volume(plan.disk)} a second (assumed) take "
        f"{duration(cells * 4 / plan.disk)} a pass. A pass of one worker over everything would "
        f"take {duration(data / plan.disk)}.",
        f"- Batches: {plan.batch:,} rows × {plan.p:,} × 4 bytes, one read while one is worked "
        f"on: {volume(batch)}. Weights of a batch: {plan.batch:,} × {b} bytes.",
        f"- {source}",
    ]
    return "\n".join(lines) + "\n\n" + table(header, body)


# ---------------------------------------------------------------------- page and plot


def write_page(points: pd.DataFrame, bases: pd.DataFrame) -> None:
    grows = points[points["axis"] != "workers"]
    sizes = {3: "three", 4: "four"}[int(grows.groupby(["piece", "axis"]).size().min())]
    blocks = {
        "time": time_table(points),
        "memory": memory_table(points),
        "workers": workers_table(points),
        "extrapolation": extrapolation(bases),
        "measured": f"Measured {date.today():%d %B %Y} on one core of a two-core cloud machine "
        f"(AMD EPYC); {sizes} sizes a line.",
    }
    fill(PAGE, blocks)


def draw(points: pd.DataFrame) -> None:
    """Time above, memory below; one column per axis."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 3, figsize=(11, 7), sharey="row", layout="constrained")
    colours = plt.get_cmap("tab10")
    for column, (axis, label) in enumerate(AXES.items()):
        for number, piece in enumerate(PIECES):
            found = along(points, piece, axis)
            if found.empty:
                continue
            style = {"marker": "o", "ms": 3.5, "lw": 1.3, "color": colours(number)}
            panels[0, column].loglog(found["at"], found["cpu"], label=piece.name, **style)
            panels[1, column].loglog(found["at"], found["memory"].clip(lower=1), **style)
        panels[1, column].set_xlabel(label)
        for panel in panels[:, column]:
            panel.grid(alpha=0.25, which="major")
            panel.spines[["top", "right"]].set_visible(False)
        low = points.loc[points["axis"] == axis, "at"].min()
        x = np.array([low, 8 * low])
        panels[0, column].loglog(x, 0.04 * x / low, "k--", lw=0.8)
        panels[0, column].annotate("∝ size", (x[1], 0.32), fontsize=8, va="center")
    panels[0, 0].set_ylabel("CPU seconds")
    panels[1, 0].set_ylabel("MB beside the data (at least 1)")
    handles, labels = panels[0, 1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})
    plt.close(figure)

"""Side by side with other packages: the results must agree before a time is printed.

    python benchmarks/peers.py            all, a few minutes; rewrites the table in docs/speed.md
    python benchmarks/peers.py --only R   rows whose work or peer contains this; prints only

    pip install mrmr_selection ITMO_FS pyensemblefs arboreto
    R: install.packages(c("praznik", "RobustRankAggreg")); BiocManager::install("GENIE3")

Every row runs in a process of its own, on one core; CPU seconds, the least of up to three calls.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import platform
from datetime import date
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

from _pages import fill, table
from _peers import (
    Comparison,
    Outcome,
    arboreto,
    ensemble_f,
    f_statistics,
    itmo,
    itmo_gain,
    jaccard_product,
    l1_logistic,
    measure,
    mrmr_selection,
    network,
    product_f,
    quiet,
    sklearn_boosting,
    sklearn_f,
    sklearn_forests,
    sklearn_gain,
)
from _peers_r import genie3, has_package, praznik, rra

PAGE = Path(__file__).resolve().parents[1] / "docs" / "speed.md"
PIP, CRAN = "pip install {}", 'install.packages("{}")'
FLEURET = "it leaves I(X; Y) out of the minimum, unlike Fleuret (2004) and praznik"
WIDE = "n = 200, p = 10,000"


def in_python(
    work: str, peer: str, run: object, needs: str = "sklearn", because: str = ""
) -> Comparison:
    distribution = {"sklearn": "scikit-learn", "mrmr": "mrmr_selection"}.get(needs, needs)
    return Comparison(work, peer, needs, PIP.format(distribution), run, because=because)  # type: ignore[arg-type]


def in_r(work: str, package: str, run: object) -> Comparison:
    install = 'BiocManager::install("GENIE3")' if package == "GENIE3" else CRAN.format(package)
    return Comparison(work, f"{package} (R)", package, install, run, is_r=True)  # type: ignore[arg-type]


def of(function: object, *arguments: object) -> functools.partial[Outcome]:
    return functools.partial(function, *arguments)  # type: ignore[arg-type]


COMPARISONS = [
    in_python(f"whole ensemble of F-statistics, 100 resamples, {WIDE}",
              "pyensemblefs, with its scores", ensemble_f, "pyensemblefs"),
    in_python(f"F-statistic of 100 resamples, {WIDE}", "scikit-learn, f_classif",
              of(f_statistics, sklearn_f)),
    in_python("the same", "numpy, two matrix products", of(f_statistics, product_f), "numpy"),
    in_python("information gain, n = 200, p = 2,000", "scikit-learn, mutual_info_classif",
              sklearn_gain),
    in_python("the same", "ITMO_FS", itmo_gain, "ITMO_FS"),
    in_python("mRMR by F and correlation (FCQ), 20 of 2,000", "mrmr_selection", mrmr_selection,
              "mrmr"),
    *(in_python(f"{name}, 10 of 100 features, n = 200", "ITMO_FS", of(itmo, name.lower()),
                "ITMO_FS", FLEURET * (name == "CMIM")) for name in ("mRMR", "JMI", "CMIM")),
    *(in_r(f"{name}, 50 of 10,000 features, n = 200", "praznik", of(praznik, name))
      for name in ("CMIM", "JMIM", "NJMIM", "MRMR", "JMI", "DISR")),
    in_python("ensemble of L1 logistic regressions, 60 resamples, n = 100, p = 500",
              "scikit-learn, plain loop", l1_logistic),
    in_python("Jaccard, 1,600 runs of 50 of 10,000", "numpy, S·Sᵀ in float32", jaccard_product,
              "numpy"),
    *(in_python(f"{name}, 200 runs of 50 of 10,000", "pyensemblefs", of(measure, name, 200),
                "pyensemblefs") for name in ("jaccard", "nogueira")),
    in_r("RRA, 30 lists × 500", "RobustRankAggreg", rra),
    in_python("boosting network, 100 samples × 20 genes", "arboreto's core (GRNBoost2)",
              of(network, "boosting", arboreto, 20), "arboreto"),
    in_python("the same", "scikit-learn with GRNBoost2's settings",
              of(network, "boosting", sklearn_boosting, 20)),
    in_python("forest network, 100 samples × 40 genes, 200 trees", "GENIE3's Python loop",
              of(network, "forest", sklearn_forests, 40)),
    in_r("the same", "GENIE3", genie3),
]  # fmt: skip


def is_installed(comparison: Comparison) -> bool:
    if comparison.is_r:
        return has_package(comparison.needs)
    return importlib.util.find_spec(comparison.needs) is not None


def outcome_of(number: int) -> Outcome | str:
    """Run a comparison; what went wrong in the peer is said, not raised."""
    try:
        return quiet(COMPARISONS[number].run)
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0][:120]


def row_of(comparison: Comparison, number: int) -> list[str]:
    """A line of the table: no times without agreement."""
    names, none = [comparison.work, comparison.peer], ["–", "–", "–"]
    if not is_installed(comparison):
        return [*names, *none, f"not installed: `{comparison.install}`"]
    with get_context("spawn").Pool(1) as pool:
        outcome = pool.apply(outcome_of, (number,))
    if isinstance(outcome, str):
        return [*names, *none, f"failed: {outcome}"]
    if not outcome.agree:
        why = f": {comparison.because}" if comparison.because else ""
        return [*names, *none, f"no times, since they disagree ({outcome.how}){why}"]
    ours, theirs = outcome.ours, outcome.theirs
    return [*names, f"{ours:.3g}", f"{theirs:.3g}", f"{theirs / ours:.1f} ×", outcome.how]


def versions_line() -> str:
    named = (
        "mainstay",
        "numpy",
        "scikit-learn",
        "mrmr-selection",
        "ITMO-FS",
        "pyensemblefs",
        "arboreto",
    )
    modules = {"mrmr-selection": "mrmr", "ITMO-FS": "ITMO_FS", "scikit-learn": "sklearn"}
    there = [n for n in named if importlib.util.find_spec(modules.get(n, n)) is not None]
    found = ", ".join(f"{name} {version(name)}" for name in there)
    return (
        f"`python benchmarks/peers.py`, {date.today():%d %B %Y}, one core of a two-core cloud "
        f"machine that was busy with other work; Python {platform.python_version()}, {found}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose work or peer contains this")
    only = parser.parse_args().only
    rows = []
    for number, comparison in enumerate(COMPARISONS):
        if only in comparison.work or only in comparison.peer:
            rows.append(row_of(comparison, number))
            print(" | ".join(rows[-1]), flush=True)
    if not only:
        header = ["work", "peer", "mainstay, CPU s", "peer, CPU s", "ratio", "agreement"]
        fill(PAGE, {"peers": f"{versions_line()}\n\n{table(header, rows)}"})


if __name__ == "__main__":
    main()

"""Comparisons of peers.py with packages of R, where R and they are installed."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from _peers import (
    TREES,
    N,
    Outcome,
    as_similar,
    codes_of,
    equal,
    expression,
    fastest,
    first,
    matrix_of,
    same_order,
)

import mainstay as ms
from mainstay.rankers import make_ranker

# the second call counts: the first loads code
TIMED = """
folder <- commandArgs(trailingOnly = TRUE)[1]
x <- as.matrix(read.csv(file.path(folder, "x.csv")))
{prepare}
run <- function(seed) {{ {call} }}
invisible(run(1))
start <- proc.time()
found <- run(1)
spent <- proc.time() - start
writeLines(format(spent[["user.self"]] + spent[["sys.self"]], digits = 15),
           file.path(folder, "seconds.txt"))
write.csv(found, file.path(folder, "found.csv"), row.names = FALSE)
write.csv(run(2), file.path(folder, "again.csv"), row.names = FALSE)
"""


@functools.cache
def has_package(name: str) -> bool:
    """Whether R and the package are installed."""
    if shutil.which("Rscript") is None:
        return False
    asked = f'quit(status = if (requireNamespace("{name}", quietly = TRUE)) 0 else 1)'
    return subprocess.run(["Rscript", "-e", asked], capture_output=True).returncode == 0


def in_r(x: pd.DataFrame, prepare: str, call: str) -> tuple[float, pd.DataFrame, pd.DataFrame]:
    """CPU seconds of a call in R on a table x, its result, and that with another seed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        x.to_csv(folder / "x.csv", index=False)
        (folder / "run.R").write_text(TIMED.format(prepare=prepare, call=call), encoding="utf-8")
        done = subprocess.run(["Rscript", folder / "run.R", folder], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"R stopped with: {done.stderr.strip().splitlines()[-1]}")
        seconds = float((folder / "seconds.txt").read_text())
        return seconds, pd.read_csv(folder / "found.csv"), pd.read_csv(folder / "again.csv")


def rra(m: int = 30, p: int = 500) -> Outcome:
    """Equality of ρ: our score is −log ρ, the peer's min(1, m·ρ)."""
    rng = np.random.default_rng(0)
    scores = rng.random((m, p)) + (np.arange(p) < 20) * 0.5
    runs = ms.Runs.from_scores(scores)
    shares = pd.DataFrame((-scores).argsort(axis=1).argsort(axis=1).T + 1) / p
    seconds, found, _ = in_r(
        shares.add_prefix("list"),
        'library(RobustRankAggreg); rownames(x) <- paste0("f", seq_len(nrow(x)))',
        'r <- aggregateRanks(rmat = x, method = "RRA"); r[rownames(x), "Score", drop = FALSE]',
    )
    ms.aggregate(runs[:3], "rra")
    ours, ranking = fastest(lambda: ms.aggregate(runs, "rra"))
    corrected = np.minimum(1, m * np.exp(-ranking.scores))  # type: ignore[attr-defined]
    return Outcome(ours, seconds, *equal(corrected, found["Score"]))


def praznik(criterion: str, k: int = 50, p: int = 10_000) -> Outcome:
    codes, y = codes_of(N, p)
    table = pd.DataFrame(codes).add_prefix("g").assign(y=y)
    seconds, found, _ = in_r(
        table,
        "library(praznik); y <- factor(x[, ncol(x)]); "
        "x <- data.frame(lapply(as.data.frame(x[, -ncol(x)]), factor))",
        f"data.frame(selected = as.integer({criterion}(x, y, k = {k}, threads = 1)$selection))",
    )
    name = {"MRMR": "mrmr"}.get(criterion, criterion.lower())
    make_ranker(f"{name}@3").fit(codes[:, :20], y)
    ours, chosen = fastest(lambda: first(make_ranker(f"{name}@{k}").fit(codes, y), k))
    return Outcome(ours, seconds, *same_order(chosen, (found["selected"] - 1).tolist()))  # type: ignore[arg-type]


def genie3(p: int = 40) -> Outcome:
    table = expression(100, p)
    seconds, found, again = in_r(
        table,
        "library(GENIE3); x <- t(x)",
        f'set.seed(seed); l <- getLinkList(GENIE3(x, nTrees = {TREES}, K = "sqrt")); '
        "data.frame(TF = l$regulatoryGene, target = l$targetGene, importance = l$weight)",
    )
    options = {"method": "forest", "n_estimators": TREES, "max_features": "sqrt", "random_state": 0}
    ms.infer_network(expression(20, 4), **options, progress=False)
    ours, links = fastest(lambda: ms.infer_network(table, **options, progress=False))
    genes = list(table.columns)
    return Outcome(
        ours,
        seconds,
        *as_similar(
            matrix_of(links, genes, ("regulator", "target")),  # type: ignore[arg-type]
            *(matrix_of(one, genes, ("TF", "target")) for one in (found, again)),
        ),
    )

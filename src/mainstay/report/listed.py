"""How the list came about, as numbers: who is on it, who was passed over, what other rules give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from mainstay._validation import distinct
from mainstay.aggregation import AGGREGATIONS
from mainstay.report.words import ranker_name

if TYPE_CHECKING:
    import pandas as pd


def summarise_list(result: Any) -> dict[str, Any]:
    """Collect what explains the list, and what other ways to make one would give."""
    table = result.feature_table
    by_frequency, rules = _ranked_by_frequency(result), rules_of_rankers(result)
    return {
        "rule": _rule(result),
        "method": result.ranking.method,
        "rules": rules,
        "weights": result.settings.get("parameters", {}).get("ranker_weights"),
        "ranked_by_frequency": by_frequency,
        "passed_over": None if by_frequency else _passed_over(table),
        "by_frequency": None if by_frequency or rules else _by_frequency(table),
        "by_q_value": _by_q_value(result),
        "groups": _groups(result),
    }


def rules_of_rankers(result: Any) -> dict[str, str]:
    """Of several rankers: the rule that combined the runs of each, by the ranker's name.

    `ranking.method` is then the rule that combined the rankers. Empty for one ranker.
    """
    parameters = result.settings.get("parameters", {})
    rankers = parameters.get("ranker")
    if not isinstance(rankers, list) or len(rankers) < 2:
        return {}
    rule = ranker_name(parameters.get("aggregation"))  # results saved earlier say no more
    names = distinct(ranker_name(item) for item in rankers)
    return dict(result.settings.get("aggregations", dict.fromkeys(names, rule)))


def _rule(result: Any) -> str | int | float | None:
    """What was asked for: a number, a share, or a rule such as "frequency>=0.8"."""
    wanted = result.settings.get("parameters", {}).get("n_features_to_select")
    return wanted if isinstance(wanted, str | int | float) else None


def _ranked_by_frequency(result: Any) -> bool:
    known = AGGREGATIONS.get(result.ranking.method)
    return result.runs.kind == "support" or (known is not None and known.kind == "selections")


def _passed_over(table: pd.DataFrame) -> dict[str, Any] | None:
    """Features that more runs selected than the least frequent one of the list."""
    chosen = table[table["selected"]]
    if not len(chosen):
        return None
    last = chosen.iloc[int(np.argmin(chosen["frequency"]))]
    others = table[~table["selected"] & (table["frequency"] > last["frequency"])]
    if not len(others):
        return None
    order = others.sort_values("frequency", ascending=False, kind="stable")
    return {
        "weakest": str(last["feature"]),
        "weakest_frequency": float(last["frequency"]),
        "names": [str(name) for name in order["feature"]],
        "frequencies": [float(value) for value in order["frequency"]],
    }


def _by_frequency(table: pd.DataFrame) -> dict[str, list[str]] | None:
    """What would enter and leave a list of the same length, ranked by frequency."""
    k = int(table["selected"].sum())
    if not k:
        return None
    order = table.sort_values(["frequency", "rank"], ascending=[False, True], kind="stable")
    best = set(order["feature"].head(k))
    now = set(table["feature"][table["selected"]])
    return {
        "enter": [str(name) for name in order["feature"] if name in best - now],
        "leave": [str(name) for name in table["feature"] if name in now - best],
    }


def _by_q_value(result: Any) -> dict[str, Any] | None:
    if result.evidence is None:
        return None
    return {"level": float(result.evidence.level),
            "n": int((result.feature_table["q_value"] <= result.evidence.level).sum())}  # fmt: skip


def _groups(result: Any) -> list[dict[str, Any]] | None:
    """Groups of twins with a selected member, most frequent first.

    A group is a connected component of the features that can stand in for each other; its
    frequency is the share of runs that selected at least one of its members.
    """
    if result.similarity is None:
        return None
    features = result.runs.features
    labels = result.similarity.aligned_to(features).group_labels()
    belongs = sp.csr_array((np.ones(len(labels)), (np.arange(len(labels)), labels)))
    reached = sp.csr_array(result.selections.sparse_support.astype(float)) @ belongs > 0
    share = np.asarray(reached.sum(axis=0)).ravel() / result.selections.n_runs
    label_of = dict(zip(features, labels.tolist(), strict=True))
    chosen = set(result.selected)
    members: dict[int, list[str]] = {label_of[name]: [] for name in result.selected}
    for name in result.feature_table["feature"]:
        if label_of[name] in members:
            members[label_of[name]].append(str(name))
    groups = [
        {
            "members": sorted(names, key=lambda name: name not in chosen),
            "n_selected": sum(name in chosen for name in names),
            "frequency": float(share[label]),
        }
        for label, names in members.items()
    ]
    return sorted(groups, key=lambda group: -float(group["frequency"]))

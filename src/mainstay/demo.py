"""The tour that `mainstay demo` gives, on data that ships with scikit-learn."""

from __future__ import annotations

import click
import numpy as np

from mainstay._terminal import print_estimates
from mainstay.measures import stability
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity

N_SELECTED = 5
MEASURES = ("nogueira", "kuncheva", "hamming", "jaccard")
ADJUSTED = ("sma_count", "sma_mbm", "yu", "zucknick")


def run_demo(n_resamples: int, seed: int) -> None:
    """Bootstrap a decision tree on the breast cancer data and measure its selection's stability."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.tree import DecisionTreeClassifier

    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target.to_numpy()
    click.echo(
        f"Breast cancer data: {len(X)} patients, {X.shape[1]} features.\n"
        f"On each of {n_resamples} bootstrap samples a decision tree is grown; the {N_SELECTED} "
        "features it finds most important are selected.\n"
    )
    rng = np.random.default_rng(seed)
    scores = []
    for _ in range(n_resamples):
        rows = rng.integers(len(X), size=len(X))
        tree = DecisionTreeClassifier(random_state=int(rng.integers(2**31)))
        scores.append(tree.fit(X.to_numpy()[rows], y[rows]).feature_importances_)
    runs = Runs.from_scores(np.array(scores), features=list(X.columns))
    chosen = runs.top(N_SELECTED, random_state=seed)
    similarity = FeatureSimilarity.from_data(X, threshold=0.9)

    click.echo("How often was each feature selected?")
    for feature in np.argsort(-chosen.counts, kind="stable")[:12]:
        share = chosen.counts[feature] / n_resamples
        click.echo(f"  {share:4.0%}  {'█' * round(20 * share):<20}  {runs.features[feature]}")

    click.echo("\nHow reproducible is the selection? (1 = always the same)")
    estimates = [stability(chosen, name) for name in MEASURES]
    estimates += [
        stability(chosen, name, similarity=similarity, random_state=seed) for name in ADJUSTED
    ]
    print_estimates(estimates)
    plain, naive = float(estimates[0]), float(estimates[2])
    adjusted = float(estimates[len(MEASURES)])
    click.echo(
        f"\nTwo runs agree on {naive:.0%} of the features, but mostly on what both leave out: "
        f"corrected for chance\nthe stability is {plain:.2f} (0 = no better than drawing lots). "
        f"Many features are near copies of each other:\n{similarity!r}.\n"
        f"Counting those as exchangeable, the stability is {adjusted:.2f}."
    )

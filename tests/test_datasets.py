"""The simulated problems are what the paper defines, and data files are what they claim to be."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets as sklearn_datasets

from conftest import SHARED
from mainstay import InputError
from mainstay import datasets as ds
from mainstay.datasets import loaders

MAKERS = [ds.make_checkerboard, ds.make_friedman_correlated, ds.make_hypercube, ds.make_linear]
MANY = 40_000


def shared(name: str):
    folder = SHARED / "data" / name
    if not folder.is_dir():
        pytest.skip(f"data set {name} is not on this machine")
    return folder


# --- all four problems --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "relevant", "task"),
    [
        (ds.make_checkerboard, [50, 100, 150, 200], "regression"),
        (ds.make_friedman_correlated, [50, 100, 150, 200, 250], "regression"),
        (ds.make_hypercube, range(5), "classification"),
        (ds.make_linear, range(10), "classification"),
    ],
)
def test_sizes_are_those_of_the_paper(make, relevant, task):
    data = make(random_state=0)
    m = 300 + len(relevant)
    assert (data.X.shape, data.y.shape) == ((300, m), (300,))
    assert (data.X_test.shape, data.y_test.shape) == ((500, m), (500,))
    assert data.relevant.tolist() == list(relevant)
    assert data.task == task
    assert data.feature_names[:2] == ("x0", "x1")
    assert data.to_frame().shape == (300, m + 1)
    assert f"{len(relevant)} of them relevant" in repr(data)


@pytest.mark.parametrize("make", MAKERS)
def test_the_seed_decides_everything(make):
    first, again, other = (make(random_state=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.X, again.X)
    assert np.array_equal(first.y_test, again.y_test)
    assert not np.array_equal(first.X, other.X)
    stream = np.random.default_rng(1)
    assert np.array_equal(make(random_state=stream).X, first.X)
    assert not np.array_equal(make(random_state=stream).X, first.X)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("n_irrelevant", [0, 1, 7])
def test_any_number_of_irrelevant_features(make, n_irrelevant):
    data = make(50, n_irrelevant, n_test=0, random_state=0)
    assert data.X.shape[1] == len(data.relevant) + n_irrelevant
    assert len(set(data.relevant.tolist())) == len(data.relevant)
    assert data.relevant.max() < data.X.shape[1]
    assert len(data.y_test) == 0


@pytest.mark.parametrize(
    "make", [ds.make_checkerboard, ds.make_friedman_correlated, ds.make_linear]
)
def test_training_rows_do_not_depend_on_how_many_are_for_testing(make):
    few, many = make(n_test=10, random_state=0), make(n_test=20, random_state=0)
    assert np.array_equal(few.X, many.X)
    assert np.array_equal(few.y, many.y)


@pytest.mark.parametrize("make", MAKERS)
def test_impossible_sizes_are_refused(make):
    with pytest.raises(InputError, match="n_samples must be a whole number"):
        make(0)
    with pytest.raises(InputError, match="n_irrelevant must be a whole number at least 0, got -1"):
        make(n_irrelevant=-1)
    with pytest.raises(InputError, match="n_test"):
        make(n_test=2.5)


# --- each problem against its definition --------------------------------------------------------


def test_neighbours_are_correlated_as_defined():
    data = ds.make_checkerboard(MANY, 36, n_test=0, random_state=0)
    distance = np.abs(np.subtract.outer(np.arange(40), np.arange(40)))
    assert np.cov(data.X.T) == pytest.approx(0.9**distance, abs=0.03)
    assert data.X.mean(axis=0) == pytest.approx(np.zeros(40), abs=0.03)


def test_checkerboard_is_made_of_two_products_and_unit_noise():
    data = ds.make_checkerboard(MANY, 300, n_test=0, random_state=0)
    a, b, c, d = data.X[:, data.relevant].T
    noise = data.y - 2 * a * b - 2 * c * d
    assert noise.mean() == pytest.approx(0, abs=0.02)
    assert noise.std() == pytest.approx(1, abs=0.01)
    assert data.y.var() == pytest.approx(9, abs=0.3)  # 4 + 4 + 1


def test_in_the_checkerboard_no_feature_tells_anything_alone():
    data = ds.make_checkerboard(MANY, 300, n_test=0, random_state=0)
    for j in data.relevant:
        tenth = np.digitize(data.X[:, j], np.quantile(data.X[:, j], np.arange(0.1, 1, 0.1)))
        means = [data.y[tenth == part].mean() for part in range(10)]
        assert means == pytest.approx(np.zeros(10), abs=0.25)
    a, b = data.X[:, data.relevant[:2]].T
    same_sign = data.y[a * b > 0].mean() - data.y[a * b <= 0].mean()
    assert same_sign == pytest.approx(8 / np.pi, abs=0.15)  # E|2ab| · 2, two half-normals


def test_friedman_is_friedmans_formula_on_values_between_0_and_1():
    data = ds.make_friedman_correlated(MANY, 300, n_test=0, random_state=0)
    a, b, c, d, e = data.X[:, data.relevant].T
    formula = 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
    assert (data.y - formula).std() == pytest.approx(0.1, abs=0.002)
    assert data.X.mean() == pytest.approx(0.5, abs=0.002)
    assert data.X.std(axis=0) == pytest.approx(np.full(305, 0.5 / 3), rel=0.02)
    assert np.corrcoef(data.X[:, 10], data.X[:, 12])[0, 1] == pytest.approx(0.81, abs=0.01)
    assert ((data.X > 0) & (data.X < 1)).mean() == pytest.approx(0.9973, abs=0.001)  # ± 3 s


def test_hypercube_has_two_corners_per_class_and_noise_around_them():
    data = ds.make_hypercube(MANY, 20, n_test=0, covariance="identity", random_state=3)
    assert data.y.mean() == pytest.approx(0.5, abs=0.01)
    noise = data.X[:, 5:]
    assert np.cov(noise.T) == pytest.approx(np.eye(20), abs=0.03)
    assert np.abs(np.corrcoef(noise.T, data.y)[-1, :-1]).max() < 0.02
    nearest = np.sign(data.X[:, :5])
    far = np.abs(data.X[:, :5]).min(axis=1) > 1  # rows that leave little doubt about their corner
    corners = {tuple(row) for row in nearest[far]}
    counts = {c: int((nearest[far] == c).all(axis=1).sum()) for c in corners}
    assert sum(count > 100 for count in counts.values()) == 4
    for corner, count in counts.items():
        if count > 100:
            classes = data.y[far & (nearest == corner).all(axis=1)]
            assert max(classes.mean(), 1 - classes.mean()) > 0.9


def test_hypercube_as_scikit_learn_makes_it_has_a_random_covariance_per_cluster():
    data = ds.make_hypercube(MANY, 0, n_test=0, random_state=0)
    inside = np.cov(data.X[data.y == 0].T)
    assert np.abs(inside - np.diag(np.diag(inside))).max() > 0.3
    assert data.y.mean() == pytest.approx(0.5, abs=0.01)


def test_linear_classes_are_the_sides_of_a_plane():
    from sklearn.linear_model import LogisticRegression

    data = ds.make_linear(2000, 20, n_test=2000, random_state=0)
    assert data.y.sum() == 1000
    assert data.y_test.mean() == pytest.approx(0.5, abs=0.05)
    model = LogisticRegression(C=1e4, max_iter=1000).fit(data.X, data.y)
    assert model.score(data.X_test, data.y_test) > 0.98
    slopes = model.coef_[0] / model.coef_[0].max()
    assert (slopes[:10] > -0.02).all()  # weights are U(0, 100)
    assert np.abs(slopes[10:]).max() < 0.1


def test_shuffled_features_keep_their_values_and_lose_their_meaning():
    X = np.random.default_rng(0).normal([0, 10, 20], size=(200, 3))
    longer, relevant = ds.add_permuted_features(X, 10, random_state=0)
    assert longer.shape == (200, 13)
    assert relevant.tolist() == [0, 1, 2]
    assert np.array_equal(longer[:, :3], X)
    sources = np.round(longer[:, 3:].mean(axis=0) / 10).astype(int)
    assert np.bincount(sources).min() >= 3
    for column, source in zip(longer[:, 3:].T, sources, strict=True):
        assert np.array_equal(np.sort(column), np.sort(X[:, source]))
        assert abs(np.corrcoef(column, X[:, source])[0, 1]) < 0.3
    assert ds.add_permuted_features(X, 0)[0].shape == (200, 3)
    with pytest.raises(InputError, match="rows × features"):
        ds.add_permuted_features([1, 2, 3])


# --- files --------------------------------------------------------------------------------------


def pack(path, table: pd.DataFrame):
    path.write_bytes(gzip.compress(table.to_csv(sep="\t", index=False).encode(), mtime=0))
    return path


@pytest.fixture
def small() -> pd.DataFrame:
    return pd.DataFrame({"a": [1, 2, 3, 4], "b": [0.5, 0.25, 0.5, 1.0], "target": [0, 1, 0, 1]})


def test_a_set_of_ones_own_folder(tmp_path, small):
    pack(tmp_path / "mine.tsv.gz", small)
    data = ds.load_pmlb("mine", tmp_path)
    assert data.feature_names == ("a", "b")
    assert data.y.tolist() == [0, 1, 0, 1]
    assert data.X.dtypes.eq(float).all()
    assert repr(data) == "mine: classification, 4 rows × 2 features"
    assert list(data.to_frame().columns) == ["a", "b", "y"]
    small.assign(target=[0.1, 0.2, 0.3, 0.4]).to_csv(tmp_path / "plain.tsv", sep="\t", index=False)
    assert ds.load_pmlb("plain", tmp_path).task == "regression"


def test_what_is_missing_or_wrong_is_named(tmp_path, small):
    pack(tmp_path / "mine.tsv.gz", small)
    pack(tmp_path / "pm10.tsv.gz", small)
    with pytest.raises(InputError, match=r"unknown data set .* 'mina'. Did you mean 'mine'\?"):
        ds.load_pmlb("mina", tmp_path)
    with pytest.raises(InputError, match="no folder"):
        ds.load_pmlb("mine", tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"unknown PMLB set 'winde'. Did you mean 'wind'\?"):
        ds.load_pmlb("winde")
    with pytest.raises(InputError, match="not the file that was published: its sha256 is"):
        ds.load_pmlb("pm10", tmp_path)
    assert len(ds.load_pmlb("pm10", tmp_path, verify=False).y) == 4
    pack(tmp_path / "blind.tsv.gz", small.drop(columns="target"))
    with pytest.raises(InputError, match="no column 'target'; it has 'a', 'b'"):
        ds.load_pmlb("blind", tmp_path)
    (tmp_path / "broken.tsv.gz").write_bytes(b"no gzip")
    with pytest.raises(InputError, match="could not be read"):
        ds.load_pmlb("broken", tmp_path)


def test_a_download_is_checked_and_kept(tmp_path, small, monkeypatch):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    source = pack(tmp_path / "pm10.tsv.gz", small)
    address = source.as_uri()
    with pytest.raises(InputError, match="is not the file that was published"):
        ds.load_pmlb("pm10", url=address)
    assert not list((tmp_path / "home").rglob("*.gz"))
    published = loaders.Published("pm10", "regression", loaders._sum_of(source.read_bytes()))
    monkeypatch.setitem(ds.PMLB, "pm10", published)
    assert len(ds.load_pmlb("pm10", url=address).y) == 4
    source.unlink()
    assert len(ds.load_pmlb("pm10", url=address).y) == 4  # from the data folder
    (kept,) = (tmp_path / "home").rglob("*.gz")
    kept.write_bytes(b"damaged")
    with pytest.raises(InputError, match="could not be downloaded"):
        ds.load_pmlb("pm10", url=address)


def test_dream4_reads_expression_and_links_of_one_network(tmp_path):
    genes = pd.DataFrame(np.random.default_rng(0).random((5, 3)), columns=["G1", "G2", "G3"])
    links = pd.DataFrame({"regulator": ["G1"], "target": ["G3"]})
    pack(tmp_path / "net2_expression.tsv.gz", genes)
    pack(tmp_path / "net2_gold_edges.tsv.gz", links)
    data = ds.load_dream4(2, tmp_path, verify=False)
    assert repr(data) == "DREAM4 network 2: 5 samples × 3 genes, 1 true links"
    assert np.allclose(data.expression, genes)
    from_url = ds.load_dream4(2, url=tmp_path.as_uri(), verify=False)
    assert from_url.links.equals(data.links)
    with pytest.raises(InputError, match="sha256"):
        ds.load_dream4(2, tmp_path)
    with pytest.raises(InputError, match="net1_expression"):
        ds.load_dream4(1, tmp_path)
    with pytest.raises(InputError, match="network must be a whole number from 1 to 5, got 6"):
        ds.load_dream4(6, tmp_path)
    with pytest.raises(InputError, match="give the folder"):
        ds.load_dream4(1)
    pack(tmp_path / "net2_gold_edges.tsv.gz", links.replace("G3", "G9"))
    with pytest.raises(InputError, match="without expression: 'G9'"):
        ds.load_dream4(2, tmp_path, verify=False)


def test_openml_from_a_folder(tmp_path):
    (tmp_path / "toy.arff").write_text(
        "@relation toy\n@attribute a numeric\n@attribute colour {red,blue}\n"
        "@attribute class {yes,no}\n@data\n1,red,yes\n2,blue,no\n?,red,yes\n"
    )
    data = ds.load_openml("toy", tmp_path)
    assert (data.task, data.y.tolist()) == ("classification", ["yes", "no", "yes"])
    assert data.X["colour"].tolist() == ["red", "blue", "red"]
    assert data.X["a"].isna().tolist() == [False, False, True]
    table = pd.DataFrame({"y": [0.5, 0.25, 0.75], "a": [1, 2, 3]})
    table.to_parquet(tmp_path / "31.parquet")
    assert ds.load_openml(31, tmp_path).task == "regression"
    assert ds.load_openml(31, tmp_path, target="a").feature_names == ("y",)
    with pytest.raises(InputError, match="sha256"):
        ds.load_openml(31, tmp_path, sha256="0" * 64)
    with pytest.raises(InputError, match="unknown column"):
        ds.load_openml(31, tmp_path, target="b")
    table.rename(columns={"y": "z"}).to_parquet(tmp_path / "32.parquet")
    with pytest.raises(InputError, match="no column target, class or y"):
        ds.load_openml(32, tmp_path)
    (tmp_path / "bad.arff").write_text("@relation bad\n@attribute a whatever\n@data\n1\n")
    with pytest.raises(InputError, match="could not be read as arff"):
        ds.load_openml("bad", tmp_path)


def test_openml_is_fetched_by_scikit_learn(monkeypatch):
    asked = {}

    def fetch(**options):
        asked.update(options)
        if options.get("data_id") == 404:
            raise OSError("no network")
        X = pd.DataFrame({"a": [1.0, 2, 3]})
        return sklearn_datasets.load_iris() | {"data": X, "target": pd.Series(["u", "v", "u"])}

    def as_bunch(**options):
        from sklearn.utils import Bunch

        return Bunch(**fetch(**options))

    monkeypatch.setattr(sklearn_datasets, "fetch_openml", as_bunch)
    data = ds.load_openml("toy", version=2, target="outcome")
    assert asked == {"name": "toy", "version": 2, "target_column": "outcome", "as_frame": True}
    assert (data.task, data.feature_names) == ("classification", ("a",))
    with pytest.raises(InputError, match="404 could not be fetched: no network"):
        ds.load_openml(404)


# --- the papers' data ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shape", "task"),
    [
        ("pm10", (500, 7), "regression"),
        ("ERA", (1000, 4), "regression"),
        ("bupa", (345, 5), "classification"),
        ("spectf", (349, 44), "classification"),
    ],
)
def test_pmlb_sets_have_the_papers_sizes(name, shape, task):
    data = ds.load_pmlb(name, shared("pmlb"))
    assert data.X.shape == shape
    assert data.task == task


def test_dream4_links_go_between_correlated_genes():
    counts = []
    for network in range(1, 6):
        data = ds.load_dream4(network, shared("dream4"))
        counts.append(len(data.links))
        strength = data.expression.corr().abs()
        on_links = strength.to_numpy()[
            strength.index.get_indexer(data.links["regulator"]),
            strength.columns.get_indexer(data.links["target"]),
        ]
        assert 0.19 < on_links.mean() < 0.31  # chance level is 0.08 to 0.13
    assert counts == [176, 249, 195, 211, 193]

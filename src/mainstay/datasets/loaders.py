"""Loaders of the papers' data: PMLB, DREAM4, OpenML.

They read a local folder; without one they download, compare the checksum and keep the file in
scikit-learn's data folder (`sklearn.datasets.get_data_home()`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mainstay._files import read_annotated
from mainstay._validation import InputError, check_choice, check_count, some
from mainstay._writing import replacing
from mainstay.datasets.simulated import Task

_PMLB_URL = "https://github.com/EpistasisLab/pmlb/raw/master/datasets"
_TIMEOUT = 60  # seconds to wait for an answer
_TABLES = (".parquet", ".csv", ".tsv", ".feather", ".npz", ".mat")


@dataclass(frozen=True)
class Published:
    """A published file: the publisher's name for it, its task, and the sha256 of its bytes."""

    name: str
    task: Task
    sha256: str


# The 15 sets of Huynh-Thu and Geurts (2021), table S4.
_PMLB_FILES: list[tuple[Task, str, str, str]] = [
    ("regression", "cpu_act", "197_cpu_act",
     "d00fd6bac2eda0821a04ff10277663d211127745a19a474c0feee41a16914fdc"),
    ("regression", "ERA", "1030_ERA",
     "cc5b7c9f04e56da7063b1162ec057f6e777634b73d4cd0e3a4b253ba330bce91"),
    ("regression", "GeographicalOriginalofMusic", "4544_GeographicalOriginalofMusic",
     "5b20048751e68b6dd76a7b66ada790fb90f9dd41bd8c82d448fe439f8d038969"),
    ("regression", "pm10", "522_pm10",
     "ecbabaa5a989a8c11f5a57e874c135f386da5379d6689ae6d5d4264a652fa5e0"),
    ("regression", "rmftsa_ladata", "666_rmftsa_ladata",
     "955f006886606699ceab5fb38693e4fe10f74f450a2fd6dfd75af09b8b134d31"),
    ("regression", "satellite_image", "294_satellite_image",
     "4a65cdd640642af2c5d3c6a53b61e563156feb14bd26486dc9d5f47140c0690f"),
    ("regression", "wind", "503_wind",
     "2cc1e040bdc20737674a00039cd80e16758c511e697e524ed17e4335ec93e9a6"),
    ("classification", "breast_cancer_wisconsin", "_deprecated_breast_cancer_wisconsin",
     "754340907cb4a4a5936e800078fe9f580dbccce67728fc2a431f7db4ca46484c"),
    ("classification", "bupa", "bupa",
     "169f66e07a933521e65fbcc4bdfeb1a2ad942441ae0aa48480fcb0a8e78e37a7"),
    ("classification", "clean2", "clean2",
     "c6d768714b6ecfebeb8a1bab4cb45de7c86fddafa769d6de53f52b464ff18bb3"),
    ("classification", "diabetes", "_deprecated_diabetes",
     "22c0fae7298efcb4566c4d4cc19a53c505476cccf6518328303e2b7334110781"),
    ("classification", "haberman", "haberman",
     "2f44ac12e09d2fd09d9ac70231cecbfbc333356339dec0509ad1ed96e36e94c0"),
    ("classification", "phoneme", "phoneme",
     "2e1c31a2c560f3539be5bda1084939765c80ddd814bd6919fd8a3465f9b8aee6"),
    ("classification", "spambase", "spambase",
     "735e8d43f7ee78ac54ca17404510e95f4c8b364a721e4d9532a1b3221ed70961"),
    ("classification", "spectf", "spectf",
     "664081130aa48fc189b2e1d3c44332f0b3eb1ee6d31b79af1643c137697677e4"),
]  # fmt: skip
PMLB: dict[str, Published] = {
    name: Published(upstream, task, sha256) for task, name, upstream, sha256 in _PMLB_FILES
}

# Checksums of each network's expression and links.
DREAM4: dict[int, tuple[str, str]] = {
    1: ("d0c4fdbb8a5d7439d70a170f16266f6f83f5491ae54333c3aa69e52c1e5b6746",
        "86635818385d5dab9443ffc461721b9328a701a07229c97e09d8a5f3c0ebd411"),
    2: ("a95cd55fe7b93ec877843cf98b532465b6b4976d1061b50c84d9a4e5d60471b2",
        "6f17fd211781d75d6225d2b2e140adfc88f4664ba5b21437a94e798b5afd6cbe"),
    3: ("86b265271bf48cbc90936b4b62e2efac9b6d70a385879dffc67adf66ba0fdd8a",
        "eae1a6e284f234f0b59f643fa23e97ff41f1a2ecebb625a7899e825a0581177e"),
    4: ("975ad044469042f719827280b04ad06792b73b597968c3f9f964412f44dabd8d",
        "1d17fbdbe209f5a908cdb037266ede3f97fa60452605e6ed146416d9a5d9c399"),
    5: ("2e36a44e9fa5a363299f751ef512e5ed11b8a6d1e9b80c3018470e186f0f9eb8",
        "530792167a191d71bf53a2c78b40a8416f748102fc0403529ef2edaf6c238bd5"),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class LoadedData:
    """A table of features and a target.

    Attributes
    ----------
    name, task : str
        The task is "regression" or "classification".
    X : pandas.DataFrame
        The features.
    y : numpy.ndarray
        The target.
    """

    name: str
    task: Task
    X: pd.DataFrame
    y: np.ndarray

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of X."""
        return tuple(str(name) for name in self.X.columns)

    def to_frame(self) -> pd.DataFrame:
        """Return X with the target as its last column, `y`."""
        return self.X.assign(y=self.y)

    def __repr__(self) -> str:
        return f"{self.name}: {self.task}, {self.X.shape[0]} rows × {self.X.shape[1]} features"


@dataclass(frozen=True, eq=False)
class NetworkData:
    """Expression of genes, and the regulatory links that are known to be true.

    Attributes
    ----------
    name : str
        Such as "DREAM4 network 1".
    expression : pandas.DataFrame
        Samples × genes.
    links : pandas.DataFrame
        Columns `regulator` and `target`: the true links. No other ordered pair of genes is a link.
    """

    name: str
    expression: pd.DataFrame
    links: pd.DataFrame

    def __repr__(self) -> str:
        samples, genes = self.expression.shape
        return f"{self.name}: {samples} samples × {genes} genes, {len(self.links)} true links"


def load_pmlb(
    name: str, folder: str | Path | None = None, *, url: str | None = None, verify: bool = True
) -> LoadedData:
    """Load a set of the Penn Machine Learning Benchmarks.

    Parameters
    ----------
    name : str
        One of the 15 sets that Huynh-Thu and Geurts (2021) use, `mainstay.datasets.PMLB`; with a
        folder, any set in it.
    folder : str or Path, optional
        Where `<name>.tsv.gz` (or `<name>.tsv`) is; downloaded if not given.
    url : str, optional
        Download from here instead of from PMLB's repository.
    verify : bool
        Compare the file's sha256 with the published one, where it is known.

    Returns
    -------
    LoadedData

    References
    ----------
    Olson, R. S. et al. (2017). PMLB: a large benchmark suite for machine learning evaluation and
    comparison. BioData Mining 10:36.

    Examples
    --------
    >>> from mainstay.datasets import load_pmlb
    >>> load_pmlb("pm10", folder="data/pmlb")  # doctest: +SKIP
    pm10: regression, 500 rows × 7 features
    """
    if folder is None:
        known: Published | None = PMLB[check_choice("PMLB set", name, PMLB)]
        assert known is not None
        address = url or f"{_PMLB_URL}/{known.name}/{known.name}.tsv.gz"
        path = _download(address, f"pmlb_{name}.tsv.gz", known.sha256 if verify else None)
    else:
        path = _in_folder(folder, name, (".tsv.gz", ".tsv"))
        known = PMLB.get(name)
        if known is not None and verify and path.suffix == ".gz":
            _check_sum(path, known.sha256)
    table = _read_tsv(path)
    if "target" not in table.columns:
        raise InputError(f"{path} has no column 'target'; it has {some(list(table.columns))}.")
    task = known.task if known is not None else _task_of(table["target"])
    y = table["target"].to_numpy()
    return LoadedData(name, task, table.drop(columns="target").astype(float), y)


def load_dream4(
    network: int, folder: str | Path | None = None, *, url: str | None = None, verify: bool = True
) -> NetworkData:
    """Load one of the five 100-gene networks of the DREAM4 multifactorial challenge.

    Parameters
    ----------
    network : int
        1 to 5.
    folder : str or Path, optional
        Where `net<k>_expression.tsv.gz` (samples × genes) and `net<k>_gold_edges.tsv.gz` (columns
        regulator, target: the true links) are.
    url : str, optional
        Without a folder: address of a folder with these files. The challenge's own server is gone,
        so there is no default.
    verify : bool
        Compare the files' sha256.

    Returns
    -------
    NetworkData

    Notes
    -----
    The gold standards must be those of the *multifactorial* sub-challenge. Those of the other
    size-100 challenge have the same shape with other gene labels: results look like chance.

    References
    ----------
    Marbach, D. et al. (2010). Revealing strengths and weaknesses of methods for gene network
    inference. PNAS 107, 6286–6291.

    Examples
    --------
    >>> from mainstay.datasets import load_dream4
    >>> load_dream4(1, folder="data/dream4")  # doctest: +SKIP
    DREAM4 network 1: 100 samples × 100 genes, 176 true links
    """
    k = check_count("network", network, 1, len(DREAM4))
    names = [f"net{k}_expression.tsv.gz", f"net{k}_gold_edges.tsv.gz"]
    sums = DREAM4[k] if verify else (None, None)
    if folder is not None:
        paths = [_in_folder(folder, name, ("",)) for name in names]
        for path, expected in zip(paths, sums, strict=True):
            if expected is not None:
                _check_sum(path, expected)
    elif url is not None:
        paths = [
            _download(f"{url.rstrip('/')}/{name}", f"dream4_{name}", expected)
            for name, expected in zip(names, sums, strict=True)
        ]
    else:
        raise InputError(
            f"give the folder (or the url of a folder) that holds {' and '.join(names)}; the "
            "challenge's server is gone. Expression: Bioconductor package DREAM4; true links of "
            "the multifactorial sub-challenge: github.com/vahuynh/PRS, datasets/dream4."
        )
    expression, links = (_read_tsv(path) for path in paths)
    if not {"regulator", "target"} <= set(links.columns):
        raise InputError(f"{paths[1]} needs the columns regulator and target.")
    named = set(links["regulator"]) | set(links["target"])
    unknown = sorted(named - set(expression.columns))
    if unknown:
        raise InputError(f"the links of network {k} name genes without expression: {some(unknown)}")
    return NetworkData(f"DREAM4 network {k}", expression, links[["regulator", "target"]])


def load_openml(
    name_or_id: str | int,
    folder: str | Path | None = None,
    *,
    version: int | str = "active",
    target: str | None = None,
    sha256: str | None = None,
) -> LoadedData:
    """Load a set of OpenML, from a folder or by `sklearn.datasets.fetch_openml`.

    Parameters
    ----------
    name_or_id : str or int
        Name or number of the set; in a folder the name of the file, without its ending.
    folder : str or Path, optional
        Where the .arff, .parquet, .csv, .tsv, .feather, .npz or .mat file is. Without it,
        scikit-learn downloads the set, and compares OpenML's checksum.
    version : int or "active"
        Version, where a name has several.
    target : str, optional
        Column to be predicted. By default the one OpenML names; in a folder "target", "class" or
        "y", or the last column of an .arff file.
    sha256 : str, optional
        Checksum of the file in the folder.

    Returns
    -------
    LoadedData

    References
    ----------
    Vanschoren, J. et al. (2013). OpenML: networked science in machine learning. SIGKDD
    Explorations 15, 49–60.

    Examples
    --------
    >>> from mainstay.datasets import load_openml
    >>> load_openml("diabetes", version=1)  # doctest: +SKIP
    diabetes: classification, 768 rows × 8 features
    """
    if folder is None:
        return _fetch_openml(name_or_id, version, target)
    path = _in_folder(folder, str(name_or_id), (".arff", *_TABLES))
    if sha256 is not None:
        _check_sum(path, sha256)
    if path.suffix == ".arff":
        table = _read_arff(path)
        column = target or str(table.columns[-1])
    else:
        table, annotations = read_annotated(path)
        usual = [
            name for name in ("target", "class", "y") if name in {*table.columns, *annotations}
        ]
        column = target or (usual[0] if usual else "")
        if not column:
            raise InputError(f"{path} has no column target, class or y; say which: target=….")
        if column in annotations:
            table[column] = annotations[column]()
    check_choice(f"column of {path}", column, list(table.columns))
    y = table[column]
    return LoadedData(str(name_or_id), _task_of(y), table.drop(columns=column), y.to_numpy())


# ---------------------------------------------------------------------- files


def _fetch_openml(name_or_id: str | int, version: int | str, target: str | None) -> LoadedData:
    from urllib.error import URLError

    from sklearn import datasets

    by_id = isinstance(name_or_id, int | np.integer)
    which: dict[str, Any] = (
        {"data_id": int(name_or_id)} if by_id else {"name": name_or_id, "version": version}
    )
    try:
        fetched = datasets.fetch_openml(
            **which, target_column=target or "default-target", as_frame=True
        )
    except (URLError, OSError, ValueError) as error:
        raise InputError(
            f"OpenML set {name_or_id!r} could not be fetched: {error}. Give folder= to read a "
            "local copy."
        ) from error
    y = fetched.target
    return LoadedData(str(name_or_id), _task_of(y), fetched.data, y.to_numpy())


def _in_folder(folder: str | Path, name: str, endings: tuple[str, ...]) -> Path:
    """Find a file; if it is not there, say what is."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"there is no folder {str(folder)!r}.")
    for ending in endings:
        path = folder / f"{name}{ending}"
        if path.is_file():
            return path
    present = {file.name for file in folder.iterdir() if file.is_file()}
    ending = max((e for e in endings if any(f.endswith(e) for f in present)), default="", key=len)
    names = sorted(file.removesuffix(ending) for file in present if file.endswith(ending))
    check_choice(f"data set in {folder}", name, names)
    raise AssertionError  # pragma: no cover


def _download(address: str, name: str, sha256: str | None) -> Path:
    """Fetch a file once; a file with another checksum than expected is not kept."""
    from urllib.error import URLError
    from urllib.request import urlopen

    from sklearn.datasets import get_data_home

    kept = Path(get_data_home()) / "mainstay" / name
    if kept.is_file() and sha256 is not None and _sum_of(kept.read_bytes()) == sha256:
        return kept
    try:
        with urlopen(address, timeout=_TIMEOUT) as answer:
            content = answer.read()
    except (URLError, OSError, ValueError) as error:
        raise InputError(
            f"{address} could not be downloaded: {error}. Give folder= to read a local copy, or "
            "another url=."
        ) from error
    if sha256 is not None and _sum_of(content) != sha256:
        raise InputError(
            f"{address} is not the file that was published: its sha256 is {_sum_of(content)}, "
            f"expected {sha256}."
        )
    kept.parent.mkdir(parents=True, exist_ok=True)
    with replacing(kept) as part:
        part.write_bytes(content)
    return kept


def _check_sum(path: Path, sha256: str) -> None:
    actual = _sum_of(path.read_bytes())
    if actual != sha256:
        raise InputError(
            f"{path} is not the file that was published: its sha256 is {actual}, expected "
            f"{sha256}. Get it again, or read it as it is (verify=False, or without sha256=)."
        )


def _sum_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read_tsv(path: Path) -> pd.DataFrame:
    try:
        table: pd.DataFrame = pd.read_csv(path, sep="\t")
    except Exception as error:  # gzip and pandas raise errors of many kinds
        raise InputError(f"{path} could not be read as tab-separated text: {error}") from error
    return table


def _read_arff(path: Path) -> pd.DataFrame:
    from scipy.io import arff

    try:
        with path.open(encoding="utf-8") as file:
            records, meta = arff.loadarff(file)
    except Exception as error:  # scipy's reader raises errors of many kinds
        raise InputError(f"{path} could not be read as arff: {error}") from error
    table = pd.DataFrame(records)
    for name, kind in zip(meta.names(), meta.types(), strict=True):
        if kind == "nominal":
            table[name] = table[name].str.decode("utf-8").replace("?", None)
    return table


def _task_of(y: pd.Series) -> Task:
    from mainstay.rankers.inputs import infer_task

    return "regression" if infer_task(y)[0] == "regression" else "classification"

"""Which class reads a source of rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mainstay._validation import InputError
from mainstay.batches.sources import Source


def open_source(source: Any, target: Any, features: Sequence[str] | None) -> Source:
    """Find the class for a source."""
    if isinstance(source, str | Path):
        return _open_path(Path(source), target, features)
    if features is not None and not isinstance(source, np.ndarray):
        raise InputError("features= names the columns of an array; other sources have names.")
    module = type(source).__module__.split(".")[0]
    if isinstance(source, np.ndarray):
        from mainstay.batches.arrays import ArrayRows

        return ArrayRows(source, target, features)
    if module == "pyarrow":
        from mainstay.batches.arrow import ArrowRows

        return ArrowRows(source, target)
    if hasattr(source, "partitions") and hasattr(source, "npartitions"):
        from mainstay.batches.frames import DaskRows

        return DaskRows(source, target)
    raise InputError(
        "rows are read from a folder of Parquet files, a .parquet, .h5ad or .npy file, a pyarrow "
        f"Dataset or Table, a dask DataFrame or a numpy.memmap; got {type(source).__name__}."
    )


def _open_path(path: Path, target: Any, features: Sequence[str] | None) -> Source:
    if not path.exists():
        raise InputError(f"there is no file or folder {str(path)!r}.")
    if features is not None and path.suffix != ".npy":
        raise InputError("features= names the columns of an array; other sources have names.")
    if path.is_dir() or path.suffix == ".parquet":
        from mainstay.batches.parquet import ParquetRows

        return ParquetRows(path, target)
    if path.suffix == ".npy":
        from mainstay.batches.arrays import open_npy

        return open_npy(path, target, features)
    if path.suffix == ".h5ad":
        from mainstay.batches.annotated import H5adRows

        return H5adRows(path, target)
    raise InputError(
        f"{path} cannot be read block by block: that needs a folder of Parquet files, or a "
        ".parquet, .h5ad or .npy file. Write other tables as Parquet first."
    )

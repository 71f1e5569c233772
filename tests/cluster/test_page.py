"""The programs of docs/clusters.md run as they stand there, on Dask and on Ray."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pages import DOCS

PROGRAMS = re.findall(r"^```py\n(.*?)^```", (DOCS / "clusters.md").read_text("utf-8"), re.M | re.S)


@pytest.mark.parametrize(("backend", "cluster"), [("dask", "dask_client"), ("ray", "ray_cluster")])
def test_programs_of_the_page_run(
    backend: str, cluster: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    request.getfixturevalue(cluster)  # skips where the package is missing
    (program,) = (text for text in PROGRAMS if f'backend="{backend}"' in text)
    quicker = program.replace("n_resamples=20", "n_resamples=2")
    (tmp_path / "program.py").write_text(quicker, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("['")

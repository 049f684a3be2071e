"""What other operating systems do: no time zones, odd paths, processes by spawn."""

import os
import subprocess
import sys

import pytest

# As on Windows: no database of time zones, CRLF in files, processes that start anew. In a folder
# that shells dislike.
SCRIPT = """
import sys
sys.modules["tzdata"] = None
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from multiprocessing import get_context
from pathlib import Path
import polars as pl
import frame_pr as fp

dates = datetime(2024, 1, 1), datetime(2024, 1, 2)
day = pl.datetime_range(*dates, "1d", time_zone="Europe/Berlin", eager=True)
run = pl.DataFrame({"day": day.gather([0, 0, 1, 1]), "y": [1, 0, 0, 1], "s": [4.0, 3.0, 2.0, 1.0]})

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    values = [fp.average_precision(run, "y", "s", by="day")]
    parts = fp.partitioned(run, partitions=2, directory=folder, progress=False)
    values.append(parts.average_precision("y", "s", by="day"))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        values.append(pool.submit(fp.average_precision, run, "y", "s", by="day").result())
    print([value["average_precision"].to_list() for value in values])
    (folder / "qrels.txt").write_bytes("q 0 ж 1\\r\\nq 0 d 0\\r\\n".encode())
    rows = fp.read_trec_qrels(folder / "qrels.txt").rows()
    print(rows == [("q", "0", "ж", 1), ("q", "0", "d", 0)])
"""


@pytest.mark.slow
def test_without_time_zones_in_an_odd_folder_with_spawned_processes(tmp_path):
    folder = tmp_path / "a folder (é, 漢字) [1]"
    folder.mkdir()
    script = folder / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    environ = os.environ | {"PYTHONTZPATH": ""}
    command = [sys.executable, script, folder]
    ran = subprocess.run(command, env=environ, capture_output=True, encoding="utf-8", timeout=120)
    assert ran.returncode == 0, ran.stderr
    # The positive of the first day is at rank 1, that of the second at rank 2: 1/1 and 1/2.
    assert ran.stdout.splitlines() == ["[[1.0, 0.5], [1.0, 0.5], [1.0, 0.5]]", "True"]
    assert sorted(path.name for path in folder.iterdir() if path.name != "__pycache__") == [
        "qrels.txt",
        "script.py",
    ]

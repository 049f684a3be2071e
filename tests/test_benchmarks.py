"""The benchmarks run, on few rows; what they measure is not looked at."""

import re
import sys
import warnings
from pathlib import Path

import polars as pl
import pytest

from benchmarks import calls, contenders, data, databases, memory, page, peers, performance, run, small
from frame_pr.parts.ibis_table import IbisFrame

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("shape", data.SHAPES)
def test_groups_are_numbered_from_zero(shape):
    rows = data.with_variations(data.generate(shape, 1_000))
    groups = rows["query"].unique().sort()
    assert groups.to_list() == list(range(len(groups)))
    assert rows["distinct"].is_unique().all()
    assert rows["distinct"].cast(pl.Float32).is_unique().all()


def test_skewed_groups_go_from_a_tenth_of_the_rows_to_one_row():
    sizes = data.generate("skewed", 10_000)["query"].value_counts()["count"]
    assert (sizes.max(), sizes.min()) == (1_000, 1)


@pytest.mark.parametrize("seconds", [[0.067, 0.8, 68], [0.1, 1, 1000], [1e-4, 0.002, 0.003], [20, 30, 5000]])
def test_bars_of_the_chart_are_in_the_order_of_their_times(monkeypatch, seconds):
    times = {f"tool {i}": dict.fromkeys(performance.SHAPES, taken) for i, taken in enumerate(seconds)}
    monkeypatch.setattr(performance, "times", lambda report: times)
    chart = performance.chart("", performance.SCHEMES[""])
    lengths = [float(length) for length in re.findall(r'<rect [^>]*width="([-.0-9]+)"', chart)]
    assert lengths == sorted(lengths[:3]) * len(performance.SHAPES)
    assert 0 < lengths[0] < lengths[2] <= 200


def test_a_sample_takes_whole_groups_of_all_sizes():
    # Groups of 1, 2, 3, 4 rows: of two, one comes from each half.
    rows = pl.DataFrame({"query": [1, 2, 2, 3, 3, 3, 4, 4, 4, 4]})
    sampled, share = data.sample(rows, groups=2, rows=10)
    assert share == 0.5
    assert sampled["query"].to_list() == [2, 2, 4, 4, 4, 4]


@pytest.mark.parametrize(
    ("queries", "said"), [(range(10), "average_precision differs by"), (range(9), "1 groups or thresholds are missing")]
)
def test_a_wrong_contender_is_found_out(monkeypatch, queries, said):
    rows = data.with_variations(data.generate("100k x 100", 1_000))
    wrong = pl.DataFrame({"query": queries, "average_precision": [2.0] * len(queries)})
    monkeypatch.setattr(contenders, "EVERYWHERE", {"wrong": lambda rows: contenders.Entry(lambda: wrong)})
    with pytest.raises(AssertionError, match=f"wrong: {said}"):
        peers.race(rows, "score", 1)


def test_a_key_that_gives_other_groups_is_found_out(tmp_path, monkeypatch):
    rows = data.with_variations(data.generate("100k x 100", 1_000))
    monkeypatch.setitem(calls.KEYS, "two Int64 keys", {"by": "half"})
    with pytest.raises(AssertionError, match="Series are different"):
        calls.variations(rows, tmp_path / "rows.parquet", 1)


def test_the_exponent_of_a_square_is_two():
    assert page.fitted_exponent({10: 1.0, 100: 100.0, 1000: 10_000.0}) == pytest.approx(2)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
@pytest.mark.filterwarnings("ignore:.*invalid escape sequence")  # ranx, when it is compiled
def test_the_whole_run_makes_a_page(tmp_path: Path, monkeypatch):
    # Of a thousand rows, Python is faster than a compiler. numba reads this when it is first imported.
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setattr(run, "GROWING", ("100k x 100",))
    # Each case takes a process; all these calls are in the times, too. One of each table, and the peers.
    kept = [calls.BASE, f"{calls.BASE}, {next(iter(calls.FRAMES))}", next(iter(calls.CALLS)), "polarbearings"]
    monkeypatch.setattr(memory, "CASES", {name: memory.CASES[name] for name in kept})
    monkeypatch.setattr(databases, "GROUPS", [1, 100_000])
    # The first way takes a process, as all do in the benchmark; the others are measured here.
    in_process = databases.in_process

    def mostly_here(way: str, file: Path) -> tuple[databases.Cost, float]:
        if (way, file.stem) == (databases.ROWS_SENT, "1"):
            return in_process(way, file)
        with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(IbisFrame, "_is_tally_small", IbisFrame._is_tally_small)  # put back, as each way changes it
            *costs, total = databases.measured(way, str(file))
        return databases.Cost(*costs), total

    monkeypatch.setattr(databases, "in_process", mostly_here)
    in_turns = small.in_turns
    monkeypatch.setattr(small, "in_turns", lambda runs, _, **options: in_turns(runs, 1, **options))
    found = run.measure(["100k x 100"], 1_000, 1, [100, 1_000], 30, tmp_path, engines=False)
    made = page.page(found, 1_000, 1)
    assert all(measured for section, measured in found.times.items() if section != "suites")
    assert found.memory[calls.BASE]["100k x 100"] > 0
    ran = found.times["tied"]["100k x 100"]
    for name in (peers.OURS, "`df.sort(by, score)`", "scikit-learn per group", "pandas `groupby.apply`"):
        assert name in ran
        assert f"| {name} |" in made
    assert "| `tally` of them, in 101 bins |" in made
    assert "| 10,000 rows, one group | partitioned, 2GiB | " in made
    assert {groups: len(ways) for groups, ways in found.stored.items()} == dict.fromkeys([1, 100_000], 4)
    assert "| 100,000 | rows are sent | " in made
    assert "| AP of 10 rows, ms | <= 1 | best: " in made

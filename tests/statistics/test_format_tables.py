from datetime import timedelta

import polars as pl
import pytest

import frame_pr as fp

RESULT = pl.DataFrame(
    {
        "query": ["a|b", "a|b", "c_d & <e>", "c_d & <e>"],
        "system": ["old", "new", "old", "new"],
        "groups": [3, 3, 2, 2],
        "mean_average_precision": [0.25, 0.5, 0.1239, 0.1241],
        "low_average_precision": [0.2, None, 0.1, 0.0],
        "high_average_precision": [0.3, None, 0.2, 1.0],
        "fpr@10": [0.5, 0.25, None, 0.0],
        "threshold@max_f1": [-1.5, float("inf"), 2.0, 1e-5],
        "p_value": [0.0004, 0.0006, 1.0, 0.0],
    }
)
MARKDOWN = r"""
| query | system | groups | mean_average_precision | fpr@10 | threshold@max_f1 | p_value |
| :-- | :-- | --: | --: | --: | --: | --: |
| a\|b | old | 3 | 0.25 [0.20, 0.30] | 0.50 | -1.50 | <0.01 |
| a\|b | new | 3 | **0.50** | **0.25** | inf | <0.01 |
| c_d & <e> | old | 2 | **0.12** [0.10, 0.20] | - | 2.00 | 1.00 |
| c_d & <e> | new | 2 | **0.12** [0.00, 1.00] | **0.00** | 0.00 | 0.00 |
""".lstrip()
LATEX = r"""
\begin{tabular}{llrr}
\toprule
query & system & average\_precision & fpr@10 \\
\midrule
a$|$b & old & 0.250 & 0.500 \\
c\_d \& $<$e$>$ & new & 0.124 & -- \\
\bottomrule
\end{tabular}
""".lstrip()
HTML = """
<table>
<thead>
<tr><td>query</td><td style="text-align: right">precision@1</td></tr>
</thead>
<tbody>
<tr><td>a&amp;b</td><td style="text-align: right"><b>1</b></td></tr>
<tr><td>&lt;c&gt;</td><td style="text-align: right">0</td></tr>
</tbody>
</table>
""".lstrip()


def test_markdown_with_bounds_and_the_best_of_each_query():
    assert fp.format_table(RESULT, decimals=2) == RESULT.pr.format_table(decimals=2) == MARKDOWN


def test_latex():
    two = RESULT[[0, 3]].select(
        "query", "system", pl.col("mean_average_precision").alias("average_precision"), "fpr@10"
    )
    two = two.with_columns(pl.Series("fpr@10", [0.5, None]))
    # The two rows differ in the query, too, and so have nothing to be compared with.
    assert fp.format_table(two, "latex") == LATEX
    alike = two.rename({"query": "note"}).select("system", "note", "average_precision", "fpr@10")
    assert fp.format_table(alike, "latex").splitlines()[4:6] == [
        # In the default font encoding of LaTeX, a vertical bar looks like a dash.
        r"old & a$|$b & \textbf{0.250} & \textbf{0.500} \\",
        r"new & c\_d \& $<$e$>$ & 0.124 & -- \\",
    ]
    signs = pl.DataFrame({"x": ["a\\b~c^d{e}$f#g%h"]})
    escaped = r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d\{e\}\$f\#g\%h"
    assert escaped in fp.format_table(signs, "latex")
    # A line break of LaTeX reads what is between [ and ] after it as a length.
    assert "\n{[}1] \\\\\n" in fp.format_table(pl.DataFrame({"x": ["a", "[1]"]}), "latex")


def test_html_without_great_tables(monkeypatch):
    monkeypatch.setattr("frame_pr.statistics.reports.find_spec", lambda name: None)
    data = pl.DataFrame({"query": ["a&b", "<c>"], "precision@1": [1.0, 0.0]})
    assert fp.format_table(data, "html", decimals=0, best=True) == HTML


def test_html_with_great_tables():
    pytest.importorskip("great_tables")
    columns = {"query": ["a&b", "<c>"], "precision@1": [0.75, 0.25], "low_precision@1": [0.5, 0.125]}
    data = pl.DataFrame({**columns, "high_precision@1": [0.875, 0.375]})
    html = fp.format_table(data, "html", decimals=2, best=True)
    assert html == fp.format_table(data, "html", decimals=2, best=True)
    assert '<td headers="frame_pr-query" class="gt_row gt_left">a&amp;b</td>' in html
    assert "<strong>0.75</strong> [0.50, 0.88]" in html
    assert "gt_row gt_right" in html


def test_missing_values_in_html_with_great_tables():
    pytest.importorskip("great_tables")
    # A "-" of Markdown would be a list.
    html = fp.format_table(pl.DataFrame({"q": ["a", None], "roc_auc": [None, 0.25], "n": [None, 2]}), "html")
    assert html.count(">-</td>") == 3
    assert "<ul>" not in html


def test_bounds_of_intervals_and_of_differences():
    run = pl.DataFrame({"q": [1, 1, 2, 2, 3, 3], "truth": [1, 0, 1, 0, 0, 1], "s": [6, 5, 4, 3, 2, 1]})
    run = run.with_columns(t=-pl.col("s"))
    found = run.pr.intervals("average_precision", "truth", ["s", "t"], by="q", mean_over="q")
    value, low, high = found.select("value", "low", "high").row(0)
    lines = found.pr.format_table(decimals=4).splitlines()
    assert lines[0] == "| system | metric | value | standard_error | units | undefined | method |"
    assert f"| {value:.4f} [{low:.4f}, {high:.4f}] |" in lines[2]
    compared = run.pr.compare("average_precision", "truth", ["s", "t"], by="q")
    difference, low, high = compared.select("difference", "low", "high").row(0)
    assert f"| {difference:.1f} [{low:.1f}, {high:.1f}] |" in compared.pr.format_table(decimals=1)


@pytest.mark.parametrize(
    ("name", "bold"),
    [
        ("average_precision", "0.9"),
        ("mean_ndcg@10", "0.9"),
        ("median_mcc@threshold=0.5", "0.9"),
        ("fnr@10", "0.1"),
        ("min_cost10", "0.1"),
        ("cost10@threshold=1", "0.1"),
        ("first_rank", "0.1"),
        ("mean_mean_rank", "0.1"),
        ("equal_error_rate", "0.1"),
        ("prevalence", ""),
        ("prevalence@10", ""),
        ("threshold@max_f1", ""),
        ("fp@10", ""),
        ("MAP", ""),
    ],
)
def test_which_value_is_best(name, bold):
    table = pl.DataFrame({"system": ["x", "y", "z"], name: [0.1, 0.9, 0.5]})
    shown = fp.format_table(table, decimals=1)
    assert [value for value in ("0.1", "0.9", "0.5") if f"**{value}**" in shown] == [bold] * bool(bold)
    assert "**" not in fp.format_table(table, best=False)
    assert "**" not in fp.format_table(table.head(1), best=True)
    # Of columns that the caller names, the largest where no metric says otherwise.
    if bold != "0.1":
        assert "**0.9**" in fp.format_table(table, decimals=1, best=name) or name.startswith("prevalence")
    assert ("**" in fp.format_table(table.drop("system"), best=True)) == bool(bold)
    assert "**" not in fp.format_table(table.drop("system"))


def test_values_that_are_not_numbers():
    table = pl.DataFrame(
        {"day": ["2026-01-02", None], "hit": [True, None], "n": [None, 10**15], "x": [float("nan"), -0.0]}
    )
    table = table.with_columns(pl.col("day").str.to_date(), pl.col("n").cast(pl.Int64))
    assert fp.format_table(table).splitlines()[2:] == [
        "| 2026-01-02 | true | - | - |",
        "| - | - | 1000000000000000 | 0.000 |",
    ]
    assert "| 2026-01-02" in fp.format_table(table)
    assert fp.format_table(pl.DataFrame({"x": [0.1 + 0.2, 1e300]})).replace("+", "").endswith("| 0.300 |\n| 1e300 |\n")
    assert fp.format_table(RESULT.head(0)).count("\n") == 3
    lags = pl.DataFrame({"lag": [timedelta(hours=36), None]})
    assert fp.format_table(lags).splitlines()[2:] == ["| 1d 12h |", "| - |"]
    assert fp.format_table(pl.DataFrame({"^x$": ["a"], "*": [1.0]})).splitlines()[2] == "| a | 1.000 |"


@pytest.mark.parametrize(
    ("frame", "given", "error", "message"),
    [
        (RESULT.with_columns(l=[[1]]), {}, TypeError, "frame: column 'l' is List"),
        (RESULT.with_columns(l=pl.lit(b"\xff")), {}, TypeError, "frame: column 'l' is Binary"),
        (pl.DataFrame(), {}, ValueError, "frame: it has no columns; a table needs at least one"),
        (RESULT, {"best": "system"}, ValueError, "best: column 'system' holds no numbers"),
        (RESULT, {"best": ["fpr"]}, ValueError, "fpr"),
        (RESULT, {"best": 3}, TypeError, "best"),
        (RESULT, {"decimals": -1}, ValueError, "decimals"),
        (RESULT, {"markup": "text"}, ValueError, "markup"),
    ],
)
def test_wrong_calls(frame, given, error, message):
    with pytest.raises(error, match=message):
        fp.format_table(frame, **given)

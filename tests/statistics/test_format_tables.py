from datetime import timedelta

import pandas as pd
import polars as pl
import pytest

import frame_pr as fp

RESULT = pl.DataFrame(
    {
        "query": ["a|b", "a|b", "c_d & <e>", "c_d & <e>"],
        "system": ["old", "new", "old", "new"],
        "groups": [3, 3, 2, 2],
        "mean_average_precision": [0.25, 0.5, 0.1239, 0.1241],
        "fpr@10": [0.5, 0.25, None, 0.0],
        "threshold@max_f1": [-1.5, float("inf"), 2.0, 1e-5],
        "p_value": [0.0004, 0.0006, 1.0, 0.0],
    }
)
MARKDOWN = r"""
| query | system | groups | mean_average_precision | fpr@10 | threshold@max_f1 | p_value |
| :-- | :-- | --: | --: | --: | --: | --: |
| a\|b | old | 3 | 0.25 | 0.50 | -1.50 | <0.01 |
| a\|b | new | 3 | **0.50** | **0.25** | inf | <0.01 |
| c_d \& \<e\> | old | 2 | **0.12** | - | 2.00 | 1.00 |
| c_d \& \<e\> | new | 2 | **0.12** | **0.00** | 0.00 | 0.00 |
""".lstrip()


def test_markdown_with_bounds_and_the_best_of_each_query():
    assert fp.format_table(RESULT, decimals=2) == RESULT.pr.format_table(decimals=2) == MARKDOWN


def test_bounds_of_intervals_and_of_differences():
    run = pl.DataFrame(
        {"q": [1, 1, 2, 2, 3, 3], "truth": [1, 0, 1, 0, 0, 1], "s": [6, 5, 4, 3, 2, 1]}
    )
    run = run.with_columns(t=-pl.col("s"))
    found = run.pr.intervals("average_precision", "truth", ["s", "t"], by="q", mean_over="q")
    value, low, high = found.select("value", "low", "high").row(0)
    lines = found.pr.format_table(decimals=4).splitlines()
    assert lines[0] == "| system | average_precision |"
    assert f"| **{value:.4f}** [{low:.4f}, {high:.4f}] |" in lines[2]
    assert lines[-1].startswith("in brackets: 95 % confidence intervals")
    compared = run.pr.compare("average_precision", "truth", ["s", "t"], mean_over="q")
    difference, low, high = compared.select("difference", "low", "high").row(0)
    assert f"| {difference:.1f} [{low:.1f}, {high:.1f}] |" in compared.pr.format_table(decimals=1)
    alone = compared.with_columns(
        pl.lit(None, pl.Float64).alias("low"), x=pl.col("low")
    ).pr.format_table(decimals=1)
    assert f"| {difference:.1f} |" in alone
    band = run.pr.average_curve("truth", "s", mean_over="q", points=2)
    assert band.pr.format_table(decimals=1).startswith("| recall | precision | groups |")


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
        ("fp@10", "0.1"),
        ("fn@2", "0.1"),
        ("tp@2", "0.9"),
        ("mean_rank", "0.1"),
        ("MAP", ""),
    ],
)
def test_which_value_is_best(name, bold):
    table = pl.DataFrame({"system": ["x", "y", "z"], name: [0.1, 0.9, 0.5]})
    shown = fp.format_table(table, decimals=1)
    assert [value for value in ("0.1", "0.9", "0.5") if f"**{value}**" in shown] == [bold] * bool(
        bold
    )
    assert "**" not in fp.format_table(table, best=False)
    assert "**" not in fp.format_table(table.head(1), best=True)
    assert ("**" in fp.format_table(table.drop("system"), best=True)) == bool(bold)
    assert "**" not in fp.format_table(table.drop("system"))


def test_the_caller_says_which_value_is_best():
    table = pl.DataFrame({"system": ["x", "y"], "MAP": [0.1, 0.9], "cost": [0.1, 0.9]})
    shown = fp.format_table(table, decimals=1, best={"MAP": "largest", "cost": "smallest"})
    assert shown.splitlines()[2:] == ["| x | 0.1 | **0.1** |", "| y | **0.9** | 0.9 |"]


def test_the_best_value_of_each_metric_of_a_long_frame():
    run = pl.DataFrame({"y": [1, 0, 1, 0], "s": [1, 2, 3, 4], "t": [4, 3, 2, 1]})
    values = run.pr.report("y", ["s", "t"], k=1, threshold=2)
    lines = [line.strip("| ").split(" | ") for line in fp.format_table(values).splitlines()]
    bold = [(cells[0], cells[3]) for cells in lines if "**" in cells[-1]]
    assert ("t", "average_precision") in bold
    assert ("s", "average_precision") not in bold
    assert ("t", "fnr@threshold=2") in bold
    assert "threshold@max_f1" not in {name for _, name in bold}
    assert fp.format_table(values.cast({"metric": pl.Categorical})) == fp.format_table(values)


def test_values_that_are_not_numbers():
    table = pl.DataFrame(
        {
            "day": ["2026-01-02", None],
            "hit": [True, None],
            "n": [None, 10**15],
            "x": [float("nan"), -0.0],
        }
    )
    table = table.with_columns(pl.col("day").str.to_date(), pl.col("n").cast(pl.Int64))
    assert fp.format_table(table).splitlines()[2:] == [
        "| 2026-01-02 | true | - | - |",
        "| - | - | 1000000000000000 | 0.000 |",
    ]
    assert "| 2026-01-02" in fp.format_table(table)
    assert (
        fp.format_table(pl.DataFrame({"x": [0.1 + 0.2, 1e300]}))
        .replace("+", "")
        .endswith("| 0.300 |\n| 1e300 |\n")
    )
    assert fp.format_table(RESULT.head(0)).count("\n") == 2
    # A p-value that rounds to 0 is not 0; bounds that are no numbers are columns of their own.
    p_values = fp.format_table(pl.DataFrame({"p_value": [0.0005, 0.00051, 1e-300]})).splitlines()[
        2:
    ]
    assert p_values == ["| <0.001 |", "| 0.001 |", "| <0.001 |"]
    texts = pl.DataFrame({"value": [1.0], "low": ["none"], "high": [2.0]})
    assert fp.format_table(texts).splitlines()[2:] == ["| 1.000 | none | 2.000 |"]
    lags = pl.DataFrame({"lag": [timedelta(hours=36), None]})
    assert fp.format_table(lags).splitlines()[2:] == ["| 1d 12h |", "| - |"]
    months = pd.DataFrame(
        {"month": pd.period_range("2026-01", periods=2, freq="M"), "x": [1.0, 2.0]}
    )
    assert fp.format_table(months).splitlines()[2:] == [
        "| 2026-01 | 1.000 |",
        "| 2026-02 | 2.000 |",
    ]
    assert (
        fp.format_table(pl.DataFrame({"^x$": ["a"], "*": [1.0]})).splitlines()[2] == "| a | 1.000 |"
    )


# Tables for a paper
# --------------------------------------------------------------

# Of 12 queries, the new system ranks all right; the old one has the relevant document second in 10.
LABELS = {"q": [q for q in range(12) for _ in range(2)], "y": [1, 0] * 12}
OLD = [score for q in range(12) for score in ((1.0, 2.0) if q < 10 else (2.0, 1.0))]
RUN = pl.DataFrame(LABELS | {"old_1": OLD, "new": [2.0, 1.0] * 12})
NAMED = {"MAP": "average_precision", "miss": "fnr@1"}
CALL = {"truth": "y", "score": ["old_1", "new"]}


def paper(**arguments):
    means = RUN.pr.intervals(NAMED, **CALL, mean_over="q")
    tests = RUN.pr.compare(NAMED, **CALL, mean_over="q", baseline="old_1")
    best = {"MAP": "largest", "miss": "smallest"}
    return fp.format_table(means, decimals=2, best=best, tests=tests, **arguments)


def test_a_table_of_systems_and_metrics():
    # The means are (10 / 2 + 2) / 12 and 1; of the misses at rank 1 10 / 12 and 0, whose bound is
    # 1 - 0.025^(1 / 12) = 0.26.
    lines = paper().splitlines()
    assert lines[:2] == ["| system | MAP | miss |", "| :-- | --: | --: |"]
    assert lines[2].startswith("| old_1 | 0.58 [0.")
    assert lines[3] == "| new | **1.00** [0.74, 1.00]† | **0.00** [0.00, 0.26]† |"
    assert lines[4] == ""
    assert lines[5].startswith("in brackets: 95 % confidence intervals")
    assert lines[5].endswith("† adjusted p < 0.05 against old_1")


def test_latex_and_text():
    latex = paper(to="latex").splitlines()
    assert latex[:3] == [r"\begin{tabular}{lrr}", r"\toprule", r"system & MAP & miss \\"]
    assert latex[4].startswith(r"old\_1 & 0.58 [")
    cells = [
        r"new",
        r"\textbf{1.00} [0.74, 1.00]$^\dagger$",
        r"\textbf{0.00} [0.00, 0.26]$^\dagger$",
    ]
    assert latex[5] == " & ".join(cells) + r" \\"
    assert latex[6:8] == [r"\bottomrule", r"\end{tabular}"]
    assert r"95 \% confidence" in latex[8]
    text = paper(to="text").splitlines()
    assert len({line.index("[") for line in text[1:3]}) <= 2
    assert text[2].split() == [
        "new",
        "**1.00**",
        "[0.74,",
        "1.00]†",
        "**0.00**",
        "[0.00,",
        "0.26]†",
    ]
    assert len(text[0]) == len(text[2])


def test_a_note_escapes_the_name_of_the_baseline_once():
    run = RUN.rename({"old_1": "old 50%"})
    call = {"truth": "y", "score": ["old 50%", "new"], "mean_over": "q"}
    tests = run.pr.compare("average_precision", **call, baseline="old 50%", details=True)
    means = run.pr.intervals("average_precision", **call)
    note = fp.format_table(means, tests=tests, to="latex").splitlines()[-1]
    assert r"95 \% confidence intervals" in note
    assert r"against old 50\% (paired t" in note


def test_a_table_of_differences():
    compared = RUN.pr.compare(NAMED, **CALL, mean_over="q")
    lines = fp.format_table(compared, decimals=2).splitlines()
    assert lines[0] == "| system | MAP | miss |"
    assert lines[2].startswith("| new | 0.42 [")
    assert lines[2].count("†") == 2
    assert lines[4] == "† adjusted p < 0.05"
    none = compared.with_columns(p_adjusted=pl.lit(0.05))
    assert "†" not in fp.format_table(none).splitlines()[2]


def test_marks_of_segments_are_those_of_their_own_test():
    data = pl.concat([RUN.with_columns(s=1), RUN.with_columns(s=2, new="old_1")])
    means = data.pr.intervals("average_precision", **CALL, by="s", mean_over="q")
    call = {**CALL, "by": "s", "mean_over": "q", "baseline": "old_1"}
    tests = data.pr.compare("average_precision", **call, details=True)
    lines = fp.format_table(means, tests=tests, to="text").splitlines()[1:5]
    assert [line.endswith("†") for line in lines] == [False, True, False, False]
    # Without details, nothing tells which system a test is about.
    with pytest.raises(ValueError, match=r"^tests: .*if there are two systems, details=True$"):
        fp.format_table(means, tests=data.pr.compare("average_precision", **call))


def test_differences_of_segments_have_a_row_each():
    data = pl.concat([RUN.with_columns(s=1), RUN.with_columns(s=2, new="old_1")])
    compared = data.pr.compare(NAMED, **CALL, by="s", mean_over="q")
    lines = fp.format_table(compared, decimals=2).splitlines()
    assert lines[0] == "| s | MAP | miss |"
    assert lines[2].startswith("| 1 | 0.42 [")
    assert lines[3] == "| 2 | 0.00 [0.00, 0.00] | 0.00 [0.00, 0.00] |"


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"best": True}, ValueError, "best: the name 'MAP' does not say whether its largest"),
        ({"best": {"map": "largest"}}, ValueError, "best: no column 'map'"),
        ({"best": "largest"}, TypeError, "best must be True or False"),
        ({"to": "html"}, ValueError, "to must be"),
        ({"tests": RUN}, ValueError, "tests: give it the result of compare"),
    ],
)
def test_what_is_refused(arguments, error, sentence):
    means = RUN.pr.intervals(NAMED, **CALL, mean_over="q")
    with pytest.raises(error) as raised:
        fp.format_table(means, **arguments)
    assert str(raised.value).startswith(sentence)


def test_tests_need_bounds():
    means = RUN.pr.intervals(NAMED, **CALL, mean_over="q")
    tests = RUN.pr.compare(NAMED, **CALL, mean_over="q", baseline="old_1")
    sentence = r"^tests: they mark .* with confidence=, for several scores$"
    for frame in (means.drop("low", "high"), RUN.pr.report("y", ["new", "old_1"])):
        with pytest.raises(ValueError, match=sentence):
            fp.format_table(frame, tests=tests)


@pytest.mark.parametrize(
    ("key", "markdown", "latex"),
    [
        ("a|b", r"a\|b", "a|b"),
        ("a\rb", "a b", "a b"),
        ("a\r\nb\nc", "a b c", "a b c"),
        ("*a*", r"\*a\*", "*a*"),
        ("_a_ b_c_d", r"\_a\_ b_c_d", r"\_a\_ b\_c\_d"),
        ("<br>", r"\<br\>", "<br>"),
        ("`a`", r"\`a\`", "`a`"),
        ("a\\", r"a\\", r"a\textbackslash{}"),
        ("[a](b)", r"\[a\](b)", "[a](b)"),
        ("&lt;", r"\&lt;", r"\&lt;"),
        (
            "50% $x^2$ {#}~",
            r"50% \$x^2\$ {#}\~",
            r"50\% \$x\textasciicircum{}2\$ \{\#\}\textasciitilde{}",
        ),
    ],
)
def test_texts_are_escaped(key, markdown, latex):
    table = pl.DataFrame({key: [key], "x": [1]})
    assert fp.format_table(table).splitlines()[::2] == [
        f"| {markdown} | x |",
        f"| {markdown} | 1 |",
    ]
    assert rf"{latex} & 1 \\" in fp.format_table(table, to="latex").splitlines()
    assert fp.format_table(table.to_pandas()) == fp.format_table(table)

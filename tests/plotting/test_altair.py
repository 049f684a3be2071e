"""Interactive charts: their data, and what happens in a browser."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pictures import TEXTBOOK, random_run

import frame_pr as fp
from frame_pr.plotting.altair_charts import MOST_POINTS

pytest.importorskip("altair")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
RUN = random_run(rows=900, groups=3).with_columns(other=pl.col("score") + pl.int_range(pl.len()) % 7 / 5)


def data(chart: Any) -> list[list[dict[str, Any]]]:
    """The rows of all layers."""
    parts = chart if isinstance(chart, dict) else chart.to_dict()
    return [part["data"]["values"] for part in (parts, *parts.get("layer", ())) if "data" in part]


def points(chart: Any) -> list[dict[str, Any]]:
    """The points of all curves."""
    return [row for row in data(chart)[0] if row["part"] == "curve"]


def test_a_chart_has_the_thresholds_of_the_curve(kind: Any) -> None:
    chart = fp.plot(kind(TEXTBOOK), "relevant", "score", backend="altair")
    curve = fp.curve(TEXTBOOK, "relevant", "score")
    first, *found = points(chart)
    assert (first["x"], first["y"], first["k"]) == (0, 1, 0)
    columns = {"x": "recall", "y": "precision", "threshold": "threshold", "k": "k"}
    for field, column in columns.items():
        assert [row[field] for row in found] == curve[column].to_list()
    assert {row["name"] for row in found} == {"score (AP = 0.78)"}
    from_curve = fp.plot_curve(curve, backend="altair", label="score")
    assert points(from_curve) == points(chart)


@pytest.mark.slow
def test_long_curves_are_thinned_to_real_thresholds() -> None:
    run = random_run(rows=60_000, groups=1).with_columns(score=pl.int_range(pl.len()) * 7 % 60_000)
    found = points(fp.plot(run, "relevant", "score", backend="altair"))
    assert MOST_POINTS / 2 < len(found) <= MOST_POINTS
    curve = fp.curve(run, "relevant", "score").select("threshold", "recall", "precision")
    rows = set(curve.rows())
    assert all((row["threshold"], row["recall"], row["precision"]) in rows for row in found[1:])
    assert (found[-1]["x"], found[1]["k"]) == (1, 1)


def test_names_colours_marks_and_quantities() -> None:
    options: dict[str, Any] = {"labels": {"score": "Baseline"}, "colors": {"other": "red"}, "mark": "max_f1"}
    chart = fp.plot(RUN, "relevant", ["score", "other"], backend="altair", **options).to_dict()
    encodings = [layer["encoding"] for layer in chart["layer"] if "order" in layer["encoding"]]
    scale = encodings[0]["color"]["scale"]
    assert [name.partition(" (")[0] for name in scale["domain"]] == ["Baseline", "other"]
    assert scale["range"][1] == "#ff0000"
    marks = [row for row in data(chart)[0] if row["part"] == "mark"]
    best = fp.evaluate(RUN, ["max_f1", "threshold@max_f1"], "relevant", "other")
    assert marks[1]["mark"].startswith(f"max F1 = {best['max_f1'].item():.2f}")
    assert marks[1]["threshold"] == best["threshold@max_f1"].item()
    several = fp.plot(RUN, "relevant", "score", x="threshold", y=["precision", "recall"], backend="altair")
    assert {row["name"] for row in points(several)} == {"Precision", "Recall"}
    logarithmic = fp.plot(RUN, "relevant", "score", x="fpr", y="recall", xscale="log", backend="altair")
    assert min(row["x"] for row in points(logarithmic)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("facet", ["query", "system"])
def test_panels_share_axes_colours_and_selections(facet: str) -> None:
    options: dict[str, Any] = {"by": "query", "facet": facet, "mark": "max_f1"}
    chart = fp.plot(
        RUN, "relevant", ["score", "other"], backend="altair", colors={"other": "red", 2: "blue"}, **options
    )
    spec = chart.to_dict()
    names = {"query": ["0", "1", "2"], "system": ["score", "other"]}
    assert spec["facet"]["sort"] == names[facet]
    scale = next(layer["encoding"] for layer in spec["spec"]["layer"] if "detail" in layer["encoding"])["x"]["scale"]
    assert scale["domain"] == [0, 1]
    scale = next(layer["encoding"]["color"]["scale"] for layer in spec["spec"]["layer"] if "order" in layer["encoding"])
    colours = dict(zip(scale["domain"], scale["range"], strict=True))
    assert list(colours) == names["system" if facet == "query" else "query"]
    assert colours["other" if facet == "query" else "2"] == ("#ff0000" if facet == "query" else "#0000ff")
    for query in range(3):
        for score in ("score", "other"):
            panel, name = (str(query), score) if facet == "query" else (score, str(query))
            found = [row["k"] for row in points(chart) if (row["panel"], row["name"]) == (panel, name)]
            assert found == [0, *fp.curve(RUN.filter(query=query), "relevant", score)["k"]]
    marks = [(row["panel"], row["name"]) for row in data(chart)[0] if row["part"] == "mark"]
    assert len(set(marks)) == 6
    shares = {row["panel"]: row["y"] for row in data(chart)[0] if row["part"] == "reference"}
    assert list(shares) == names[facet]


def test_dots_of_groups(kind: Any) -> None:
    table = fp.intervals(kind(RUN), "average_precision", "relevant", ["score", "other"], by="query")
    chart = fp.plot_intervals(table, backend="altair", order=[2, 0]).to_dict()
    rows = next(rows for rows in data(chart) if len(rows) == 6)
    wanted = kind.read(table).filter(query=2, system="other")
    (found,) = (row for row in rows if (row["name"], row["system"]) == ("2", "other"))
    assert (found["value"], found["low"], found["high"]) == wanted.select("value", "low", "high").row(0)
    assert list(dict.fromkeys(row["name"] for row in rows)) == ["2", "0", "1"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rectangles": True}, "rectangles=: only backend='matplotlib' draws this; leave out rectangles="),
        ({"by": "query", "average": True}, "average=: only backend='matplotlib' draws this"),
        ({"linewidth": 3}, "properties of lines: only backend='matplotlib' draws this"),
        ({"yscale": "logit"}, "xscale= and yscale=: backend='altair' has no logit scale"),
        ({"backend": "plotly"}, "backend must be 'matplotlib' or 'altair', got 'plotly'"),
    ],
)
def test_wrong_calls(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011  the sentence is compared
        fp.plot(RUN, "relevant", "score", **{"backend": "altair", **options})
    assert str(raised.value).startswith(sentence)


# Moves the pointer onto the middle of a curve, clicks on the second name of the legend, and leaves in the page what
# both showed.
ACT = """
<script>
const wait = (time) => new Promise((go) => setTimeout(go, time));
const send = (type, target, x, y) => {
  for (const kind of [PointerEvent, MouseEvent])
    target.dispatchEvent(new kind((kind === PointerEvent ? "pointer" : "mouse") + type,
      { clientX: x, clientY: y, bubbles: true, view: window }));
};
addEventListener("load", async () => {
  const seen = {};
  await wait(3000);
  const svg = document.querySelector("svg");
  const paths = () => [...svg.querySelectorAll("g.mark-line path")];
  const lines = () => paths().filter((path) => path.getAttribute("stroke-width") === "2");
  const line = lines()[0];
  const point = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(line.getScreenCTM());
  const under = document.elementFromPoint(point.x, point.y) || svg;
  send("over", under, point.x, point.y);
  send("move", under, point.x, point.y);
  await wait(1000);
  seen.tooltip = document.querySelector(".vg-tooltip, #vg-tooltip-element")?.textContent || "";
  const box = [...svg.querySelectorAll("g.role-legend-label text")][1].getBoundingClientRect();
  const place = [box.x + box.width / 2, box.y + box.height / 2];
  const name = document.elementFromPoint(...place);
  send("over", name, ...place);
  send("move", name, ...place);
  send("down", name, ...place);
  send("up", name, ...place);
  name.dispatchEvent(new MouseEvent("click", { clientX: place[0], clientY: place[1], bubbles: true, view: window }));
  await wait(1000);
  seen.opacity = lines().map((path) => path.getAttribute("opacity"));
  const result = document.createElement("pre");
  result.id = "seen";
  result.textContent = JSON.stringify(seen);
  document.body.append(result);
});
</script>
"""


@pytest.mark.slow
@pytest.mark.parametrize("panels", [1, 3])
def test_pointer_and_legend_in_a_browser(tmp_path: Path, panels: int) -> None:
    pytest.importorskip("vl_convert")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("there is no Chromium here")
    options: dict[str, Any] = {"by": "query", "facet": True} if panels > 1 else {}
    chart = fp.plot(RUN, "relevant", ["score", "other"], backend="altair", **options)
    page = tmp_path / "chart.html"
    chart.save(page, inline=True, embed_options={"renderer": "svg"})
    before, end, after = page.read_text(encoding="utf-8").rpartition("</body>")
    page.write_text(before + ACT + end + after, encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    flags += ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--dump-dom"]
    flags += ["--virtual-time-budget=20000", f"--user-data-dir={tmp_path / 'profile'}", "--window-size=900,700"]
    ran = subprocess.run([browser, *flags, page.as_uri()], capture_output=True, encoding="utf-8", timeout=180)
    match = re.search(r'<pre id="seen">(.*?)</pre>', ran.stdout, re.DOTALL)
    assert match, ran.stderr[-2000:]
    seen = json.loads(html.unescape(match[1]))
    for word in ("(AP = 0.5", "threshold", "k", "precision", "recall"):
        assert word in seen["tooltip"]
    assert seen["opacity"] == ["0.12", "1"] * panels

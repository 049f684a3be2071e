import polars as pl
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from pictures import axes, random_run, render

import frame_pr as fp
from frame_pr.plotting.confusion_plots import short_count

SHOWN = pl.DataFrame({"shown": list("aaabbc"), "predicted": list("aabbcc")})


def test_counts_and_shares_are_in_the_cells():
    ax = fp.plot_confusion(fp.confusion_matrix(SHOWN, "shown", "predicted"), ax=axes())
    written = {text.get_position(): text.get_text() for text in ax.texts}
    # Columns are predictions, rows the truth, the first on top.
    assert written[0, 0] == "2\n67%"
    assert written[1, 0] == "1\n33%"
    assert written[2, 1] == "1\n50%"
    assert written[0, 2] == "0"
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b", "c"]
    assert ax.yaxis_inverted()
    assert ax.images[0].get_array().tolist()[1] == [0, 0.5, 0.5]
    render(ax.figure)


def test_letters_are_seen_on_every_shade():
    ax = fp.plot_confusion(fp.confusion_matrix(SHOWN, "shown", "predicted"), ax=axes())
    image = ax.images[0]
    for text in ax.texts:
        column, row = text.get_position()
        ground = image.cmap(image.norm(image.get_array()[row, column]))[:3]
        shine = [
            sum(w * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4) for w, c in zip(w3, rgb, strict=True))
            for w3, rgb in (((0.2126, 0.7152, 0.0722), ground), ((0.2126, 0.7152, 0.0722), to_rgb(text.get_color())))
        ]
        assert (max(shine) + 0.05) / (min(shine) + 0.05) > 4.5


def test_a_row_of_confusion_has_positives_first():
    run = random_run()
    found = fp.confusion(run, "relevant", "score", threshold=0.5)
    ax = fp.plot_confusion(found, ax=axes())
    counts = [int(text.get_text().split("\n")[0]) for text in ax.texts]
    assert counts == [found[name].item() for name in ("tp", "fn", "fp", "tn")]
    assert ax.texts[0].get_text().endswith(f"{found['recall'].item():.0%}")


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (
            SHOWN,
            "plot_confusion draws a frame that confusion_matrix or confusion gave, and this one has no column 'truth'",
        ),
        (
            fp.confusion(random_run(), "relevant", "score", threshold=[0.5, 1.0]),
            "plot_confusion draws one row of confusion, and there are 2",
        ),
        (
            fp.confusion_matrix(pl.concat([SHOWN, SHOWN]).with_row_index("g"), "shown", "predicted", by="g"),
            "ax: 12 groups need a panel each; leave out ax=, or give figure=",
        ),
    ],
)
def test_what_is_no_matrix(frame, sentence):
    with pytest.raises(ValueError) as raised:  # noqa: PT011  the sentence is compared
        fp.plot_confusion(frame, ax=axes())
    assert str(raised.value).startswith(sentence)


@pytest.mark.parametrize(
    ("inches", "written"),
    [
        (4, ["999,000\n99.9%", "1,000\n0.1%", "12,630\n100%", "0\n0%"]),  # 999 of 1,000 is not all, nor 1 none
        (0.8, ["999k\n99.9%", "1k\n0.1%", "12.6k\n100%", "0\n0%"]),
        (0.5, [""] * 4),
    ],
)
def test_numbers_as_they_fit(inches, written):
    row = pl.DataFrame({"tp": [999_000], "fn": [1_000], "fp": [12_630], "tn": [0]})
    ax = fp.plot_confusion(row, ax=Figure(figsize=(inches, inches)).subplots())
    assert [text.get_text() for text in ax.texts] == written


def test_shares_alone_where_counts_have_no_room():
    row = pl.DataFrame({"tp": [85], "fn": [15], "fp": [15], "tn": [85]})
    ax = fp.plot_confusion(row, ax=Figure(figsize=(0.53, 0.53)).subplots())
    assert [text.get_text() for text in ax.texts] == ["85%", "15%", "15%", "85%"]


@pytest.mark.parametrize(("count", "text"), [(0, "0"), (999, "999"), (12_630, "12.6k"), (999_900, "1M"), (5e9, "5G")])
def test_short_counts(count, text):
    assert short_count(count) == text

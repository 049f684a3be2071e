"""A recommender: from a table of ratings and lists of ten films to MAP, hit rate and their spread.

The ratings are made up, in the shape of MovieLens': a user, a film, one to five stars. Films that a
user rated with four or more in the last part of the table are what the lists should hold; the rest
of it says which films are popular. Two recommenders are compared: the most popular films that the
user has not rated, and films at random.
"""

import numpy as np
import polars as pl

import frame_pr  # noqa: F401, the import makes `.pr` known to polars and pandas

USERS, FILMS, RATINGS = 300, 80, 9000


def ratings() -> pl.DataFrame:
    """Columns `user`, `film`, `stars`, in the order of time: some films are far more popular."""
    rng = np.random.default_rng(7)
    fame = 1 / np.arange(1, FILMS + 1)
    film = rng.choice(FILMS, RATINGS, p=fame / fame.sum())
    stars = np.clip(rng.normal(3.8 - 1.5 * film / FILMS, 1, RATINGS).round(), 1, 5).astype(int)
    table = pl.DataFrame({"user": rng.integers(0, USERS, RATINGS), "film": film, "stars": stars})
    return table.unique(["user", "film"], keep="first", maintain_order=True)


def lists(table: pl.DataFrame) -> pl.DataFrame:
    """A row for each user: what they will like, and ten films of each recommender."""
    cut = table.height * 3 // 4
    before, after = table.head(cut), table.slice(cut)
    users = pl.DataFrame({"user": range(USERS)})
    fame = before.group_by("film").agg(seen=pl.len())
    unseen = (
        users.join(fame, how="cross")
        .join(before, on=["user", "film"], how="anti")
        .sort("user", "film")
    )
    unseen = unseen.with_columns(chance=np.random.default_rng(1).random(unseen.height))
    ten = {
        "popular": unseen.sort("seen", "film", descending=[True, False]),
        "random": unseen.sort("chance"),
    }
    found = [
        films.group_by("user").agg(pl.col("film").head(10).alias(name))
        for name, films in ten.items()
    ]
    found.append(after.filter(pl.col("stars") >= 4).group_by("user").agg(liked=pl.col("film")))
    for columns in found:
        users = users.join(columns, on="user", how="left", maintain_order="left")
    # Who liked nothing has an empty list, and is no mistake of the data.
    return users.with_columns(pl.col("liked").fill_null(pl.lit([], dtype=pl.List(pl.Int64))))


def main() -> None:
    users = lists(ratings())
    rows = users.pr.explode_lists("liked", ["popular", "random"], by="user")
    metrics = {"MAP@10": "average_precision@10", "nDCG@10": "ndcg@10", "hit rate": "success@10"}
    call = {"by": ["user", "system"], "unscored": "unretrieved"}
    means = rows.pr.evaluate(metrics, "truth", "score", mean_over="user", **call)
    spread = rows.pr.evaluate(
        {"P@10": "precision@10"},
        "truth",
        "score",
        mean_over="user",
        statistics=["median", "q90", "std"],
        **call,
    )
    print(f"{users.height} users, {rows.height} rows")
    print("\nMeans over the users who liked anything")
    print(means.select("system", "groups", *metrics, liked_nothing="undefined"))
    print("\nPrecision at 10 over the users: median, 90 % quantile, standard deviation")
    print(spread)


if __name__ == "__main__":
    pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=100,
        tbl_hide_dataframe_shape=True,
        float_precision=3,
    )
    main()

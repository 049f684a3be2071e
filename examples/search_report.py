"""Three search systems over NumPy's own documentation, compared in one frame.

Documents: the docstrings of NumPy's public functions, without their "See Also" section.
Queries: the one-line summary of each function; the function itself is not searched.
Relevant: the functions that the authors of the docstring list under "See Also". Their lists are
short, and nobody judged the other functions, so the metrics say which system finds more of what the
authors point to, not how good any of them is. They depend on the version of NumPy, whose docstrings
ship with it: nothing is downloaded.
"""

import inspect
import re
from typing import NamedTuple

import bm25s
import numpy as np
import polars as pl
from sklearn.feature_extraction.text import TfidfVectorizer

import frame_pr  # noqa: F401, the import makes `.pr` known to polars

AREAS = {"numpy": np, "linalg": np.linalg, "fft": np.fft, "random": np.random}
SYSTEMS = ["bm25", "tfidf", "char_ngrams"]
ONE_QUERY = "numpy.vstack"


class Document(NamedTuple):
    """A docstring by its parts."""

    area: str
    name: str
    summary: str
    body: str
    see_also: str


def documents() -> tuple[list[Document], dict[str, int]]:
    """One document per docstring, and the number of each function's document by its names."""
    found: dict[str, Document] = {}
    texts: dict[str, str] = {}
    for area, module in AREAS.items():
        for name in sorted(
            module.__all__, reverse=True
        ):  # of two names, the older: power, pow; vstack, row_stack
            function = getattr(module, name)
            text = inspect.getdoc(function)
            if text and callable(function) and not isinstance(function, type):
                texts[f"{area}.{name}"] = text
                found.setdefault(text, document(area, name, text))
    numbers = {text: number for number, text in enumerate(found)}
    return list(found.values()), {name: numbers[text] for name, text in texts.items()}


def document(area: str, name: str, text: str) -> Document:
    before, _, rest = text.partition("\nSee Also\n")
    next_heading = re.search(r"\n[A-Z][\w ]+\n---", rest)
    end = next_heading.start() if next_heading else len(rest)
    paragraphs = [" ".join(paragraph.split()) for paragraph in before.split("\n\n")]
    starts_with_signature = re.match(r"[\w.]+\(", paragraphs[0])
    summary = paragraphs[1 if starts_with_signature else 0]
    return Document(area, f"{area}.{name}", summary, before + rest[end:], rest[:end])


def listed(one: Document, numbers: dict[str, int]) -> set[int]:
    """The documents that a "See Also" section names."""
    names = []
    for line in one.see_also.splitlines():
        if line[:1].isalpha() or line.startswith((":", "`")):  # descriptions are indented
            names += re.split(
                r"\s*,\s*", re.sub(r":\w+:|`", "", re.split(r"\s:|:\s|:$", line)[0]).strip()
            )
    names = [name.removeprefix("numpy.") for name in names]
    candidates = [(f"{one.area}.{name}", f"numpy.{name}", name) for name in names]
    hits = (next((numbers[c] for c in choices if c in numbers), None) for choices in candidates)
    return {hit for hit in hits if hit is not None and hit != numbers[one.name]}


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def scores(bodies: list[str], queries: list[str]) -> dict[str, np.ndarray]:
    """Each system's score of every document (column) for every query (row)."""
    bm25 = bm25s.BM25()
    bm25.index([words(body) for body in bodies], show_progress=False)
    found = {"bm25": np.stack([bm25.get_scores(words(query)) for query in queries])}
    for name, vectorizer in {
        "tfidf": TfidfVectorizer(analyzer=words),
        "char_ngrams": TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True),
    }.items():
        matrix = vectorizer.fit_transform(bodies)
        found[name] = (vectorizer.transform(queries) @ matrix.T).toarray()
    return found


def search() -> pl.DataFrame:
    """Return `area, query, summary, document, relevant` and a score per system."""
    collection, numbers = documents()
    relevant = np.zeros((len(collection), len(collection)), dtype=bool)
    for number, one in enumerate(collection):
        relevant[number, list(listed(one, numbers))] = True
    asked = np.flatnonzero(relevant.any(axis=1))
    systems = scores(
        [one.body for one in collection], [collection[number].summary for number in asked]
    )
    return pl.DataFrame(
        {
            "area": [collection[number].area for number in asked for _ in collection],
            "query": [collection[number].name for number in asked for _ in collection],
            "summary": [collection[number].summary for number in asked for _ in collection],
            "document": [one.name for _ in asked for one in collection],
            "relevant": relevant[asked].ravel(),
            **{name: systems[name].ravel() for name in SYSTEMS},
        }
    ).filter(pl.col("query") != pl.col("document"))


def main() -> None:
    pl.Config(
        tbl_rows=-1,
        tbl_width_chars=110,
        fmt_str_lengths=60,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_cell_numeric_alignment="RIGHT",
        float_precision=3,
    )
    run = search()
    title = "Searching NumPy's documentation: three systems"
    print(title, "=" * len(title), sep="\n")
    print(
        f"{run.height:,} rows = {run['query'].n_unique()} queries x "
        f"{run['document'].n_unique() - 1} documents,"
    )
    print(
        f"{run['relevant'].sum():,} of them relevant; a score column each for {', '.join(SYSTEMS)}."
    )
    print(
        "Query: a function's one-line summary. Relevant: what its docstring lists under See Also."
    )

    print("\nThe report, averaged over the queries")
    print('>>> run.pr.report("relevant", SYSTEMS, k=(1, 5, 10), mean_over="query")')
    report = run.pr.report("relevant", SYSTEMS, k=(1, 5, 10), mean_over="query")
    print(report.pivot("system", index="metric", values="value"))

    print("\nMean average precision by area of the library")
    print(
        '>>> run.pr.evaluate("average_precision", "relevant", SYSTEMS, by=["area", "query"], '
        'mean_over="query")'
    )
    areas = run.pr.evaluate(
        "average_precision", "relevant", SYSTEMS, by=["area", "query"], mean_over="query"
    )
    print(
        areas.pivot("system", index=["area", "groups"], values="mean_average_precision").sort(
            "groups", "area"
        )
    )

    print(
        "\nWhere bm25 and tfidf differ most: each query's average precision, as extra columns of "
        "its rows"
    )
    print(
        '>>> run.pr.with_metrics("average_precision", "relevant", "bm25", by="query", '
        'prefix="bm25_")'
    )
    beside = run
    for system in ("bm25", "tfidf"):
        beside = beside.pr.with_metrics(
            "average_precision", "relevant", system, by="query", prefix=f"{system}_"
        )
    both = ["bm25_average_precision", "tfidf_average_precision"]
    queries = (
        beside.select("query", *both).unique().with_columns(gap=pl.col(both[0]) - pl.col(both[1]))
    )
    by_gap = queries.sort("gap", "query", descending=[True, False])
    print(pl.concat([by_gap.head(3), by_gap.tail(3)]))

    one = run.filter(query=ONE_QUERY)
    print(f"\nOne query, row by row: {ONE_QUERY}, {one['summary'][0]!r}")
    print('>>> one.pr.with_curve("relevant", "bm25").sort("k").head(8)')
    curve = one.pr.with_curve("relevant", "bm25").sort("k", "document").head(8)
    print(curve.select("document", "relevant", "bm25", "k", "tp", "precision", "recall"))


if __name__ == "__main__":
    main()

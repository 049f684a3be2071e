"""Ask the search of the built site for the queries: `python docs/check_search.py docs/_build`.

It also checks that the index and the browser reduce words to the same stems. Where there is no
Chromium, it says so and checks nothing.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FIRST = 3
"""How many results a reader looks at."""
SCRIPTS = (
    "_static/documentation_options.js",
    "_static/doctools.js",
    "_static/sphinx_highlight.js",
    "_static/searchtools.js",
    "_static/language_data.js",
    "searchindex.js",
)
ASK = """
<div id="search-results"></div><div id="search-progress"></div>
{scripts}
<pre id="answers"></pre>
<script>
  const results = (query) => Search._performSearch(...Search._parseQuery(query)).reverse();
  const pages = (query) => [...new Set(results(query).map(([page]) => page))];
  const answers = {{
    stems: {words}.map((word) => new Stemmer().stemWord(word)),
    pages: {queries}.map((query) => pages(query).slice(0, 10)),
  }};
  document.getElementById("answers").textContent = JSON.stringify(answers);
</script>
"""


def read_queries() -> dict[str, list[str]]:
    """The queries, each with the pages any of which must be found."""
    lines = (DOCS / "search_queries.txt").read_text(encoding="utf-8").splitlines()
    queries = {}
    for line in lines:
        if not line.startswith("#"):
            query, _, pages = line.rpartition(" | ")
            queries[query] = pages.split(" / ")
    return queries


def read_words() -> list[str]:
    """The words of all pages."""
    texts = [page.read_text(encoding="utf-8") for page in DOCS.glob("*.md")]
    return sorted(set(re.findall(r"[A-Za-z]+", " ".join(texts))))


def ask(browser: str, site: Path, words: list[str], queries: list[str]) -> dict[str, list]:
    """What the browser answers: the stem of each word, and the pages for each query."""
    scripts = "\n".join(f'<script src="{(site / path).as_uri()}"></script>' for path in SCRIPTS)
    page = ASK.format(scripts=scripts, words=json.dumps(words), queries=json.dumps(queries))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
    with tempfile.TemporaryDirectory() as work:
        asking = Path(work, "ask.html")
        asking.write_text(f'<!DOCTYPE html><meta charset="utf-8">{page}', encoding="utf-8")
        flags += [f"--user-data-dir={work}/profile", "--dump-dom", "--virtual-time-budget=10000"]
        ran = subprocess.run(
            [browser, *flags, asking.as_uri()], capture_output=True, encoding="utf-8", timeout=120
        )
    answers = re.search(r'<pre id="answers">(.*?)</pre>', ran.stdout, re.DOTALL)
    return json.loads(unescape(answers[1]))


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("the search was not asked: there is no Chromium here")
        return

    sys.path.insert(0, str(DOCS))
    from search_words import stem

    queries = read_queries()
    words = read_words()
    answers = ask(browser, site, words, list(queries))
    failures = []

    for word, stem_in_browser in zip(words, answers["stems"], strict=True):
        if stem_in_browser != stem(word):
            failures.append(f"{word}: {stem(word)} in the index, {stem_in_browser} in the browser")

    for (query, wanted), found in zip(queries.items(), answers["pages"], strict=True):
        if not {*wanted} & {*found[:FIRST]}:
            failures.append(f"{query}: no {' / '.join(wanted)} in {', '.join(found)}")

    print(*failures, sep="\n")
    print(f"search: {len(queries)} queries and {len(words)} words, {len(failures)} failures")
    raise SystemExit(bool(failures))


if __name__ == "__main__":
    main()

"""How the search of the site reduces a word to its stem: in Python, and in JavaScript."""

import re

from sphinx.search.en import SearchEnglish

ENDINGS = [
    ("ies$", "y"),
    ("sses$", "ss"),
    ("([^aious])s$", r"\1"),
    ("(...)ing$", r"\1"),
    ("(...)ed$", r"\1"),
    ("(...)e$", r"\1"),
]
"""Patterns at the end of a word with what replaces them, one after the other."""

JAVASCRIPT = """
var Stemmer = function () {
  const endings = [%s];
  this.stemWord = (word) =>
    endings.reduce((stem, [end, text]) => stem.replace(end, text), word.toLowerCase());
};
window.Stemmer = Stemmer;
"""


def stem(word: str) -> str:
    """The stem of a word: `intervals` and `interval`, `ranking` and `ranked` have one each."""
    word = word.lower()
    for end, text in ENDINGS:
        word = re.sub(end, text, word)
    return word


class SearchWords(SearchEnglish):
    """English with the stems above: the stemmers that Sphinx brings differ in a few words."""

    js_stemmer_rawcode = ""
    js_stemmer_code = JAVASCRIPT % ", ".join(
        f'[/{end}/, "{text}"]'.replace(r"\1", "$1") for end, text in ENDINGS
    )

    def stem(self, word: str) -> str:
        """The stem of a word, for the index."""
        return stem(word)

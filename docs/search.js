/* How the search of the site orders what it finds; it is part of a file that follows Sphinx's searchtools.js. */

const builders = ["stability"];

Scorer.score = (result) => {
  const [docname, , anchor, , score, , kind] = result;
  const { alltitles, docnames } = Search._index;
  if (kind === "index") {
    // Say which heading it is, as of other results.
    for (const [heading, places] of Object.entries(alltitles))
      for (const [file, id] of places)
        if (docnames[file] === docname && `#${id}` === anchor) result[1] += ` > ${heading}`;
  }
  // What is written for those who build the package comes last, and so do all words without the one that was asked for.
  const last = kind === "text" ? [...builders, "glossary"] : builders;
  return last.includes(docname) ? score - 1000 : score;
};

// A word is no part of another word: "rag" is not in "average". Sphinx looks for parts where an index lacks the word,
// and in all names of functions, of which "preci" still begins a word.
const { performTermsSearch, performObjectSearch } = Search;
Search.performTermsSearch = (searchTerms, excludedTerms) => {
  for (const index of [Search._index.terms, Search._index.titleterms])
    for (const word of searchTerms) if (!Object.hasOwn(index, word)) index[word] = [];
  return performTermsSearch(searchTerms, excludedTerms);
};
Search.performObjectSearch = (object, objectTerms) => {
  const begins = ([, name]) => `_${name.toLowerCase().replaceAll(".", "_")}`.includes(`_${object.replaceAll(".", "_")}`);
  return performObjectSearch(object, objectTerms).filter(begins);
};

/* How the search of the site orders what it finds; it is part of a file that follows Sphinx's searchtools.js. */

const BELOW_GUIDES = [
  "gallery", "reference", "cheat-sheet", "performance", "metric-names", "options", "api/frame_pr.PR", "api/frame_pr.ExprPR",
];
let asked = "";

// Whether the title of a page has a word of the query.
const stemsOf = (text) => text.toLowerCase().split(/[^a-z0-9]+/).filter(Boolean).map((word) => new Stemmer().stemWord(word));
const isInTitle = (title) => stemsOf(title).some((stem) => stemsOf(asked).includes(stem));

const { _performSearch } = Search;
Search._performSearch = (query, ...terms) => {
  asked = query.trim().toLowerCase().replaceAll(" ", "_");
  return _performSearch(query, ...terms);
};

Scorer.score = (result) => {
  const [docname, , anchor, , score, , kind] = result;
  const { alltitles, docnames } = Search._index;
  // The page of a function that has the name that was asked for comes first.
  if (docname === `api/frame_pr.${asked}`) return score + 1000;
  if (kind === "index") {
    // Say which heading it is, as of other results.
    for (const [heading, places] of Object.entries(alltitles))
      for (const [file, id] of places)
        if (docnames[file] === docname && `#${id}` === anchor) result[1] += ` > ${heading}`;
    return score;
  }
  // All words of the glossary without the one that was asked for come last.
  if (kind === "text" && docname === "glossary") return score - 1000;
  if (BELOW_GUIDES.includes(docname)) return score - 12;
  // A heading that contains the query, then the text of guides, then the text of functions.
  if (kind === "title") return score + 10;
  if (kind === "text" && isInTitle(result[1])) return score + 5;
  return kind === "text" && docname.startsWith("api/") ? score - 2 : score;
};

// A word is no part of another word: "rag" is not in "average". Where the index lacks a word, words that begin with it
// count: "calibrat" finds "calibration". Sphinx would look for parts, also in the names of functions.
const { performTermsSearch, performObjectSearch } = Search;
Search.performTermsSearch = (searchTerms, excludedTerms) => {
  for (const index of [Search._index.terms, Search._index.titleterms])
    for (const word of searchTerms)
      if (!Object.hasOwn(index, word)) index[word] = filesOf(index, (term) => word.length > 3 && term.startsWith(word));
  return performTermsSearch(searchTerms, excludedTerms);
};
const filesOf = (index, matches) => [...new Set(Object.keys(index).filter(matches).flatMap((term) => index[term]))];
Search.performObjectSearch = (object, objectTerms) => {
  const begins = ([, name]) => `_${name.toLowerCase().replaceAll(".", "_")}`.includes(`_${object.replaceAll(".", "_")}`);
  return performObjectSearch(object, objectTerms).filter(begins);
};

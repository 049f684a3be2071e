/* How the search of the site orders what it finds; it is part of a file that follows Sphinx's searchtools.js. */

const LAST = ["stability"];
const BELOW_GUIDES = ["gallery", "reference", "cheat-sheet", "api/frame_pr.PR", "api/frame_pr.ExprPR"];
let asked = "";

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
  if (LAST.includes(docname) || (kind === "text" && docname === "glossary")) return score - 1000;
  return BELOW_GUIDES.includes(docname) ? score - 12 : score;
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

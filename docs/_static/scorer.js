// Weights of the site's search: pages that explain come before attributes of classes that happen to have the same name.
var Scorer = {
  objNameMatch: 4,
  objPartialMatch: 1,
  objPrio: { 0: 4, 1: 0, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 9,
  term: 5,
  partialTerm: 2,
};

// ---- the verdict in natural frequencies, the recommendation, and the numbers beside them
function show(id, value, text) {
  const node = $(id);
  node.textContent = text ?? short(value);
  node.title = node.dataset.value = String(value);
}
// A threshold is on the scale of the scores; where these are not llrs themselves, the llr stands beside. An llr of 1e-17 is
// what binary fractions leave of 0.
const shortLlr = llr => short(llr !== null && Math.abs(llr) < 1e-12 ? 0 : llr);
const asLlr = (s, llr) => !stated(s) || llr === null || Number.isNaN(llr) ? "" : `llr ${shortLlr(llr)}`;
const scoreWords = (s, score) => (stated(s) || s.raw ? short : shortLlr)(score);
const thresholdWords = (s, score, llr) => scoreWords(s, score) + (asLlr(s, llr) ? ` (${asLlr(s, llr)})` : "");
// A threshold by hand is on one system's scale, so it moves that system only.
const isOther = s => state.rule === "manual" && s.place !== state.s;
const factsHere = s => facts(s, isOther(s) ? {...state, rule: "bayes"} : state);
const casesShown = p => 10 ** clamp(Math.ceil(2 - Math.log10(Math.min(p, 1 - p))), 5, 12);  // so that the rarer class has a hundred
function perCases(s, now, p = state.prior) {  // in this many cases at this prior: margins rounded first, cells by largest remainder
  const N = casesShown(p), targets = apportioned(N, [p, 1 - p])[0];
  const [hit, miss] = apportioned(targets, [s.T - now.m, now.m]), [alarm, reject] = apportioned(N - targets, [now.f, s.F - now.f]);
  const ends = {}, of = (pair, n) => pair?.map(rate => Math.round(rate * n)), other = pair => pair && [1 - pair[1], 1 - pair[0]];
  Object.assign(ends, {miss: of(now.ends.fnr, targets), hit: of(other(now.ends.fnr), targets), alarm: of(now.ends.fpr, N - targets), reject: of(other(now.ends.fpr), N - targets)});
  return {N, targets, hit, miss, alarm, reject, ends};
}
function settingWords(s) {
  const own = state.prior === share(s) ? t("as_in_data") : "";
  return t("v.setting", {cases: shareWords(state.prior, "cases") + own, costs: costWords(state.fn, state.fp)});
}
const ruleWords = (s, rule) => t(`how.${rule === "bayes" && isOther(s) ? "bayes_other" : rule}`, {bound: percent(state.bound), misses: percent(state.misses), alarms: group(state.alarms)});
function sentence(node, s, now) {
  const n = perCases(s, now), about = now.about ? t("about") : "";
  node.replaceChildren();
  rich(node, n.alarm === 1 ? "v.found_one" : "v.found", {cases: group(n.N), targets: group(n.targets), name: called(s.name), how: ruleWords(s, now.rule),
    hits: about + group(n.hit), hits_ends: inBrackets(n.ends.hit, group), alarms: about + group(n.alarm), alarms_ends: inBrackets(n.ends.alarm, group)});
  rich(node, ...costSentence(now));
}
function costSentence({dcf: cost, ends: {dcf: ends}}) {  // against deciding without the scores
  if (cost === Infinity) return ["v.infinite", {}];
  if (cost === 1) return ["v.same", {}];
  if (ends && ends[0] < 1 && ends[1] > 1) return ["v.unsure", {less: percent(1 - ends[0]), more: ends[1] > MANY ? t("times_as_much", {n: short(ends[1])}) : t("percent_more", {n: percent(ends[1] - 1)})}];
  if (cost < 1) return ["v.less", {n: percent(1 - cost), ends: inBrackets(ends && [1 - ends[1], 1 - ends[0]], percent)}];
  if (cost > MANY) return ["v.times", {n: short(cost), ends: inBrackets(ends, short)}];
  return ["v.more", {n: percent(cost - 1), ends: inBrackets(ends && [ends[0] - 1, ends[1] - 1], percent)}];
}
const MANY = 3;  // times the cost of deciding without the scores, beyond which per cents are hard to read
const HARMS = ["v.more", "v.times", "v.infinite"];  // a threshold that does harm is not one to use
const SCALES = {llr: "scale.llr", lr: "scale.lr", "log10-llr": "scale.log10-llr", "log-odds": "scale.log-odds", posterior: "scale.posterior"};
function advice(node, s, now) {  // which threshold to use, always on the user's own scale first
  node.replaceChildren();
  const several = SYSTEMS.length > 1 ? t("for_system", {name: called(s.name)}) : "";
  if (s.raw) return void rich(node, "r.raw", {threshold: short(now.best), several});
  const bayes = now.rule === "bayes" ? now : facts(s, {...state, rule: "bayes"}), scale = t(SCALES[s.facts.meaning]) + (asLlr(s, bayes.llr) ? `; ${asLlr(s, bayes.llr)}` : "");
  rich(node, now.rule !== "bayes" ? "r.would" : HARMS.includes(costSentence(now)[0]) ? "r.harm" : "r.use", {threshold: scoreWords(s, bayes.threshold), scale, several});
  const {lost} = bayes;  // a system is blamed for its calibration only where the cross-fitted loss is above 0 beyond doubt
  if (!lost || !(lost.ends[0] > 0)) return;
  const times = lost.value > MANY, words = times ? short : percent;
  rich(node, times ? "r.blame_times" : "r.blame", {n: words(lost.value), ends: inBrackets(lost.ends, words)});
}
const verdicts = [], several = [...document.querySelectorAll("#verdict .several, #verdict .unpriced")];  // these stay as they are
const parts = SYSTEMS.every(s => s.facts.within);  // classes against the rest only: the whole is told first
const spoken = {setting: make("p", {className: "setting"}), advice: make("p", {className: "more advice"}), pairs: make("p", {className: "more"}), doubt: make("p", {className: "note"})};
function drawVerdicts() {
  const shown = SYSTEMS.filter((s, i) => i === state.s || SYSTEMS.length <= 4 && !s.facts.within).sort((a, b) => (b.place === state.s) - (a.place === state.s));
  verdicts.splice(0, Infinity, ...shown.map((s, i) => [make("p", {className: i || parts ? "more" : ""}), s]));
  const live = [spoken.setting, verdicts[0][0], spoken.advice, ...verdicts.slice(1).map(([p]) => p), spoken.pairs, spoken.doubt];
  $("verdict").replaceChildren(...parts ? [...several, ...live] : [...live, ...several]);
}
function fillVerdicts(s, now) {
  spoken.setting.textContent = settingWords(s);
  for (const [p, one] of verdicts) sentence(p, one, one === s ? now : factsHere(one));
  advice(spoken.advice, s, now);
  const place = now.known && state.rule === "bayes" ? placeOfPoint(s, state) : -1, named = called(s.name);
  const own = differencesAt(place).filter(d => SYSTEMS.length <= 3 || called(d.first) === named || called(d.second) === named);
  const told = own.sort((a, b) => Math.abs(real(b.value)) - Math.abs(real(a.value))).slice(0, 3);
  spoken.pairs.textContent = told.map(differenceWords).join(" ");
  spoken.pairs.hidden = !told.length;
  spoken.doubt.textContent = intervalWords(s, now);
}
function intervalWords(s, now) {  // what the numbers in brackets are, in one sentence
  const level = percent(levelOf(s)), by = groupsOf(s).map(called).join(" × ");
  const from = now.ends.from === "evaluated" && !by ? "evaluated_alone" : now.ends.from || (s.weighted ? "weighted" : "none");
  return t(`ends.${from}`, {level, by}) + (state.rule === "min" ? ` ${t("ends.hindsight")}` : "");
}

// ---- what it is worth in the reader's units
function fillUnits(now) {
  const on = state.day > 0, money = v => `${state.currency ? `${state.currency} ` : ""}${short(v)}`;
  $("f-units").hidden = !on;
  if (!on) return;
  const rows = [["u.cost", now.dcfu, now.ends.dcfu], ["u.dummy", now.dummy], ["u.best", now.lowestU], ["u.saved", now.dummy - now.dcfu, now.ends.dcfu && [now.dummy - now.ends.dcfu[1], now.dummy - now.ends.dcfu[0]]]];
  const cell = (v, ends, words) => make("td", {}, words(v), ...ends ? [make("small", {}, toWords(ends, words))] : []), times = (ends, k) => ends?.map(v => v * k);
  $("u-head").replaceChildren(make("tr", {}, make("td", {}), ...["u.day", "u.year"].map(name => make("th", {scope: "col"}, t(name)))));
  const body = rows.map(([name, v, ends]) => make("tr", {}, make("th", {scope: "row"}, t(name)), ...[state.day, 365 * state.day].map(k => cell(v * k, times(ends, k), money))));
  const alarms = make("tr", {}, make("th", {scope: "row"}, t("u.alarms")), ...[state.day, 365 * state.day].map(k => cell(now.accepted * k, null, short)));
  const wrong = make("tr", {}, make("th", {scope: "row"}, t("u.false")), ...[state.day, 365 * state.day].map(k => cell((1 - state.prior) * now.fpr * k, times(now.ends.fpr, (1 - state.prior) * k), short)));
  $("u-body").replaceChildren(...body, alarms, wrong);
  titled($("u-body").parentNode);
}
const INTERVALS = {dcf: short, min: short, fnr: percent, fpr: percent, dcfu: short};
const readOff = n => Math.abs(n - Math.round(n)) > 1e-6;  // between two kept points, not counted
function fillTable(s, now) {  // the confusion matrix: per this many cases with intervals, and as counted
  const n = perCases(s, now), counted = {hit: s.T - now.m, miss: now.m, alarm: now.f, reject: s.F - now.f};
  for (const key of ["hit", "miss", "alarm", "reject"]) {
    show(`c-${key}`, n[key], group(n[key]));
    $(`r-${key}`).textContent = toWords(n.ends[key], group);
    show(`k-${key}`, counted[key] * s.weight, t(s.weighted ? "weight_n" : "counted_n", {n: (readOff(counted[key]) ? t("about") : "") + short(counted[key] * s.weight)}));
  }
  for (const node of document.querySelectorAll("#f-table h3, #f-table caption")) node.textContent = t("in_cases", {n: group(n.N)});
  $("few").textContent = s.weighted ? t("weighted_note") : fewWords(counted);
}
function fewWords({miss, alarm}) {  // the rule of 30
  const few = [[miss, "n_misses"], [alarm, "n_alarms"]].map(([n, words]) => [Math.round(n), words]).filter(([n]) => n < 30);
  return few.length ? t("only_few", {told: few.map(([n, words]) => t(n === 1 ? `${words}_one` : words, {n})).join(t("and"))}) : "";
}
function caution(s, now) {  // what is not exact here, and how far it may be off
  if (now.open) return t("note.between", {fnr: toWords(now.open.fnr, percent), fpr: toWords(now.open.fpr, percent)});
  if (now.about) return s.within > 0 && Math.abs(now.tau) <= REACH ? t("note.within", {n: short(s.within)}) : t("note.beyond");
  if (now.undecided) return t("note.raw");
  return ["fpr", "fnr", "alarms"].includes(now.rule) && !s.complete ? t("note.kept", {n: group(s.x.length)}) : "";
}
function summary() {  // what is said above, as plain text
  const title = document.querySelector("h1").textContent, what = document.querySelector(".what").textContent;
  return [title, what, "", ...[...$("verdict").children].filter(p => !p.hidden).map(p => p.textContent.trim()), "", $("note").textContent.trim(), location.href].filter((line, i, all) => line || all[i - 1]).join("\n").replaceAll("\u00a0", " ") + "\n";
}

// ---- words and tables
const labelled = (node, label) => { node.setAttribute("aria-label", label); return node; };
function make(tag, properties, ...inside) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...inside);
  return node;
}
const key = s => make("span", {className: `key k${s.place % 8}`});  // the colour of a system's curves
const bold = text => make("b", {}, text);
function show(id, value, text) {
  const node = $(id);
  node.textContent = text ?? short(value);
  node.title = node.dataset.value = String(value);
}
// A threshold is on the scale of the scores; where these are not llrs themselves, the llr stands beside.
const asLlr = (s, llr) => !stated(s) || Number.isNaN(llr) ? "" : `llr ${short(llr)}`;
const thresholdWords = (s, score, llr) => short(score) + (asLlr(s, llr) ? ` (${asLlr(s, llr)})` : "");
// A threshold by hand is on one system's scale, so it moves that system only.
const isOther = s => state.rule === "manual" && s.place !== state.s;
const factsHere = s => facts(s, isOther(s) ? {...state, rule: "bayes"} : state);
function sentence(node, s, now, opening) {
  node.replaceChildren(opening, make("b", {className: SYSTEMS.length > 1 ? `named k${s.place % 8}` : ""}, called(s.name)));
  const how = {bayes: isOther(s) ? " with the Bayes threshold" : "", min: " at its best threshold in hindsight", manual: " at your threshold", fpr: ` with at most ${percent(state.bound)} false alarms`}[now.rule];
  node.append(`${how} costs ${now.about ? "about " : ""}`);
  if (now.dcf === Infinity) node.append(bold("infinitely more"), " than deciding without the scores: it does harm here. ");
  else if (now.dcf > 1) node.append(bold(short(now.dcf)), " times what deciding without the scores costs: it does harm here. ");
  else if (now.dcf === 1) node.append("just what deciding without the scores would cost. ");
  else node.append(bold(short(now.dcf)), " of what deciding without the scores would cost", between95(now), ". ");
  if (now.rule === "min") return;
  node.append("The best threshold in hindsight, on these very trials, would give ", bold(short(now.min)), ". ");
  if (now.rule === "bayes") node.append(calibrationWords(now));
}
const between95 = ({ends}) => ends.dcf ? ` (${toWords(ends.dcf, short)})` : "";
// A system is blamed for its calibration only where the cross-fitted loss is above 0 beyond doubt: its interval says so.
function calibrationWords({lost}) {
  if (!lost || !(lost.ends[0] > 0)) return "";
  return `Poor calibration costs ${short(lost.value)} (${toWords(lost.ends, short)}) of it: calibrate the scores.`;
}
const verdicts = [], several = [...document.querySelectorAll("#verdict .several, #verdict .unpriced")];  // these stay as they are
const parts = SYSTEMS.every(s => s.facts.within);  // classes against the rest only: the whole is told first
function drawVerdicts() {
  const shown = SYSTEMS.filter((s, i) => i === state.s || SYSTEMS.length <= 4 && !s.facts.within).sort((a, b) => (b.place === state.s) - (a.place === state.s));
  verdicts.splice(0, Infinity, ...shown.map((s, i) => [make("p", {className: i || parts ? "more" : ""}), s]));
  const live = verdicts.map(([p]) => p);
  $("verdict").replaceChildren(...parts ? [...several, ...live] : [...live, ...several]);
}

// ---- the live numbers that have intervals
const INTERVALS = {dcf: short, min: short, loss: short, fnr: percent, fpr: percent, dcfu: short}, bars = {};
const hasIntervals = s => s.facts.intervals !== undefined;
function drawIntervals() {
  for (const key in INTERVALS) {
    const words = make("small", {}), row = make("dd", {className: "between", id: `i-${key}`}, words);
    bars[key] = {row, words, bar: intervalBar(row)};
    $(`n-${key}`).after(row);
  }
}
function fillIntervals(s, now) {
  const scales = {fnr: [0, Math.max(...finite([now.fnr, now.fpr, ...now.ends.fnr ?? [], ...now.ends.fpr ?? []])) || 1]};
  const cost = costScale([now.dcf, ...["dcf", "min", "loss"].flatMap(key => now.ends[key] ?? [])]);
  for (const key in INTERVALS) {
    const {row, words, bar} = bars[key], ends = now.ends[key];
    row.hidden = !hasIntervals(s);
    row.classList.toggle("unknown", !ends);  // keeps its place, so that nothing jumps under a hand
    if (!ends) continue;
    words.textContent = toWords(ends, INTERVALS[key]);
    row.dataset.value = ends.join(" ");
    const rate = key === "fnr" || key === "fpr";
    bar.fill(now[key], ends, rate ? scales.fnr : key === "dcfu" ? [0, ends[1] || 1] : cost, rate || key === "dcfu" ? undefined : 1);
  }
  if (!hasIntervals(s)) return "";
  const {level, resamples} = s.facts.intervals;
  return Object.values(now.ends).some(ends => ends) ? `Bars: intervals of ${percent(level)}, from ${group(resamples)} resamples.` : "Intervals are known at the applications evaluated.";
}

// ---- systems compared
const own = (title, key, words, most) => ({title, words, most, ends: r => pair(r.s.facts[`${key}_ci`]), value: r => real(r.s.facts[key]?.value ?? r.s.facts[key])});
// Raw scores decide nothing under the Bayes rule: only what hindsight could reach is known of them.
const here = (title, key, words, cost) => ({title, words, cost, value: r => r.now.undecided && key !== "min" ? null : r.now[key],
  ends: r => r.now.ends[key], instead: r => r.now.undecided && key !== "min" ? (key === "dcf" ? "minimum only" : "undefined") : null});
const COLUMNS = [{title: "system", words: t => t, value: r => r.s.name ?? ""},
  here("DCF", "dcf", short, true), here("minimum DCF", "min", short, true), here("DCF − minimum", "loss", short, true), here("misses", "fnr", percent), here("false alarms", "fpr", percent),
  own("EER", "eer", percent, [0, 0.5]), own("AUC", "auc", short, [0.5, 1]), own("Cllr, bits", "cllr", short, [0, 1]), own("min Cllr", "min_cllr", short, [0, 1])];
const sorting = {by: null, down: false};
function drawComparison() {
  const head = make("tr", {}, ...COLUMNS.map(({title}, k) => {
    const button = make("button", {type: "button"}, title);
    button.addEventListener("click", () => { sorting.down = sorting.by === k && !sorting.down; sorting.by = k; fillComparison(true); });
    return make("th", {scope: "col"}, button);
  }));
  const barred = SYSTEMS.some(hasIntervals);
  sorting.rows = SYSTEMS.map(s => {
    const row = make("tr", {}, make("th", {scope: "row"}, key(s), called(s.name)));
    const cells = COLUMNS.slice(1).map((column, k) => {
      const number = make("span", {}), words = make("small", {}), cell = make("td", {}, number);
      const bar = barred || k < 2 ? intervalBar(cell) : null;
      if (barred) cell.append(words);
      row.append(cell);
      return {cell, number, words, bar};
    });
    return {s, row, cells};
  });
  sorting.head = head;
  sorting.body = make("tbody", {}, ...sorting.rows.map(r => r.row));
  const scales = barred ? make("p", {className: "note"}, "Bars: intervals, each column on a scale of its own; costs from 0, with a mark at deciding without the scores.") : "";
  $("compare").replaceChildren($("compare").querySelector("h2"), make("div", {className: "wide"}, make("table", {}, make("thead", {}, head), sorting.body)), scales);
}
function scaleOf(column, rows) {  // from 0 for what happens here; else between the lowest and the highest end
  const all = finite(rows.flatMap(r => [column.value(r), ...column.ends(r) ?? []]));
  if (column.cost) return costScale(all);
  if (!column.most) return [0, Math.max(...all) || 1];
  if (rows.length === 1) return [Math.min(column.most[0], ...all), Math.max(column.most[1], ...all)];
  const low = Math.min(...all), high = Math.max(...all), pad = (high - low) * 0.06 || 0.5;
  return [low - pad, high + pad];
}
function fillComparison(sort) {
  const {rows} = sorting;
  for (const r of rows) { r.now = factsHere(r.s); r.row.className = r.s.place === state.s ? "chosen" : ""; }
  COLUMNS.slice(1).forEach((column, k) => {
    const scale = rows[0].cells[k].bar ? scaleOf(column, rows) : null;
    for (const r of rows) {
      const {cell, number, words, bar} = r.cells[k], value = column.value(r), ends = column.ends(r);
      number.textContent = column.instead?.(r) ?? column.words(value); cell.title = String(value);
      words.textContent = toWords(ends, column.words);
      if (bar) { bar.svg.toggleAttribute("hidden", !column.cost && !ends || !Number.isFinite(value ?? NaN)); bar.fill(value, ends, scale, column.cost ? 1 : undefined); }
    }
  });
  if (!sort || sorting.by === null) return;
  const {value} = COLUMNS[sorting.by], sign = sorting.down ? -1 : 1;
  const order = [...rows].sort((a, b) => { const x = value(a), y = value(b); return x === y ? 0 : x === null ? 1 : y === null ? -1 : sign * (x < y ? -1 : 1); });  // what is undefined comes last
  for (const r of order) sorting.body.append(r.row);
  [...sorting.head.children].forEach((th, k) => k === sorting.by ? th.setAttribute("aria-sort", sorting.down ? "descending" : "ascending") : th.removeAttribute("aria-sort"));
}

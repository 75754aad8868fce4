// ---- systems compared: a table that sorts, all costs in one figure, paired differences, conditions, the decision curve
const own = (title, key, words) => ({title, words, ends: r => pair(r.s.facts[`${key}_ci`]), value: r => real(r.s.facts[key]?.value ?? r.s.facts[key])});
// Raw scores decide nothing under the Bayes rule: only what hindsight could reach is known of them.
const here = (title, key, words) => ({title, words, value: r => r.now.undecided && key !== "min" ? null : r.now[key],
  ends: r => r.now.undecided && key !== "min" ? null : r.now.ends[key], instead: r => r.now.undecided && key !== "min" ? t(key === "dcf" ? "minimum_only" : "undefined") : null});
const COLUMNS = [{title: t("system"), words: name => name, value: r => r.s.name ?? ""},
  here("DCF", "dcf", short), here(t("minimum_dcf"), "min", short), here(t("gap"), "loss", short), here(t("misses"), "fnr", percent), here(t("false_alarms"), "fpr", percent),
  own("EER", "eer", percent), own("AUC", "auc", short), own(t("cllr_bits"), "cllr", short), own(t("min_cllr"), "min_cllr", short)];
const sorting = {by: null, down: false};
const key = s => { const svg = el("svg", {class: "key", viewBox: "0 0 34 8", width: 34, height: 8, "aria-hidden": "true"}); el("path", {class: `curve ${look(s.place)}`, d: "M0 4H34"}, svg); return svg; };
function drawComparison() {
  const head = make("tr", {}, ...COLUMNS.map(({title}, k) => {
    const button = make("button", {type: "button"}, title);
    button.addEventListener("click", () => { sorting.down = sorting.by === k && !sorting.down; sorting.by = k; fillComparison(true); });
    return make("th", {scope: "col"}, button);
  }));
  sorting.rows = SYSTEMS.map(s => {
    const row = make("tr", {}, make("th", {scope: "row"}, key(s), called(s.name)));
    const cells = COLUMNS.slice(1).map(() => {
      const number = make("span", {}), words = make("small", {}), cell = make("td", {}, number, words);
      row.append(cell);
      return {cell, number, words};
    });
    return {s, row, cells};
  });
  sorting.head = head;
  sorting.body = make("tbody", {}, ...sorting.rows.map(r => r.row));
  const table = make("table", {}, make("thead", {}, head), sorting.body);
  $("compare").querySelector(".wide").replaceChildren(table);
  titled(table);
}
function fillComparison(sort) {
  const {rows} = sorting;
  for (const r of rows) { r.now = factsHere(r.s); r.row.className = r.s.place === state.s ? "chosen" : ""; }
  COLUMNS.slice(1).forEach((column, k) => {
    for (const r of rows) {
      const {cell, number, words} = r.cells[k], value = column.value(r);
      number.textContent = column.instead?.(r) ?? column.words(value); cell.title = String(value);
      words.textContent = toWords(column.ends(r), column.words);
    }
  });
  if (!sort || sorting.by === null) return;
  const {value} = COLUMNS[sorting.by], sign = sorting.down ? -1 : 1;
  const order = [...rows].sort((a, b) => { const x = value(a), y = value(b); return x === y ? 0 : x === null ? 1 : y === null ? -1 : sign * (x < y ? -1 : 1); });  // what is undefined comes last
  for (const r of order) sorting.body.append(r.row);
  [...sorting.head.children].forEach((th, k) => k === sorting.by ? th.setAttribute("aria-sort", sorting.down ? "descending" : "ascending") : th.removeAttribute("aria-sort"));
}

// All systems' costs: the chosen one in its colour, the others grey, each named where it ends.
const endRoom = figure => clamp(36 + WIDER * Math.max(...shownSystems().map(s => called(s.name).length)), 70, (printing ? 0.43 : 0.33) * widthOf(figure));
function drawEnds(c, ends) {
  const most = lettersIn(c.svg.viewBox.baseVal.width - c.right - 31);
  const step = printing ? 12 : 15;  // between two names, which stay within the frame where they find room there
  ends.sort((a, b) => a.y - b.y).forEach((end, k) => { if (k) end.y = Math.max(end.y, ends[k - 1].y + step); });
  for (let k = ends.length - 1, lowest = Math.max(c.bottom, c.top + step * k); k >= 0; k--) lowest = (ends[k].y = Math.min(ends[k].y, lowest)) - step;
  for (const {s, y: last} of ends) {
    el("path", {class: `curve ${s.place === state.s ? `c${s.place % 8}` : "other"} d${dashOf(s.place)}`, d: `M${c.right + 5} ${last}h22`}, c.svg);
    el("text", {class: s.place === state.s ? "strong" : "", x: c.right + 31, y: last + 4}, c.svg, brief(called(s.name), most));
  }
}
const lineClass = s => s.place === state.s ? `curve c${s.place % 8} d${dashOf(s.place)}` : `curve thin other d${dashOf(s.place)}`;
const shownSystems = () => chosenLast().map(i => SYSTEMS[i]).filter(s => SYSTEMS.length <= MOST || s.place === state.s);
const allCosts = {};
function drawCosts() {
  const figure = $("f-costs"), c = chart(figure, widthOf(figure), printing ? 172 : 310, [34, 26, endRoom(figure), 58]), valueOf = s => costs(s).actual.length ? costs(s).actual : costs(s).minimum;
  figure.hidden = SYSTEMS.length < 2;
  allCosts.c = c;
  costFrame(c);
  for (const s of shownSystems()) c.path(valueOf(s).map(([x, v]) => [c.X(x), inFrame(c, v)]), lineClass(s));
  c.path([[c.left, c.Y(1)], [c.right, c.Y(1)]], "blind dot");
  drawEnds(c, shownSystems().map(s => ({s, y: c.Y(Math.min(valueOf(s).at(-1)[1], 1.2))})));
  allCosts.line = el("path", {class: "here"}, c.svg);
  const words = k => `${shareWords(oddsShare(costs(SYSTEMS[0]).minimum[k][0]))}: ${SYSTEMS.slice(0, 8).map(s => `${called(s.name)} ${short(valueOf(s)[k][1])}`).join(", ")}`;
  probe(c, {count: () => STEPS + 1, at: k => [c.X(valueOf(SYSTEMS[state.s])[k][0]), inFrame(c, Math.min(valueOf(SYSTEMS[state.s])[k][1], 1.2))], words, across: true, name: t("along_the_priors")});
  describe(figure, () => t("says.costs", {systems: SYSTEMS.slice(0, 8).map(s => `${called(s.name)} ${short(factsHere(s).dcf)}`).join(", ")}),
    () => ({head: ["log_odds", ...SYSTEMS.map(s => called(s.name))], rows: valueOf(SYSTEMS[0]).map(([x], k) => [x, ...SYSTEMS.map(s => valueOf(s)[k][1])])}));
}

// Net benefit at the prior of the page, along the threshold probability; the costs choose one of them.
const decisive = {values: []};
const BENEFITS = Array.from({length: 99}, (_, k) => (k + 1) / 100);
function benefitAt(s, p, x) {
  const {m, f} = errorsAt(s, logit(x) - logit(p)), odds = x / (1 - x);
  const ends = s.place === state.s && limitsAt(s, {m, f, fnr: m / s.T, fpr: f / s.F, tau: 0, miss: 1, alarm: 1});
  const limits = ends && sumLimits([[p, (s.T - m) / s.T, [1 - ends.fnr[1], 1 - ends.fnr[0]]], [-(1 - p) * odds, f / s.F, ends.fpr]]);
  return {value: p * ((s.T - m) / s.T) - (1 - p) * odds * (f / s.F), limits};
}
function drawDecision() {
  const figure = $("f-decision");
  decisive.c = chart(figure, widthOf(figure), printing ? 172 : 310, [46, 26, endRoom(figure), 42]);
  decisive.systems = shownSystems().filter(s => !s.raw);
  figure.hidden = !decisive.systems.length;
  const values = k => decisive.values.map(({s, all}) => `${called(s.name)} ${short(all[k].value)}`).join(", ");
  describe(figure, () => t("says.decision", {x: percent(chosenProbability()), values: values(clamp(Math.round(100 * chosenProbability()) - 1, 0, 98))}),
    () => ({head: ["threshold_probability", ...decisive.values.map(({s}) => called(s.name)), "accept_all"], rows: BENEFITS.map((x, k) => [x, ...decisive.values.map(({all}) => all[k].value), acceptAll(x)])}));
  decisive.probe = {count: () => BENEFITS.length, across: true, name: t("along_the_probabilities"), words: k => `${percent(BENEFITS[k])}: ${values(k)}`,
    at: k => { const one = decisive.values.find(({s}) => s.place === state.s) ?? decisive.values[0]; return [decisive.c.X(BENEFITS[k]), clamp(decisive.c.Y(one.all[k].value), decisive.c.top, decisive.c.bottom)]; }};
  moveDecision();
}
const chosenProbability = () => { const top = Math.max(state.fn, state.fp); return state.fp / top / (state.fp / top + state.fn / top); };
const acceptAll = x => state.prior - (1 - state.prior) * x / (1 - x);
function moveDecision() {  // everything here moves with the prior
  if ($("f-decision").hidden) return;
  const drawn = `${state.prior} ${state.s} ${printing}`, {c} = decisive;
  if (decisive.drawn !== drawn || !c.svg.querySelector("path.curve")) {
    decisive.drawn = drawn;
    decisive.values = decisive.systems.map(s => ({s, all: BENEFITS.map(x => benefitAt(s, state.prior, x))}));
    const keep = c.svg.querySelector("clipPath"), highest = Math.max(state.prior, ...decisive.values.flatMap(({all}) => all.map(one => one.value)));
    c.svg.replaceChildren(keep);
    c.scaleX(0, 1); c.scaleY(-highest / 4, highest * 1.05);
    c.ticksY(nice(-highest / 4, highest * 1.05, 5), t("axis.benefit")); c.ticksX(quarters(), t("axis.probability"));
    const own = decisive.values.find(({s}) => s.place === state.s);
    if (own?.all[0].limits) c.band(...[0, 1].map(side => own.all.map((one, k) => [c.X(BENEFITS[k]), c.Y(one.limits[side])])), `c${own.s.place % 8}`);
    c.path(BENEFITS.map(x => [c.X(x), c.Y(acceptAll(x))]), "blind dash");
    c.path([[c.left, c.Y(0)], [c.right, c.Y(0)]], "blind dot");
    for (const {s, all} of decisive.values) c.path(all.map((one, k) => [c.X(BENEFITS[k]), c.Y(one.value)]), lineClass(s));
    const steep = BENEFITS.findLast(x => acceptAll(x) > -highest / 8) ?? 0.01, late = c.X(steep) > (c.left + c.right) / 2;
    const room = LETTER * (t("accept_none") + t("accept_all")).length + 24 < c.right - c.left;
    if (room) el("text", {class: late ? "soft halo" : "soft halo end", x: late ? c.left + 4 : c.right - 4, y: c.Y(0) + 14}, c.svg, t("accept_none"));
    el("text", {class: "soft halo", x: Math.min(c.X(steep) + 6, c.right - 90), y: c.Y(-highest / 6)}, c.svg, t("accept_all"));
    drawEnds(c, decisive.values.map(({s, all}) => ({s, y: clamp(c.Y(all.at(-1).value), c.top, c.bottom)})));
    decisive.line = el("path", {class: "here"}, c.svg);
    probe(c, decisive.probe);
  }
  decisive.line.setAttribute("d", `M${c.X(chosenProbability()).toFixed(1)} ${c.top}V${c.bottom}`);
}
function moveCosts(now) {
  allCosts.line?.setAttribute("d", `M${clamp(allCosts.c.X(now.tau), allCosts.c.left, allCosts.c.right).toFixed(2)} ${allCosts.c.top}V${allCosts.c.bottom}`);
}

// Paired differences, where they were computed: at the operating points evaluated.
const differencesAt = place => (DATA.comparison?.differences ?? []).filter(d => d.quantity === `applications.${place}.dcf`);
function drawDifferences() {
  const figure = $("f-differences"), found = DATA.comparison;
  if (!found) return;
  const chosen = placeOfPoint(SYSTEMS[state.s], state), place = chosen < 0 ? 0 : chosen, app = SYSTEMS[state.s].facts.applications[place], rows = differencesAt(place);
  figure.hidden = !rows.length;
  if (!rows.length) return;
  $("paired").textContent = t(chosen < 0 ? "differences_elsewhere" : "differences_here", {point: app ? pointWords(app) : "", level: percent(found.level)});
  forest(figure, rows.map(d => ({label: `${called(d.first)} − ${called(d.second)}`, value: real(d.value), ends: pair(d.value_ci), note: `p ${pWords(d.adjusted)}`})), {mark: 0, words: short, axis: t("axis.difference")});
  describe(figure, () => rows.map(d => differenceWords(d)).join(" "), () => ({head: ["first", "second", "difference", "low", "high", "p", "adjusted_p"], rows: rows.map(d => [d.first, d.second, real(d.value), ...(pair(d.value_ci) ?? [null, null]), d.p_value, d.adjusted])}));
}
const pWords = p => p < 0.001 ? local("< 0.001") : short(Number(p.toPrecision(2)));
function differenceWords(d) {  // the one that costs less comes first
  const less = real(d.value) < 0, ends = pair(d.value_ci), size = Math.abs(real(d.value));
  const slots = {first: called(less ? d.first : d.second), second: called(less ? d.second : d.first), n: short(size), ends: inBrackets(ends && (less ? [0 - ends[1], 0 - ends[0]] : ends), short)};
  return ends && ends[0] <= 0 && ends[1] >= 0 ? t("difference.unsure", {...slots, first: called(d.first), second: called(d.second), n: short(real(d.value)), ends: inBrackets(ends, short)}) : t("difference.less", slots);
}

// Results by condition, the worst first, with their gap to all together.
function drawConditions() {
  (DATA.conditions ?? []).forEach((entry, n) => {
    const figure = $(`f-condition-${n}`);
    if (!figure) return;
    const s = SYSTEMS.find(one => String(one.name ?? "system") === String(entry.system)), chosen = s ? placeOfPoint(s, state) : -1, place = Math.max(chosen, 0);
    const whole = real(entry.pooled?.applications?.[place]?.dcf ?? null);
    const known = row => row.applications?.[place]?.dcf !== undefined && row.applications[place].dcf !== null;
    const rows = [...entry.rows.filter(known)].map(row => ({label: called(row.value), value: real(row.applications[place].dcf), ends: pair(row.applications[place].dcf_ci)})).sort((a, b) => b.value - a.value);
    figure.hidden = !rows.length;
    if (!rows.length) return;
    for (const row of rows) row.note = Number.isFinite(whole) ? `${row.value < whole ? "" : "+"}${short(gapOf(row.value, whole))}` : "";
    if (Number.isFinite(whole)) rows.push({label: t("all_together"), value: whole, ends: pair(entry.pooled.applications[place].dcf_ci), pooled: true});
    forest(figure, rows, {mark: Number.isFinite(whole) ? whole : undefined, words: short, axis: "DCF"});
    describe(figure, () => t("says.conditions", {column: called(entry.column), worst: rows[0].label, value: short(rows[0].value), best: rows.filter(r => !r.pooled).at(-1).label, least: short(rows.filter(r => !r.pooled).at(-1).value)}),
      () => ({head: [called(entry.column), "dcf", "low", "high"], rows: rows.map(r => [r.label, r.value, ...(r.ends ?? [null, null])])}));
  });
}
const gapOf = (value, whole) => Number((value - whole).toPrecision(2));

// ---- saving: everything that leaves the page is whole
function deliver(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
const download = (name, type, text) => deliver(name, new Blob([text], {type}));
const plain = v => Number.isFinite(v) ? v : Number.isNaN(v) ? null : v > 0 ? "inf" : "-inf";
function unpacked() {  // the document as `tercet evaluate --json` writes it
  const copy = structuredClone(DATA), list = array => Array.from(array, plain);
  for (const s of copy.systems.filter(one => one.curve)) {
    for (const part of [s.curve, s.curve.hull]) {
      for (const key of ["thresholds", "llrs", "misses"]) if (part[key]) part[key] = list(numbers(part[key]));
      part.false_alarms = Array.from(falling(part.false_alarms));
      if (part.path) part.path = pathOf(part.path, part.thresholds.length);
    }
    const h = s.histogram, n = h.targets.bins.length;
    h.edges = Array.from({length: n ? n + 1 : 0}, (_, i) => { const part = i === n ? 1 : i * (1 / n); return n === 1 ? h.low : h.low * (1 - part) + h.high * part; });
    delete h.low; delete h.high;
  }
  for (const {posteriors: kept, classes} of copy.systems.filter(one => one.posteriors)) {
    const values = list(rowsOf(kept)), K = classes.length;
    kept.log_likelihoods = Array.from({length: values.length / K}, (_, r) => values.slice(r * K, (r + 1) * K));
    delete kept.step;
    if (kept.weights) kept.weights = list(weightsOf(kept));
  }
  for (const s of copy.systems.filter(one => one.within)) {
    const [whole, name] = s.within;
    delete s.within;
    (copy.systems[whole].versus ??= []).push({...s, name});
  }
  copy.systems = copy.systems.filter((_, i) => !DATA.systems[i].within);
  for (const s of copy.systems) delete s.lacking;
  for (const key of ["points", "words"]) delete copy[key];
  return copy;
}
const operatingPoint = () => `${called(SYSTEMS[state.s].name)}; ${t("saved_point", {prior: percent(state.prior), fn: short(state.fn), fp: short(state.fp), threshold: thresholdWords(SYSTEMS[state.s], now().threshold, now().llr)})}`;
function asCsv(head, rows) {
  const cell = v => { const text = String(typeof v === "number" ? plain(v) : v ?? ""); return `"${(/^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? "'" + text : text).replace(/"/g, '""')}"`; };
  return [head, ...rows].map(row => row.map(cell).join(",")).join("\r\n") + "\r\n";
}
function csv() {
  const head = ["system", "prior", "cost_fn", "cost_fp", "rule", "threshold_score", "threshold_llr", "fnr", "fpr", "dcf_u", "dcf", "min_dcf", "actual_minus_min", "ppv", "eer", "auc", "cllr", "min_cllr"];
  const ends = ["fnr", "fpr", "dcf_u", "dcf"];
  const rows = SYSTEMS.map(s => {
    const n = factsHere(s), f = s.facts;
    const found = [n.threshold, n.llr, n.fnr, n.fpr, n.dcfu, n.dcf, n.min, n.loss, n.ppv, f.eer.value, f.auc, f.cllr, f.min_cllr];
    return [s.name, state.prior, state.fn, state.fp, n.rule, ...found, ...ends.flatMap(key => n.ends[key.replace("_", "")] ?? ["", ""])];
  });
  return asCsv([...head, ...ends.flatMap(key => [`${key}_low`, `${key}_high`])], rows);
}
function tableCsv(table) {  // any table on the page, as it is shown
  const rows = [...table.rows].map(row => [...row.cells].map(cell => [...cell.childNodes].map(node => node.value ?? node.textContent).map(words => words.trim().replaceAll("\u00a0", " ")).filter(words => words).join(" | ")));
  return asCsv(rows[0], rows.slice(1));
}
function saveTables() {  // a button beside every table of the page
  for (const [i, table] of [...document.querySelectorAll("main table")].entries()) {
    if (table.closest("figure, .task")) continue;
    const title = table.closest("section, details, div.screen")?.querySelector("h2, h3, summary")?.textContent.slice(0, 60) ?? "table";
    const button = labelled(make("button", {type: "button", className: "get-table"}, "CSV"), t("save_table", {title}));
    button.addEventListener("click", () => download(`table-${i + 1}.csv`, "text/csv", tableCsv((table.isConnected ? table : $("compare").querySelector("table")))));
    table.closest(".wide")?.before(button);
    titled(table);
  }
}
const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "paint-order", "opacity", "font-family", "font-size", "font-weight", "font-variant-numeric", "text-anchor", "visibility"];
const HEAD = 44;  // pixels above a saved drawing, for its title and the operating point
function standalone(figure) {  // styles become attributes, so that the drawing looks the same anywhere; title and operating point above
  const svg = figure.querySelector("svg"), copy = svg.cloneNode(true), from = svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const key of DRAWN) to[i].setAttribute(key, style.getPropertyValue(key));
    for (const name of [...to[i].getAttributeNames()]) if (/^(class|tabindex|role|aria-.*)$/.test(name)) to[i].removeAttribute(name);
  });
  const {width, height} = svg.viewBox.baseVal, style = getComputedStyle(figure.querySelector("h3")), ink = style.color, family = style.fontFamily;
  for (const name of ["role", "aria-describedby", "class"]) copy.removeAttribute(name);
  copy.setAttribute("xmlns", NS); copy.setAttribute("viewBox", `0 ${-HEAD} ${width} ${height + HEAD}`);
  copy.setAttribute("width", width); copy.setAttribute("height", height + HEAD);
  copy.prepend(el("desc", {}, null, FIGURES.get(figure)?.says() ?? ""), el("rect", {x: 0, y: -HEAD, width, height: height + HEAD, fill: getComputedStyle(document.body).backgroundColor}));
  el("text", {x: 0, y: 16 - HEAD, fill: ink, "font-family": family, "font-size": "14px", "font-weight": "600"}, copy, figure.querySelector("h3").textContent);
  el("text", {x: 0, y: 33 - HEAD, fill: ink, "font-family": family, "font-size": "12px"}, copy, operatingPoint());
  return {text: new XMLSerializer().serializeToString(copy), width, height: height + HEAD};
}
function saveFigure(figure, kind) {
  const name = figure.id.slice(2), {head, rows} = kind === "csv" ? FIGURES.get(figure).table() : {};
  if (kind === "csv") return download(`${name}.csv`, "text/csv", asCsv(head, rows));
  const {text, width, height} = standalone(figure);
  if (kind === "svg") return download(`${name}.svg`, "image/svg+xml", text);
  const image = new Image(), canvas = make("canvas", {width: 2 * width, height: 2 * height});
  image.onload = () => { const pen = canvas.getContext("2d"); pen.scale(2, 2); pen.drawImage(image, 0, 0, width, height); canvas.toBlob(blob => deliver(`${name}.png`, blob)); };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}
// ---- state: one object, mirrored in the address so that a link reproduces the view
const evaluated = (SYSTEMS[0]?.facts.applications ?? []).filter(a => a.cost_fn > 0 && a.cost_fp > 0);
const TASKS = DATA.systems.flatMap((s, i) => s.posteriors ? [task(s, i)] : []);  // classes.js is there with rows only
// Unless operating points were asked for, the page opens at the data's own share of targets, and says so.
const share = s => s.T / (s.T + s.F), byDefault = DATA.default_applications || !evaluated.length;
const first = byDefault && SYSTEMS.length && share(SYSTEMS[0]) > 0 && share(SYSTEMS[0]) < 1 ? {prior: share(SYSTEMS[0]), cost_fn: 1, cost_fp: 1} : byDefault ? {prior: 0.5, cost_fn: 1, cost_fp: 1} : evaluated[0];
const state = {s: 0, prior: first.prior, fn: first.cost_fn, fp: first.cost_fp, rule: "bayes", manual: 0, bound: 0.01, misses: 0.05, alarms: 10, day: 0, currency: "", curve: "ROC", dark: null};
const pointWords = a => a.name ? called(a.name) : `${shareWords(a.prior)}, ${short(a.cost_fn)} : ${short(a.cost_fp)}`;
const POINTS = [...evaluated.map(a => ({...a, label: t("evaluated_point", {point: pointWords(a)})})), ...DATA.points.map(a => ({...a, label: a.label ?? t("equal_costs", {share: shareWords(a.prior)})}))];  // operating points to choose from
const positive = v => { const n = Number(v); return n > 0 && Number.isFinite(n) ? n : null; };
const notNegative = v => v === "" || v === null ? null : within(Number(v), n => n >= 0);
const RULES = ["bayes", "min", "manual", "fpr", "fnr", "alarms"];
const START = {...state};
function fromHash() {  // what the address does not say is as at the start
  Object.assign(state, START);
  const q = new URLSearchParams(location.hash.slice(1)), prior = Number(q.get("p"));
  if (prior > 0 && prior < 1) state.prior = prior;
  state.fn = positive(q.get("fn")) ?? state.fn;
  state.fp = positive(q.get("fp")) ?? state.fp;
  if (RULES.includes(q.get("r"))) state.rule = q.get("r");
  if (q.has("t") && Number.isFinite(Number(q.get("t")))) state.manual = Number(q.get("t"));
  for (const [name, key] of [["x", "bound"], ["y", "misses"]]) { const rate = Number(q.get(name)); if (q.has(name) && rate >= 0 && rate <= 1) state[key] = rate; }
  for (const [name, key] of [["z", "alarms"], ["n", "day"]]) state[key] = notNegative(q.get(name)) ?? state[key];
  state.currency = called(q.get("u") ?? "").slice(0, 8);
  if (CURVES.includes(q.get("c"))) state.curve = q.get("c");
  if (SYSTEMS[Number(q.get("s"))]) state.s = Number(q.get("s"));
  if (q.has("d")) state.dark = q.get("d") === "1";
  for (const one of TASKS) taskFromHash(one, q.get(`m${one.place}`));
}
let writing = 0;
function toHash() {  // at most a few times a second: browsers refuse more, and no frame waits for it
  clearTimeout(writing);
  if (location.protocol === "about:") return;  // inside a notebook the address is not ours
  writing = setTimeout(() => history.replaceState(null, "", address()), 150);
}
function address() {
  const q = SYSTEMS.length ? {s: state.s, p: state.prior, fn: state.fn, fp: state.fp, r: state.rule, c: state.curve} : {};
  for (const one of TASKS) if (one.edited) q[`m${one.place}`] = taskHash(one);
  if (state.rule === "manual") q.t = state.manual;
  if (state.rule === "fpr") q.x = state.bound;
  if (state.rule === "fnr") q.y = state.misses;
  if (state.rule === "alarms") q.z = state.alarms;
  if (state.day > 0) q.n = state.day;
  if (state.currency) q.u = state.currency;
  if (state.dark !== null) q.d = state.dark ? 1 : 0;
  return "#" + new URLSearchParams(q);
}

// ---- one change, one frame: everything that moves moves here
let current = null, after = 0;
const now = () => current ??= facts(SYSTEMS[state.s], state);
function update() {
  current = null;
  const s = SYSTEMS[state.s], found = now();
  fillVerdicts(s, found);
  const about = found.about ? t("about") : "", certain = key => found.open?.[key]?.[0] === found.open?.[key]?.[1] && found.open?.[key];
  for (const key of ["min", "best"]) show(`n-${key}`, found[key]);
  show("n-threshold", found.threshold, scoreWords(s, found.threshold));
  show("l-threshold", found.llr, asLlr(s, found.llr));
  show("l-best", llrOf(s, found.best), asLlr(s, llrOf(s, found.best)));
  for (const [key, words] of Object.entries({...INTERVALS, loss: short})) if (key !== "min") show(`n-${key}`, found[key], (certain(key) ? "" : about) + words(found[key]));
  for (const key in INTERVALS) { $(`i-${key}`).textContent = toWords(found.ends[key], INTERVALS[key]); $(`i-${key}`).dataset.value = (found.ends[key] ?? []).join(" "); }
  if (found.undecided) show("n-dcf", found.dcf, t("n_minimum", {n: short(found.dcf)}));
  show("n-ppv", found.ppv, found.ppv === null ? t("nothing_accepted") : about + percent(found.ppv));
  show("n-effective", found.effective, percent(found.effective));
  fillTable(s, found); fillUnits(found);
  $("note").textContent = caution(s, found);
  const rates = t("rates", {fnr: percent(found.fnr), fpr: percent(found.fpr)});
  say(`${called(s.name)}: DCF ${$("n-dcf").textContent}, ${t("n_minimum", {n: short(found.min)})}, ${t("threshold")} ${thresholdWords(s, found.threshold, found.llr)}, ${rates}.`);
  moveScores(found); moveCurve(found); moveBayes(found); moveTrust(found); moveIcons(s, found); moveCosts(found);
  fillComparison(false); fillControls();
  soonAfter(settle);
}
function settle() { clearTimeout(after); moveDecision(); drawDifferences(); drawConditions(); describeAll(); }
function soonAfter(draw) { clearTimeout(after); after = setTimeout(draw, 120); }  // what need not follow the hand frame by frame
let speaking = 0;
function say(words) {  // once, when the hand rests
  clearTimeout(speaking);
  speaking = setTimeout(() => { $("announce").textContent = words; }, 400);
}
const boxNumber = v => Number(v.toPrecision(6));
const SHOWN = {  // what stands in each box
  "prior-box": () => local(String(boxNumber(100 * state.prior))), bound: () => local(String(boxNumber(100 * state.bound))), misses: () => local(String(boxNumber(100 * state.misses))),
  "cost-fn-box": () => boxNumber(state.fn), "cost-fp-box": () => boxNumber(state.fp), manual: () => Number(state.manual.toPrecision(8)), alarms: () => boxNumber(state.alarms),
  "per-day": () => state.day > 0 ? boxNumber(state.day) : "", currency: () => state.currency,
  points: () => POINTS.findIndex(a => a.prior === state.prior && a.cost_fn === state.fn && a.cost_fp === state.fp)};
const BOXES = {manual: "manual", bound: "fpr", misses: "fnr", alarms: "alarms"};
function fillControls() {
  const put = id => { const node = $(id); if (document.activeElement !== node) node.value = SHOWN[id](); };
  Object.keys(SHOWN).forEach(put);
  $("prior").value = logit(state.prior);
  $("prior").setAttribute("aria-valuetext", shareWords(state.prior, "cases"));
  $("prior-words").textContent = t("prior_words", {share: shareWords(state.prior), odds: short(logit(state.prior))});
  $("ratio").value = Math.log10(state.fn) - Math.log10(state.fp);
  $("ratio").setAttribute("aria-valuetext", costWords(state.fn, state.fp));
  for (const [id, rule] of Object.entries(BOXES)) { $(id).hidden = state.rule !== rule; if ($(id).nextElementSibling) $(id).nextElementSibling.hidden = state.rule !== rule; }
  for (const radio of document.getElementsByName("rule")) { radio.checked = radio.value === state.rule; if (radio.value === "alarms") $("alarms-need").hidden = !(radio.disabled = !(state.day > 0) && state.rule !== "alarms"); }
  $("system").value = state.s;
  const [key, slots] = costSentence(now());
  $("folded").textContent = `${shareWords(state.prior)} · ${short(state.fn)} : ${short(state.fp)} · ${t(`line.${key.slice(2)}`, slots)}`;
}
let waiting = false;
function set(change) {
  const other = "s" in change && change.s !== state.s, kind = "curve" in change && change.curve !== state.curve;
  Object.assign(state, change);
  current = null;
  if (other) drawAll();
  if (kind) { drawCurve(); drawSwitch(); }
  toHash();
  if (waiting) return;
  waiting = true;  // many events, one drawing a frame
  requestAnimationFrame(() => { waiting = false; update(); });
}
function drawSwitch() {
  $("switch").replaceChildren(...CURVES.map(kind => {
    const button = make("button", {type: "button"}, kind === "precision-recall" ? t("precision_recall") : kind);
    button.setAttribute("aria-pressed", String(kind === state.curve));
    button.addEventListener("click", () => set({curve: kind}));
    return button;
  }));
}
function drawAll() {
  const s = SYSTEMS[state.s];
  drawVerdicts(); drawScores(s); drawSwitch(); drawCurve(); drawBayes(); drawTrust(s); drawIcons(s); drawCosts(); drawDecision();
}

// ---- wiring
function theme() {
  const dark = state.dark ?? matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.classList.toggle("dark", dark);
  $("theme").setAttribute("aria-pressed", String(dark));
}
function lineAt(s, w = state) {  // where the threshold stands, or the nearest end of the figure
  const {low, high} = s.facts.histogram, {threshold} = facts(s, w);
  return nearest(s, Number.isFinite(threshold) ? threshold : clamp(threshold, low, high));
}
const refills = [];  // put into each box what the state says, whatever was being typed
const option = (value, text) => make("option", {value}, text);
function wire() {
  $("system").append(...SYSTEMS.map((s, i) => option(i, called(s.name))));
  $("system-field").hidden = SYSTEMS.length < 2;
  $("system").addEventListener("change", e => {
    const s = Number(e.target.value), manual = lineAt(SYSTEMS[s], {...state, rule: "bayes"});
    set(state.rule === "manual" ? {s, manual} : {s});
  });
  $("points").append(option(-1, t("choose")), ...POINTS.map((a, i) => option(i, a.label)));
  $("points").addEventListener("change", e => { const a = POINTS[e.target.value]; if (a) set({prior: a.prior, fn: a.cost_fn, fp: a.cost_fp}); });
  $("prior").addEventListener("input", e => set({prior: oddsShare(Number(e.target.value))}));
  $("ratio").addEventListener("input", e => {  // the cheaper error keeps its price
    const ratio = Number((10 ** Number(e.target.value)).toPrecision(3)), least = Math.min(state.fn, state.fp);
    set(ratio >= 1 ? {fn: Number((least * ratio).toPrecision(6)), fp: least} : {fn: least, fp: Number((least / ratio).toPrecision(6))});
  });
  const box = (id, key, read, why) => refills.push(entry($(id), $(`${id}-told`), {read, why, shown: SHOWN[id], take: v => set({[key]: v}),
    keep: () => { const before = state[key]; return () => set({[key]: before}); }}));
  box("prior-box", "prior", readPrior, WHY.prior);
  for (const key of ["fn", "fp"]) box(`cost-${key}-box`, key, positive, WHY.cost);
  for (const radio of document.getElementsByName("rule")) radio.addEventListener("change", () => {
    const s = SYSTEMS[state.s];
    set(radio.value === "manual" ? {rule: "manual", manual: lineAt(s)} : {rule: radio.value});
  });
  const rate = text => within(readShare(text), v => v >= 0 && v <= 1);
  box("manual", "manual", text => text === "" ? null : within(Number(text), () => true), WHY.threshold);
  box("bound", "bound", rate, WHY.bound); box("misses", "misses", rate, WHY.bound);
  box("alarms", "alarms", notNegative, WHY.count); box("per-day", "day", notNegative, WHY.count);
  $("currency").addEventListener("input", e => set({currency: called(e.target.value).slice(0, 8)}));
  $("controls").addEventListener("submit", e => e.preventDefault());
  let was = document.documentElement.clientWidth, small = narrow();  // a notebook may give its frame a width only later, and without a resize event
  new ResizeObserver(() => {
    if (printing || document.documentElement.clientWidth === was) return;
    was = document.documentElement.clientWidth;
    if (narrow() !== small) { small = narrow(); $("fold").open = !small; }
    drawAll(); update();
  }).observe(document.documentElement);
  const paper = on => { printing = on; $("fold").open = on || !narrow(); drawAll(); update(); settle(); };
  addEventListener("beforeprint", () => paper(true));
  addEventListener("afterprint", () => paper(false));
}
function wireTools() {
  $("theme").addEventListener("click", () => { state.dark = !document.documentElement.classList.contains("dark"); theme(); toHash(); });
  $("print").addEventListener("click", () => print());
  $("copy").addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(summary()); $("announce").textContent = $("copy").textContent = t("copied"); } catch { download("tercet.txt", "text/plain", summary()); }
  });
  $("save-text").addEventListener("click", () => download("tercet.txt", "text/plain", summary()));
  $("save-json").addEventListener("click", () => download("tercet.json", "application/json", JSON.stringify(unpacked())));
  $("save-csv").addEventListener("click", () => download("tercet.csv", "text/csv", csv()));
  // The address holds the state, so links within the page scroll without touching it.
  document.addEventListener("click", e => {
    const link = e.target.closest?.('a[href^="#"]');
    if (!link) return;
    e.preventDefault();
    const entry = $(link.getAttribute("href").slice(1));
    document.querySelectorAll(".flash").forEach(node => node.classList.remove("flash"));
    if (entry.closest("dl")) entry.classList.add("flash");
    entry.tabIndex = -1;
    entry.scrollIntoView({block: entry.closest("dl") ? "center" : "start"}); entry.focus({preventScroll: true});
  });
  addEventListener("hashchange", () => { fromHash(); theme(); draw(); refills.forEach(refill => refill()); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", theme);
}
function draw() {
  for (const one of TASKS) drawTask(one);
  if (SYSTEMS.length) { drawAll(); update(); settle(); }
}
document.documentElement.classList.add("js");
$("tools").hidden = false;
fromHash(); theme(); wireTools();
if (SYSTEMS.length) {
  for (const id of ["live", "why", "comparing"]) $(id).hidden = false;
  $("fold").open = !narrow();
  wire(); drawComparison();
} else {  // several classes only
  for (const id of ["static", "save-csv"]) $(id).hidden = true;
  document.querySelectorAll(".live-only").forEach(node => { node.hidden = true; });
}
draw();
saveTables();

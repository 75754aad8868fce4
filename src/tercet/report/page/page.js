// ---- state: one object, mirrored in the address so that a link reproduces the view
const evaluated = (SYSTEMS[0]?.facts.applications ?? []).filter(a => a.cost_fn > 0 && a.cost_fp > 0);
const TASKS = DATA.systems.flatMap((s, i) => s.posteriors ? [task(s, i)] : []);  // classes.js is there with rows only
// Unless operating points were asked for, the page opens at the data's own share of targets, and says so.
const share = s => s.T / (s.T + s.F), byDefault = DATA.default_applications || !evaluated.length;
const first = byDefault && SYSTEMS.length ? {prior: share(SYSTEMS[0]), cost_fn: 1, cost_fp: 1} : evaluated[0] ?? {prior: 0.5, cost_fn: 1, cost_fp: 1};
const state = {s: 0, prior: first.prior, fn: first.cost_fn, fp: first.cost_fp, rule: "bayes", manual: 0, bound: 0.01, curve: "ROC", dark: null};
const pointWords = a => a.name ? called(a.name) : `evaluated: ${oneIn(a.prior, false)}, ${short(a.cost_fn)} : ${short(a.cost_fp)}`;
const POINTS = [...evaluated.map(a => ({...a, label: pointWords(a)})), ...DATA.points];  // operating points to choose from
const positive = v => { const n = Number(v); return n > 0 && Number.isFinite(n) ? n : null; };
const START = {...state};
function fromHash() {  // what the address does not say is as at the start
  Object.assign(state, START);
  const q = new URLSearchParams(location.hash.slice(1)), prior = Number(q.get("p"));
  if (prior > 0 && prior < 1) state.prior = prior;
  state.fn = positive(q.get("fn")) ?? state.fn;
  state.fp = positive(q.get("fp")) ?? state.fp;
  if (["bayes", "min", "manual", "fpr"].includes(q.get("r"))) state.rule = q.get("r");
  if (q.has("t") && Number.isFinite(Number(q.get("t")))) state.manual = Number(q.get("t"));
  const bound = Number(q.get("x"));
  if (q.has("x") && bound >= 0 && bound <= 1) state.bound = bound;
  if (CURVES.includes(q.get("c"))) state.curve = q.get("c");
  if (SYSTEMS[Number(q.get("s"))]) state.s = Number(q.get("s"));
  if (q.has("d")) state.dark = q.get("d") === "1";
  for (const t of TASKS) taskFromHash(t, q.get(`m${t.place}`));
}
let writing = 0;
function toHash() {  // at most a few times a second: browsers refuse more, and no frame waits for it
  clearTimeout(writing);
  if (location.protocol === "about:") return;  // inside a notebook the address is not ours
  writing = setTimeout(() => history.replaceState(null, "", address()), 150);
}
function address() {
  const q = SYSTEMS.length ? {s: state.s, p: state.prior, fn: state.fn, fp: state.fp, r: state.rule, c: state.curve} : {};
  for (const t of TASKS) if (t.edited) q[`m${t.place}`] = taskHash(t);
  if (state.rule === "manual") q.t = state.manual;
  if (state.rule === "fpr") q.x = state.bound;
  if (state.dark !== null) q.d = state.dark ? 1 : 0;
  return "#" + new URLSearchParams(q);
}

// ---- one change, one frame: everything that moves moves here
function update() {
  const s = SYSTEMS[state.s], now = facts(s, state);
  $("small").textContent = s.weighted ? "sums of weights" : "counts in the data";
  const cases = oneIn(state.prior, true), are = /^all|cases/.test(cases) ? "are targets" : "is a target";
  const opening = `If ${cases} ${are}${state.prior === share(s) ? " (as in this data)" : ""}, and ${costWords(state.fn, state.fp)}, `;
  verdicts.forEach(([p, one], i) => sentence(p, one, one !== s ? factsHere(one) : now, i ? "" : opening));
  const about = now.about ? "about " : "", certain = key => now.open?.[key]?.[0] === now.open?.[key]?.[1] && now.open?.[key];
  const told = (key, words) => show(`n-${key}`, now[key], (certain(key) ? "" : about) + words(now[key]));
  for (const key of ["min", "threshold", "best"]) show(`n-${key}`, now[key]);
  show("l-threshold", now.llr, asLlr(s, now.llr));
  show("l-best", llrOf(s, now.best), asLlr(s, llrOf(s, now.best)));
  for (const key in INTERVALS) if (key !== "min") told(key, INTERVALS[key]);
  if (now.undecided) show("n-dcf", now.dcf, `${short(now.dcf)} minimum`);
  show("n-ppv", now.ppv, now.ppv === null ? "nothing accepted" : about + percent(now.ppv));
  show("n-effective", now.effective, percent(now.effective));
  fillTable(s, now);
  $("meant").hidden = !hasIntervals(s);
  $("note").textContent = [caution(s, now), fillIntervals(s, now)].filter(words => words).join(" ");
  const rates = `misses ${percent(now.fnr)}, false alarms ${percent(now.fpr)}`;
  say(`${called(s.name)}: DCF ${short(now.dcf)}, minimum ${short(now.min)}, threshold ${thresholdWords(s, now.threshold, now.llr)}, ${rates}.`);
  moveScores(now); moveCurve(now); moveBayes(now); moveTrust(now); moveRates(now); fillComparison(false);
  fillControls();
}
const casesShown = p => 10 ** clamp(Math.ceil(2 - Math.log10(Math.min(p, 1 - p))), 5, 12);  // so that the rarer class has a hundred
function fillTable(s, now) {  // the confusion matrix: in so many cases at this prior, margins rounded first, and as counted
  const p = state.prior, counted = {hit: s.T - now.m, miss: now.m, alarm: now.f, reject: s.F - now.f};
  const N = casesShown(p), targets = apportioned(N, [p, 1 - p])[0];
  const [hit, miss] = apportioned(targets, [counted.hit, counted.miss]), [alarm, reject] = apportioned(N - targets, [counted.alarm, counted.reject]);
  for (const [key, value] of Object.entries({hit, miss, alarm, reject})) {
    show(`c-${key}`, value, group(value));
    show(`k-${key}`, counted[key] * s.weight, (s.weighted ? "weight " : "") + short(counted[key] * s.weight));
  }
  $("cases").textContent = group(N);
  $("few").textContent = s.weighted ? "Trials are weighted: small numbers are sums of weights, not counts." : fewWords(counted);
}
function fewWords({miss, alarm}) {  // the rule of 30
  const few = [[miss, "miss", "misses"], [alarm, "false alarm", "false alarms"]].map(([n, one, more]) => [Math.round(n), one, more]).filter(([n]) => n < 30);
  const told = few.map(([n, one, more]) => `${n} ${n === 1 ? one : more}`), was = few.length === 1 && few[0][0] === 1 ? "was" : "were";
  return few.length ? `Only ${told.join(" and ")} ${was} counted here: fewer than 30 errors: the rate is unreliable.` : "";
}
function caution(s, now) {  // what is not exact here, and how far it may be off
  if (now.open) return `Between two kept thresholds: certainly ${toWords(now.open.fnr, percent)} misses and ${toWords(now.open.fpr, percent)} false alarms.`;
  if (now.about) return "Beyond log-odds ±9 these numbers are approximate.";
  if (now.undecided) return "Raw scores have no Bayes threshold: the minimum cost is shown.";
  return now.rule === "fpr" && !s.complete ? `The lowest of the ${group(s.x.length)} kept thresholds within the bound; its counts are exact.` : "";
}
let speaking = 0;
function say(words) {  // once, when the hand rests
  clearTimeout(speaking);
  speaking = setTimeout(() => { $("announce").textContent = words; }, 400);
}
const SHOWN = {  // what stands in each box
  "prior-box": () => Number((100 * state.prior).toPrecision(6)), bound: () => Number((100 * state.bound).toPrecision(6)),
  "cost-fn-box": () => Number(state.fn.toPrecision(6)), "cost-fp-box": () => Number(state.fp.toPrecision(6)), manual: () => Number(state.manual.toPrecision(8)),
  points: () => POINTS.findIndex(a => a.prior === state.prior && a.cost_fn === state.fn && a.cost_fp === state.fp)};
function fillControls() {
  const put = id => { const node = $(id); if (document.activeElement !== node) node.value = SHOWN[id](); };
  Object.keys(SHOWN).forEach(put);
  $("prior").value = logit(state.prior);
  $("prior").setAttribute("aria-valuetext", oneIn(state.prior, true));
  $("prior-words").textContent = `${oneIn(state.prior, true)}; log-odds ${short(logit(state.prior))}`;
  for (const key of ["fn", "fp"]) {
    $(`cost-${key}`).value = Math.log10(state[key]);
    $(`cost-${key}`).setAttribute("aria-valuetext", short(state[key]));
  }
  $("manual").hidden = state.rule !== "manual"; $("bound").hidden = $("bound-unit").hidden = state.rule !== "fpr";
  for (const radio of document.getElementsByName("rule")) radio.checked = radio.value === state.rule;
  $("system").value = state.s;
  $("folded").textContent = `${oneIn(state.prior, true)} · miss ${short(state.fn)} : ${short(state.fp)} false alarm`;
}
let waiting = false;
function set(change) {
  const other = "s" in change && change.s !== state.s, kind = "curve" in change && change.curve !== state.curve;
  Object.assign(state, change);
  if (other) drawAll();
  if (kind) { drawCurve(); drawSwitch(); }
  toHash();
  if (waiting) return;
  waiting = true;  // many events, one drawing a frame
  requestAnimationFrame(() => { waiting = false; update(); });
}
function drawSwitch() {
  $("switch").replaceChildren(...CURVES.map(kind => {
    const button = make("button", {type: "button"}, kind);
    button.setAttribute("aria-pressed", String(kind === state.curve));
    button.addEventListener("click", () => set({curve: kind}));
    return button;
  }));
}
function drawAll() {
  const s = SYSTEMS[state.s];
  drawVerdicts(); drawScores(s); drawSwitch(); drawCurve(); drawBayes(); drawRates(s); drawTrust(s);
}

// ---- wiring
function theme() {
  const dark = state.dark ?? matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.classList.toggle("dark", dark);
  $("theme").setAttribute("aria-pressed", String(dark));
}
function lineAt(s, w = state) {  // where the threshold stands, or the nearest end of the figure
  const {low, high} = s.facts.histogram;
  const {threshold} = facts(s, w);
  return nearest(s, Number.isFinite(threshold) ? threshold : clamp(threshold, low, high));
}
const refills = [];  // put into each box what the state says, whatever was being typed
const option = (value, text) => make("option", {value}, text);
function wire() {
  $("system").append(...SYSTEMS.map((s, i) => option(i, called(s.name))));
  $("system-field").hidden = SYSTEMS.length < 2;
  $("system").addEventListener("change", e => {  // a threshold by hand was on the other system's scale
    const s = Number(e.target.value), manual = lineAt(SYSTEMS[s], {...state, rule: "bayes"});
    set(state.rule === "manual" ? {s, manual} : {s});
  });
  $("points").append(option(-1, "choose …"), ...POINTS.map((a, i) => option(i, a.label)));
  $("points").addEventListener("change", e => { const a = POINTS[e.target.value]; if (a) set({prior: a.prior, fn: a.cost_fn, fp: a.cost_fp}); });
  $("prior").addEventListener("input", e => set({prior: 1 / (1 + Math.exp(-Number(e.target.value)))}));
  const box = (id, key, read, why) => refills.push(entry($(id), $(`${id}-told`), {read, why, shown: SHOWN[id], take: v => set({[key]: v}),
    keep: () => { const before = state[key]; return () => set({[key]: before}); }}));
  box("prior-box", "prior", readPrior, WHY.prior);
  for (const key of ["fn", "fp"]) {
    $(`cost-${key}`).addEventListener("input", e => set({[key]: Number((10 ** Number(e.target.value)).toPrecision(3))}));
    box(`cost-${key}-box`, key, positive, WHY.cost);
  }
  for (const radio of document.getElementsByName("rule")) radio.addEventListener("change", () => {
    const s = SYSTEMS[state.s];
    set(radio.value === "manual" ? {rule: "manual", manual: lineAt(s)} : {rule: radio.value});
  });
  box("manual", "manual", text => text === "" ? null : within(Number(text), () => true), WHY.threshold);
  box("bound", "bound", text => within(readShare(text), v => v >= 0 && v <= 1), WHY.bound);
  $("controls").addEventListener("submit", e => e.preventDefault());
  for (const figure of document.querySelectorAll(".figures figure")) {
    if (figure.id === "f-table") continue;
    const button = labelled(make("button", {type: "button", className: "get"}, "SVG"), "save this figure as SVG");
    button.addEventListener("click", () => download(`${figure.id.slice(2)}.svg`, "image/svg+xml", standalone(figure)));
    figure.append(button);
  }
  let was = narrow();  // a notebook may give its frame a width only later, and without a resize event
  new ResizeObserver(() => { if (narrow() !== was) { was = narrow(); $("fold").open = !was; drawAll(); update(); } }).observe(document.documentElement);
}
function wireTools() {
  $("theme").addEventListener("click", () => { state.dark = !document.documentElement.classList.contains("dark"); theme(); toHash(); });
  $("print").addEventListener("click", () => print());
  $("save-json").addEventListener("click", () => download("tercet.json", "application/json", JSON.stringify(unpacked())));
  $("save-csv").addEventListener("click", () => download("tercet.csv", "text/csv", csv()));
  // The address holds the state, so links within the page scroll without touching it.
  document.addEventListener("click", e => {
    const link = e.target.closest?.('a[href^="#"]');
    if (!link) return;
    e.preventDefault();
    const entry = $(link.getAttribute("href").slice(1));
    document.querySelectorAll(".flash").forEach(node => node.classList.remove("flash"));
    entry.classList.add("flash"); entry.tabIndex = -1;
    entry.scrollIntoView({block: "center"}); entry.focus({preventScroll: true});
  });
  addEventListener("hashchange", () => { fromHash(); theme(); draw(); refills.forEach(refill => refill()); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", theme);
}
function draw() {
  for (const t of TASKS) drawTask(t);
  if (SYSTEMS.length) { drawAll(); update(); }
}
document.documentElement.classList.add("js");
$("tools").hidden = false;
fromHash(); theme(); wireTools();
if (SYSTEMS.length) {
  $("live").hidden = false;
  $("fold").open = !narrow();
  wire(); drawIntervals(); drawComparison();
} else $("static").hidden = $("save-csv").hidden = true;  // several classes only
draw();

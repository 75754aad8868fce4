"use strict";
(() => {
const $ = id => document.getElementById(id);
const DATA = JSON.parse($("data").textContent);
const NS = "http://www.w3.org/2000/svg";
const REACH = 9;  // log-odds up to which costs between kept points are promised

// ---- numbers as words. Three digits are shown; the exact number is in the element's title and data-value.
const group = n => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
function short(x) {
  if (x === null || Number.isNaN(x)) return "undefined";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const a = Math.abs(x);
  let text = a >= 999.5 ? (a < 1e7 ? group(Math.round(a)) : a.toExponential(2)) :
    a < 1e-4 ? a.toExponential(2) : a < 1 ? a.toFixed(2 - Math.floor(Math.log10(a))) : a.toPrecision(3);
  if (a < 999.5 && String(a).length <= text.length) text = String(a);  // 10 and 0.5, not 10.0 and 0.500
  return (x < 0 ? "−" : "") + text;
}
const percent = x => x === null ? "undefined" : `${short(100 * x)} %`;
function oneIn(p, noun) {
  const cases = n => noun ? (n === 1 ? " case" : " cases") : "";
  if (p > 0.5) {
    const rest = 1 / (1 - p);
    if (p > 0.99) return `all but 1${cases(1)} in ${group(Math.round(rest))}`;
    return `${short(100 * p)}${cases(2)} in 100`;
  }
  const n = 1 / p, whole = Math.round(n);
  return `${Math.abs(n - whole) < 1e-6 * n ? "" : "about "}1${cases(1)} in ${group(n < 9.5 && Math.abs(n - whole) > 0.05 ? n.toFixed(1) : whole)}`;
}
function costWords(fn, fp) {
  if (fn === fp) return "a miss and a false alarm cost the same";
  return fn > fp ? `a miss costs ${short(fn / fp)} times a false alarm` : `a false alarm costs ${short(fp / fn)} times a miss`;
}

// ---- systems. Counts are exact at the kept thresholds; between them a line, as the package's thin.py promises.
const real = v => v === "inf" ? Infinity : v === "-inf" ? -Infinity : v;
function doubles(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Float64Array(bytes.buffer);
}
function running(steps) {
  const out = new Float64Array(steps.length);
  let sum = 0;
  for (let i = 0; i < steps.length; i++) out[i] = sum += steps[i];
  return out;
}
function system(facts, place) {
  const c = facts.curve, thresholds = doubles(c.thresholds), llrs = c.llrs ? doubles(c.llrs) : thresholds;
  return {
    facts, place, name: facts.name, raw: facts.meaning === "raw", T: c.targets, F: c.nontargets, complete: c.complete,
    weight: 2 ** c.unit, thresholds, x: llrs, m: running(c.misses), f: running(c.false_alarms),
    hull: {thresholds: doubles(c.hull.thresholds), m: running(c.hull.misses), f: running(c.hull.false_alarms)},
  };
}
const SYSTEMS = DATA.systems.filter(s => s.curve).map(system);

function placeOf(x, t) {  // the last place whose x is <= t
  let low = 0, high = x.length;
  while (low < high) { const mid = (low + high) >> 1; if (x[mid] <= t) low = mid + 1; else high = mid; }
  return Math.max(low - 1, 0);
}
function read(counts, s, i, t) {
  const here = counts[i];
  if (s.complete || i + 1 >= counts.length) return here;
  const step = counts[i + 1] - here, left = s.x[i], right = s.x[i + 1];
  if (Math.abs(step) <= 1 || !Number.isFinite(left) || !Number.isFinite(right)) return here;
  return here + step * ((t - left) / (right - left));
}
function errorsAt(s, t) {
  const i = placeOf(s.x, t);
  return {m: read(s.m, s, i, t), f: read(s.f, s, i, t)};
}
function dcf(tau, fnr, fpr) {  // a rate of zero adds nothing, whatever its factor
  const [cheap, dear] = tau <= 0 ? [fnr, fpr] : [fpr, fnr];
  return cheap + (dear === 0 ? 0 : Math.exp(Math.abs(tau)) * dear);
}
const logit = p => Math.log(p) - Math.log1p(-p);
const tauOf = w => logit(w.prior) + (Math.log(w.fn) - Math.log(w.fp));
function least(s, tau) {
  const h = s.hull;
  let best = Infinity, at = 0;
  for (let i = 0; i < h.m.length; i++) {
    const cost = dcf(tau, h.m[i] / s.T, h.f[i] / s.F);
    if (cost < best) { best = cost; at = i; }
  }
  return {dcf: best, threshold: at === 0 ? -Infinity : h.thresholds[at], m: h.m[at], f: h.f[at]};
}
function scoreOf(s, llr) {  // where an llr lies on the scores' own scale, to draw it there
  if (s.x === s.thresholds || !Number.isFinite(llr)) return llr;
  const i = placeOf(s.x, llr), j = Math.min(i + 1, s.x.length - 1);
  const part = (llr - s.x[i]) / (s.x[j] - s.x[i]);
  return Number.isFinite(part) ? s.thresholds[i] + (s.thresholds[j] - s.thresholds[i]) * part : s.thresholds[Number.isFinite(s.x[i]) ? i : j];
}
function llrOf(s, score) {
  if (s.x === s.thresholds) return score;
  const i = placeOf(s.thresholds, score), j = Math.min(i + 1, s.x.length - 1);
  const part = (score - s.thresholds[i]) / (s.thresholds[j] - s.thresholds[i]);
  return Number.isFinite(part) && Number.isFinite(s.x[i]) && Number.isFinite(s.x[j]) ? s.x[i] + (s.x[j] - s.x[i]) * part : s.x[Number.isFinite(s.x[i]) ? i : j];
}
function nearest(s, t) {  // a kept threshold, where counts are exact; every threshold is, if all scores are kept
  if (s.complete) return t;
  const i = placeOf(s.x, t), j = Math.min(i + 1, s.x.length - 1);
  return Number.isFinite(s.x[i]) && t - s.x[i] <= s.x[j] - t || !Number.isFinite(s.x[j]) ? s.x[i] : s.x[j];
}

// Everything that is shown of one system at one working point. Evaluated applications give the package's own numbers.
function facts(s, w) {
  const tau = tauOf(w), best = least(s, tau);
  const known = s.facts.applications.find(a => a.prior === w.prior && a.cost_fn === w.fn && a.cost_fp === w.fp);
  let rule = s.raw && w.rule === "bayes" ? "min" : w.rule, threshold, m, f;
  if (rule === "bayes") {
    threshold = known ? real(known.threshold) : 0 - tau;
    if (known && known.confusion) { m = known.confusion[0][1] / s.weight; f = known.confusion[1][0] / s.weight; }
    else ({m, f} = errorsAt(s, threshold));
  } else if (rule === "min") {
    ({m, f, threshold} = best);
  } else if (rule === "manual") {
    threshold = nearest(s, w.manual);
    ({m, f} = errorsAt(s, threshold));
  } else {
    const allowed = w.bound * s.F;
    let low = 0, high = s.f.length - 1;
    while (low < high) { const mid = (low + high) >> 1; if (s.f[mid] <= allowed) high = mid; else low = mid + 1; }
    threshold = s.thresholds[low]; m = s.m[low]; f = s.f[low];
  }
  const onScale = rule === "min" || rule === "fpr";  // these thresholds are scores, the others llrs
  const fnr = m / s.T, fpr = f / s.F;
  const miss = w.prior * w.fn, alarm = (1 - w.prior) * w.fp;
  const cost = known && rule === "bayes" ? known.dcf : dcf(tau, fnr, fpr);
  const lowest = known && known.min_dcf !== null ? known.min_dcf : best.dcf;
  const hits = w.prior * ((s.T - m) / s.T), wrong = (1 - w.prior) * fpr;
  const top = Math.max(w.fn, w.fp), a = w.prior * (w.fn / top), b = (1 - w.prior) * (w.fp / top);
  return {
    rule, tau, threshold, score: onScale ? threshold : scoreOf(s, threshold), m, f, fnr, fpr, dcf: cost, min: lowest,
    best: known ? real(known.min_threshold) : best.threshold, loss: Math.max(cost - lowest, 0),
    dcfu: known && rule === "bayes" ? known.dcf_u : miss * fnr + alarm * fpr,
    effective: known ? known.effective_prior : a / (a + b), ppv: hits + wrong > 0 ? hits / (hits + wrong) : null,
  };
}

// ---- state: one object, mirrored in the address so that a link reproduces the view
const first = (SYSTEMS[0] && SYSTEMS[0].facts.applications.find(a => a.cost_fn > 0 && a.cost_fp > 0)) || {prior: 0.5, cost_fn: 1, cost_fp: 1};
const state = {s: 0, prior: first.prior, fn: first.cost_fn, fp: first.cost_fp, rule: "bayes", manual: 0, bound: 0.01, curve: "ROC", dark: null};
const positive = v => { const n = Number(v); return n > 0 && Number.isFinite(n) ? n : null; };
function fromHash() {
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
}
let writing = 0;
function toHash() {  // at most a few times a second: browsers refuse more, and no frame waits for it
  clearTimeout(writing);
  writing = setTimeout(() => history.replaceState(null, "", address()), 150);
}
function address() {
  const q = {s: state.s, p: state.prior, fn: state.fn, fp: state.fp, r: state.rule, c: state.curve};
  if (state.rule === "manual") q.t = state.manual;
  if (state.rule === "fpr") q.x = state.bound;
  if (state.dark !== null) q.d = state.dark ? 1 : 0;
  return "#" + new URLSearchParams(q);
}

// ---- a small chart: a frame with two scales and axes in words
function el(name, attributes, parent, text) {
  const node = document.createElementNS(NS, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}
function chart(figure, width, height, box) {
  const [left, top, right, bottom] = box;
  figure.querySelector("svg")?.remove();
  const svg = el("svg", {viewBox: `0 0 ${width} ${height}`, role: "group"});
  svg.setAttribute("aria-label", figure.querySelector("h2").textContent);
  figure.append(svg);
  const to = (low, high, a, b) => v => a + (b - a) * ((v - low) / (high - low));
  return {svg, left, top, right: width - right, bottom: height - bottom,
    scaleX(low, high) { this.X = to(low, high, left, width - right); this.Xi = to(left, width - right, low, high); },
    scaleY(low, high) { this.Y = to(low, high, height - bottom, top); },
    ticksX(ticks, words) {
      el("path", {class: "axis", d: `M${left} ${height - bottom}H${width - right}`}, svg);
      for (const [v, label, under] of ticks) {
        const x = this.X(v);
        el("path", {class: "axis", d: `M${x} ${height - bottom}v4`}, svg);
        el("text", {class: "soft mid", x, y: height - bottom + 17}, svg, label);
        if (under) el("text", {class: "soft mid", x, y: height - bottom + 31}, svg, under);
      }
      el("text", {class: "soft end", x: width - right, y: height - 3}, svg, words);
    },
    ticksY(ticks, words) {
      for (const [v, label] of ticks) {
        el("path", {class: "grid", d: `M${left} ${this.Y(v)}H${width - right}`}, svg);
        el("text", {class: "soft end", x: left - 6, y: this.Y(v) + 4}, svg, label);
      }
      el("text", {class: "soft", x: 0, y: top - 8}, svg, words);
    },
    path(points, cls) {
      let d = "";
      for (const [x, y] of points) d += `${d ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
      return el("path", {class: cls, d}, svg);
    }};
}
function nice(low, high, count) {
  const raw = (high - low) / count, unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(k => k * unit).find(k => k >= raw), ticks = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) ticks.push([v, String(Number(v.toPrecision(6))).replace("-", "−")]);
  return ticks;
}
const clamp = (v, low, high) => Math.min(Math.max(v, low), high);
const narrow = () => innerWidth <= 820;

// ---- scores by class, with the threshold to drag
const scores = {};
function drawScores(s) {
  const h = s.facts.histogram, c = chart($("f-scores"), narrow() ? 420 : 640, 300, [8, 34, 8, 42]);
  Object.assign(scores, {c, s});
  if (!h.targets.bins.length) return void (scores.c = null);
  const pad = (h.high - h.low || 1) * 0.02;
  c.scaleX(h.low - pad, h.high + pad);
  const bins = h.targets.bins.length, at = i => h.low + (h.high - h.low) * i / bins;
  // Neighbouring bins are added up where trials are few, so that the eye sees the shape and not the noise.
  const join = Math.max(1, Math.ceil(bins / clamp(3 * Math.cbrt(Math.min(s.T, s.F) * s.weight), 10, 100)));
  const groups = ["nontargets", "targets"].map(side => {
    const out = [];
    for (let i = 0; i < bins; i += join) {
      const part = h[side].bins.slice(i, i + join);
      out.push([at(i), at(Math.min(i + join, bins)), part.reduce((a, b) => a + b, 0) / part.length]);
    }
    const total = (side === "targets" ? s.T : s.F) * s.weight;
    return out.map(([a, b, n]) => [a, b, n / total]);
  });
  c.scaleY(0, Math.max(...groups.flat().map(g => g[2])) * 1.05 || 1);
  c.ticksX(nice(h.low, h.high, narrow() ? 5 : 8), s.raw ? "score" : {llr: "score: log-likelihood ratio, evidence for a target →"}[s.facts.meaning] ?? `score: ${s.facts.meaning}`);
  const labels = [];
  groups.forEach((g, k) => {
    const cls = k ? "target" : "non", points = g.flatMap(([a, b, v]) => [[c.X(a), c.Y(v)], [c.X(b), c.Y(v)]]);
    const closed = [[points[0][0], c.bottom], ...points, [points[points.length - 1][0], c.bottom]];
    c.path(closed, `area ${cls}`);
    c.path(closed, `outline ${cls}`);
    const peak = g.reduce((a, b) => b[2] > a[2] ? b : a);
    const total = (k ? s.T : s.F) * s.weight;
    labels.push([clamp(c.X((peak[0] + peak[1]) / 2), 70, c.right - 70), Math.max(c.Y(peak[2]) - 7, c.top + 8), `${short(total)} ${k ? "targets" : "non-targets"}`]);
  });
  const beyond = (k, side) => h.targets[k] + h.nontargets[k] > 0 ? el("text", {class: `soft halo ${side}`, x: side === "end" ? c.right : c.left, y: c.bottom - 22}, c.svg, `${short(h.targets[k] + h.nontargets[k])} beyond`) : 0;
  beyond("below", ""); beyond("above", "end");
  const g = el("g", {class: "handle", tabindex: 0, role: "slider", "aria-label": "threshold", "aria-orientation": "horizontal",
    "aria-valuemin": h.low, "aria-valuemax": h.high}, c.svg);
  el("rect", {class: "hit", x: -14, y: 14, width: 28, height: c.bottom - 14}, g);
  el("path", {class: "here", d: `M0 20V${c.bottom}`}, g);
  el("path", {class: "grip", d: `M-7 ${c.bottom - 8}L0 ${c.bottom}L7 ${c.bottom - 8}Z`}, g);
  el("circle", {class: "grip", cx: 0, cy: 20, r: 5}, g);
  scores.label = el("text", {class: "halo", y: 12}, g);
  scores.handle = g;
  for (const [x, y, words] of labels) el("text", {class: "halo mid still", x, y}, c.svg, words);
  const move = x => { set({rule: "manual", manual: nearest(s, llrOf(s, clamp(c.Xi(x), h.low, h.high)))}); };
  const local = e => (e.clientX - c.svg.getBoundingClientRect().left) * c.svg.viewBox.baseVal.width / c.svg.getBoundingClientRect().width;
  g.addEventListener("pointerdown", e => { g.setPointerCapture(e.pointerId); g.focus(); e.preventDefault(); scores.held = true; });
  g.addEventListener("pointermove", e => { if (scores.held) move(local(e)); });
  for (const end of ["pointerup", "pointercancel"]) g.addEventListener(end, () => { scores.held = false; });
  g.addEventListener("keydown", e => {
    const step = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10}[e.key];
    if (!step) return;
    e.preventDefault();
    move(clamp(scores.x, c.left, c.right) + step * (c.right - c.left) / 200);
  });
}
function moveScores(now) {
  const c = scores.c;
  if (!c) return;
  scores.x = clamp(c.X(now.score), c.left, c.right);
  scores.handle.setAttribute("transform", `translate(${scores.x.toFixed(2)} 0)`);
  scores.handle.setAttribute("aria-valuenow", Number.isFinite(now.threshold) ? now.threshold : Math.sign(now.threshold) * 1e308);
  scores.handle.setAttribute("aria-valuetext", short(now.threshold));
  const right = scores.x < c.right - 150;
  scores.label.setAttribute("x", right ? 10 : -10);
  scores.label.setAttribute("class", right ? "halo" : "halo end");
  scores.label.textContent = right ? `accept above ${short(now.threshold)} →` : `accept above ${short(now.threshold)}`;
}

// ---- both error rates along the threshold, on the scale of the figure above
const rates = {};
function drawRates(s) {
  const h = s.facts.histogram, c = chart($("f-rates"), narrow() ? 420 : 640, 330, [40, 26, 8, 40]);
  Object.assign(rates, {c, s});
  const pad = (h.high - h.low || 1) * 0.02;
  c.scaleX(h.low - pad, h.high + pad); c.scaleY(0, 1);
  c.ticksY([[0, "0"], [0.25, "25 %"], [0.5, "50 %"], [0.75, "75 %"], [1, "100 %"]], "errors of the class");
  c.ticksX(nice(h.low, h.high, narrow() ? 5 : 8), "threshold");
  for (const [key, total, cls, words] of [["m", s.T, "target", "misses"], ["f", s.F, "non", "false alarms"]]) {
    const points = [], high = key === "m" ? c.right : c.left;
    let px = NaN, py = NaN;
    for (let i = 0; i < s.m.length; i++) {
      const x = c.X(clamp(s.thresholds[i], h.low - pad, h.high + pad)), y = c.Y(s[key][i] / total);
      if (i && i + 1 < s.m.length && Math.abs(x - px) + Math.abs(y - py) < 0.8) continue;
      if (points.length) points.push([x, py]);
      points.push([x, y]);
      [px, py] = [x, y];
    }
    c.path(points, `outline ${cls}`);
    el("text", {class: key === "m" ? "halo end" : "halo", x: key === "m" ? high - 4 : high + 8, y: c.top + 16}, c.svg, words);
  }
  let cross = 0;
  while (s.m[cross] / s.T < s.f[cross] / s.F) cross++;
  const x = clamp(c.X(s.thresholds[cross]), 60, c.right - 60);
  el("text", {class: "soft halo mid", x, y: c.Y(s.facts.eer.value) - 14}, c.svg, `equal at ${percent(s.facts.eer.value)} (EER)`);
  rates.line = el("path", {class: "here"}, c.svg);
}
function moveRates(now) {
  const c = rates.c;
  rates.line.setAttribute("d", `M${clamp(c.X(now.score), c.left, c.right).toFixed(2)} ${c.top}V${c.bottom}`);
}

// ---- ROC, DET and precision-recall
const CURVES = ["ROC", "DET", "precision-recall"];
function probit(p) {  // Acklam's rational approximation, 1e-9 relative: for places on a screen
  const a = [-39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716, 2.506628277459239];
  const b = [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572];
  const k = [-0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968, 2.938163982698783];
  const d = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416];
  if (p > 0.5) return -probit(1 - p);
  if (p < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(p));
    return (((((k[0] * q + k[1]) * q + k[2]) * q + k[3]) * q + k[4]) * q + k[5]) / ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  }
  const q = p - 0.5, r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q / (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}
const curve = {};
function placer(kind, c, prior) {  // where a pair of error rates lies in the figure; null where it has no place
  if (kind === "ROC") return (fnr, fpr) => [c.X(fpr), c.Y(1 - fnr)];
  if (kind === "DET") {
    const at = p => p <= 0 ? curve.low : p >= 1 ? curve.high : clamp(probit(p), curve.low, curve.high);
    return (fnr, fpr) => [c.X(at(fpr)), c.Y(at(fnr))];
  }
  return (fnr, fpr) => {
    const hits = prior * (1 - fnr), accepted = hits + (1 - prior) * fpr;
    return accepted > 0 ? [c.X(1 - fnr), c.Y(hits / accepted)] : null;
  };
}
function thinPath(s, place) {  // one point a pixel or so is all a screen shows
  const points = [];
  let px = NaN, py = NaN;
  for (let i = s.m.length - 1; i >= 0; i--) {
    const at = place(s.m[i] / s.T, s.f[i] / s.F);
    if (!at) continue;
    if (Math.abs(at[0] - px) + Math.abs(at[1] - py) < 0.8 && i) continue;
    points.push(at);
    [px, py] = at;
  }
  return points;
}
function drawCurve() {
  const kind = state.curve, c = chart($("f-curve"), 420, 330, [kind === "DET" ? 46 : 40, 26, 10, 40]);
  const whole = [[0, "0"], [0.25, "25 %"], [0.5, "50 %"], [0.75, "75 %"], [1, "100 %"]];
  if (kind === "DET") {
    const most = Math.max(...SYSTEMS.map(s => Math.max(s.T, s.F)));
    curve.low = Math.max(probit(0.5 / most), -4.6); curve.high = probit(0.8);
    c.scaleX(curve.low, curve.high); c.scaleY(curve.low, curve.high);
    const ticks = [1e-5, 1e-4, 0.001, 0.01, 0.05, 0.2, 0.5].filter(p => probit(p) > curve.low + 0.15).map(p => [probit(p), `${100 * p} %`]);
    c.ticksY(ticks, "misses"); c.ticksX(ticks.length > 6 ? ticks.filter(([, l], i) => i % 2 === 0) : ticks, "false alarms");
  } else {
    c.scaleX(0, 1); c.scaleY(0, 1);
    c.ticksY(whole, kind === "ROC" ? "targets found" : "right when accepting");
    c.ticksX(whole, kind === "ROC" ? "false alarms" : "targets found");
  }
  curve.c = c;
  curve.lines = SYSTEMS.map(s => el("path", {}, c.svg));
  curve.ref = el("path", {class: "blind dot"}, c.svg);
  curve.word = el("text", {class: "soft halo"}, c.svg);
  curve.spot = el("circle", {class: "spot", r: 5}, c.svg);
  curve.prior = null;
}
function moveCurve(now) {
  const c = curve.c, kind = state.curve, s = SYSTEMS[state.s], place = placer(kind, c, state.prior);
  const key = kind === "precision-recall" ? `${state.s} ${state.prior}` : `${state.s}`;
  if (curve.prior !== key) {  // only precision moves with the prior
    curve.prior = key;
    SYSTEMS.forEach((one, i) => {
      if (kind === "precision-recall" && i !== state.s && SYSTEMS.length > 6) return;
      const points = thinPath(one, place);
      curve.lines[i].setAttribute("d", points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join(""));
      curve.lines[i].setAttribute("class", `curve c${i % 6}${i === state.s ? "" : " thin"}`);
    });
    const y = kind === "precision-recall" ? c.Y(state.prior) : 0;
    curve.ref.setAttribute("d", kind === "precision-recall" ? `M${c.left} ${y}H${c.right}` : kind === "ROC" ? `M${c.left} ${c.bottom}L${c.right} ${c.top}` : `M${c.left} ${c.bottom}L${c.right} ${c.top}`);
    curve.word.setAttribute("x", kind === "DET" ? c.right - 6 : c.right - 4);
    curve.word.setAttribute("class", "soft halo end");
    curve.word.setAttribute("y", kind === "precision-recall" ? clamp(y - 6, c.top + 12, c.bottom - 4) : kind === "ROC" ? c.Y(0.5) : c.top + 26);
    curve.word.textContent = kind === "precision-recall" ? "accepting blindly" : kind === "ROC" ? "deciding by chance" : "both equal: EER";
  }
  const at = place(now.fnr, now.fpr);
  curve.spot.setAttribute("visibility", at ? "visible" : "hidden");
  if (at) { curve.spot.setAttribute("cx", at[0].toFixed(2)); curve.spot.setAttribute("cy", at[1].toFixed(2)); }
}

// ---- cost at every prior
const bayes = {};
function costs(s, from, to, count) {
  if (s.grid && s.grid.from === from) return s.grid;
  const actual = [], minimum = [];
  for (let i = 0; i <= count; i++) {
    const tau = from + (to - from) * i / count;
    if (!s.raw) { const {m, f} = errorsAt(s, 0 - tau); actual.push([tau, dcf(tau, m / s.T, f / s.F)]); }
    minimum.push([tau, least(s, tau).dcf]);
  }
  return s.grid = {from, actual, minimum};
}
function drawBayes() {
  const c = chart($("f-bayes"), narrow() ? 420 : 640, 300, [34, 26, narrow() ? 12 : 96, 56]), reach = 7;
  bayes.c = c;
  c.scaleX(-reach, reach); c.scaleY(0, 1.2);
  c.ticksY([[0, "0"], [0.5, "0.5"], [1, "1"]], "cost; 1 is what deciding blindly costs");
  const marks = [[0.001, "1 in 1,000"], [0.01, "1 in 100"], [0.1, "1 in 10"], [0.5, "1 in 2"], [0.9, "9 in 10"], [0.99, "99 in 100"], [0.999, "999 in 1,000"]];
  c.ticksX(marks.filter((_, i) => !narrow() || i % 2).map(([p, words]) => [logit(p), short(Number(logit(p).toFixed(1))), words]), "effective prior: log-odds, and how many cases are targets");
  const top = v => c.Y(Math.min(v, 1.2));
  SYSTEMS.forEach((s, i) => {
    if (SYSTEMS.length > 6 && i !== state.s) return;
    const g = costs(s, -reach, reach, 280), thin = i === state.s ? "" : " thin";
    if (g.actual.length) c.path(g.actual.map(([t, v]) => [c.X(t), top(v)]), `curve c${i % 6}${thin}`);
    c.path(g.minimum.map(([t, v]) => [c.X(t), top(v)]), `curve dash c${i % 6}${thin}`);
  });
  c.path([[c.left, c.Y(1)], [c.right, c.Y(1)]], "blind dot");
  el("text", {class: "soft halo mid still", x: c.X(0), y: c.Y(1) - 6}, c.svg, "above this line it does harm");
  if (!narrow()) drawEnds(c, reach);
  bayes.line = el("path", {class: "here"}, c.svg);
  bayes.spot = el("circle", {class: "spot", r: 5}, c.svg);
  bayes.low = el("circle", {class: "spot", r: 3}, c.svg);
  if (!narrow()) {
    bayes.word = el("text", {class: "halo"}, c.svg);
    bayes.best = el("text", {class: "soft halo"}, c.svg);
  }
  const press = el("rect", {class: "press", x: c.left, y: c.top, width: c.right - c.left, height: c.bottom - c.top}, c.svg);
  const go = e => {
    const box = c.svg.getBoundingClientRect(), tau = clamp(c.Xi((e.clientX - box.left) * c.svg.viewBox.baseVal.width / box.width), -reach, reach);
    const odds = tau - (Math.log(state.fn) - Math.log(state.fp));
    set({prior: clamp(1 / (1 + Math.exp(-odds)), 1e-6, 1 - 1e-6)});
  };
  press.addEventListener("pointerdown", e => { press.setPointerCapture(e.pointerId); bayes.held = true; go(e); });
  press.addEventListener("pointermove", e => { if (bayes.held) go(e); });
  for (const end of ["pointerup", "pointercancel"]) press.addEventListener(end, () => { bayes.held = false; });
}
function drawEnds(c, reach) {  // names at the curves' ends instead of a legend, pushed apart where they would touch
  const ends = SYSTEMS.filter((s, i) => SYSTEMS.length <= 6 || i === state.s).map(s => ({s, y: c.Y(Math.min(costs(s, -reach, reach, 280).minimum.at(-1)[1], 1.2))})).sort((a, b) => a.y - b.y);
  let last = c.top - 20;
  for (const {s, y} of ends) {
    last = Math.max(y, last + 15);
    el("path", {class: `curve c${s.place % 6}`, d: `M${c.right + 6} ${last}h10`}, c.svg);
    const name = s.name ?? "this system";
    el("text", {x: c.right + 20, y: last + 4}, c.svg, name.length > 12 ? `${name.slice(0, 11)}…` : name);
  }
}
function moveBayes(now) {
  const c = bayes.c, x = clamp(c.X(now.tau), c.left, c.right), y = c.Y(Math.min(now.dcf, 1.2)), low = c.Y(Math.min(now.min, 1.2));
  bayes.line.setAttribute("d", `M${x.toFixed(2)} ${c.top}V${c.bottom}`);
  for (const [spot, at] of [[bayes.spot, y], [bayes.low, low]]) { spot.setAttribute("cx", x.toFixed(2)); spot.setAttribute("cy", at.toFixed(2)); }
  if (!bayes.word) return;
  const apart = Math.abs(y - low) < 15 ? (15 - Math.abs(y - low)) / 2 : 0;
  bayes.word.setAttribute("x", x + 10); bayes.word.setAttribute("y", y + 4 - apart);
  bayes.best.setAttribute("x", x + 10); bayes.best.setAttribute("y", low + 4 + apart);
  bayes.word.textContent = `${short(now.dcf)} as used`;
  bayes.best.textContent = `${short(now.min)} at best`;
}

// ---- reliability: what scores say against what they are worth (isotonic: the hull's segments)
const trust = {};
function drawTrust(s) {
  const c = chart($("f-reliability"), 420, 330, [40, 26, 12, 40]);
  Object.assign(trust, {c, s, llrs: []});
  const whole = [[0, "0"], [0.25, "25 %"], [0.5, "50 %"], [0.75, "75 %"], [1, "100 %"]];
  c.scaleX(0, 1); c.scaleY(0, 1);
  c.ticksY(whole, "how often it was a target"); c.ticksX(whole, "stated chance of a target");
  c.path([[c.left, c.bottom], [c.right, c.top]], "blind dot");
  trust.line = el("path", {class: `curve c${s.place % 6}`}, c.svg);
  trust.here = el("path", {class: "here dot"}, c.svg);
  if (s.raw) el("text", {class: "soft", x: c.left + 10, y: c.top + 18}, c.svg, "raw scores state no chance: calibrate them first");
  const h = s.hull;
  for (let i = 0; i + 1 < h.m.length; i++) {
    const t = (h.m[i + 1] - h.m[i]) / s.T, n = (h.f[i] - h.f[i + 1]) / s.F;
    trust.llrs.push([i ? llrOf(s, h.thresholds[i]) : -Infinity, llrOf(s, h.thresholds[i + 1]), Math.log(t / n)]);
  }
}
function moveTrust(now) {
  const {c, s} = trust;
  if (s.raw) return;
  const odds = logit(state.prior), p = v => 1 / (1 + Math.exp(-(v + odds)));
  let d = "";
  for (const [from, to, worth] of trust.llrs) {
    const y = c.Y(p(worth)).toFixed(1);
    d += `${d ? "L" : "M"}${c.X(p(from)).toFixed(1)} ${y}L${c.X(p(to)).toFixed(1)} ${y}`;
  }
  trust.line.setAttribute("d", d);
  const x = c.X(p(now.rule === "bayes" || now.rule === "manual" ? now.threshold : llrOf(s, now.threshold)));
  trust.here.setAttribute("d", Number.isFinite(x) ? `M${x.toFixed(1)} ${c.top}V${c.bottom}` : "");
}

// ---- words and tables
function show(id, value, text) {
  const node = $(id);
  node.textContent = text ?? short(value);
  node.title = node.dataset.value = String(value);
}
function sentence(node, s, now, opening) {
  const bold = text => { const b = document.createElement("b"); b.textContent = text; return b; };
  node.replaceChildren(opening, bold(s.name ?? "this system"));
  const how = {bayes: "", min: " at its best threshold", manual: " at your threshold", fpr: ` with at most ${percent(state.bound)} false alarms`}[now.rule];
  if (now.dcf > 1) node.append(`${how} costs `, bold(short(now.dcf)), " of deciding blindly: it does harm here. ");
  else if (now.dcf === 1) node.append(`${how} costs just what deciding blindly would cost. `);
  else node.append(`${how} costs `, bold(short(now.dcf)), " of what deciding blindly would cost. ");
  if (now.rule === "min") return;
  node.append("The best threshold: ", bold(short(now.min)), ". ");
  const part = now.dcf > 0 ? now.loss / now.dcf : 0;
  if (now.rule === "bayes") node.append(part < 0.005 ? "Next to nothing is lost to calibration." : `${Math.round(100 * part)} % of its cost comes from poor calibration.`);
}
const verdicts = [];
function drawVerdicts() {
  const box = $("verdict");
  box.replaceChildren();
  verdicts.length = 0;
  const shown = SYSTEMS.filter((s, i) => i === state.s || SYSTEMS.length <= 4).sort((a, b) => (b.place === state.s) - (a.place === state.s));
  shown.forEach((s, i) => {
    const p = document.createElement("p");
    if (i) p.className = "more";
    box.append(p);
    verdicts.push([p, s]);
  });
}
const COLUMNS = [["system", r => r.name, t => t], ["cost here", r => r.now.dcf, short], ["at best", r => r.now.min, short], ["lost", r => r.now.loss, short],
  ["misses", r => r.now.fnr, percent], ["false alarms", r => r.now.fpr, percent], ["EER", r => r.s.facts.eer.value, percent], ["AUC", r => r.s.facts.auc, short],
  ["Cllr, bits", r => r.s.facts.cllr === null ? null : real(r.s.facts.cllr), short], ["min Cllr", r => r.s.facts.min_cllr, short]];
const sorting = {by: null, down: false};
function drawComparison() {
  const table = document.createElement("table"), head = table.createTHead().insertRow();
  COLUMNS.forEach(([title], k) => {
    const th = document.createElement("th"), button = document.createElement("button");
    th.scope = "col"; button.type = "button"; button.textContent = title;
    button.addEventListener("click", () => { sorting.down = sorting.by === k && !sorting.down; sorting.by = k; fillComparison(true); });
    th.append(button); head.append(th);
  });
  sorting.body = table.createTBody(); sorting.head = head;
  const box = document.createElement("div");
  box.className = "wide";
  box.append(table);
  $("compare").replaceChildren($("compare").querySelector("h2"), box);
  sorting.rows = SYSTEMS.map(s => {
    const row = sorting.body.insertRow(), cells = COLUMNS.map((_, k) => {
      const cell = k ? row.insertCell() : document.createElement("th");
      if (!k) { cell.scope = "row"; row.append(cell); const key = document.createElement("span"); key.className = `key k${s.place % 6}`; cell.append(key, s.name ?? "this system"); }
      return cell;
    });
    // The cost as a bar: as used (light), at best (dark); the frame's width is deciding blindly.
    const number = document.createElement("span"), bar = document.createElement("span"), used = document.createElement("i"), best = document.createElement("i");
    bar.className = "bar"; bar.append(used, best); cells[1].append(number, bar);
    return {s, row, cells, number, used, best};
  });
}
function fillComparison(sort) {
  for (const r of sorting.rows) {
    r.now = facts(r.s, state);
    COLUMNS.forEach(([, value, words], k) => { if (k) { const v = value({...r, name: r.s.name}); (k === 1 ? r.number : r.cells[k]).textContent = words(v); r.cells[k].title = String(v); } });
    r.used.style.width = `${clamp(r.now.dcf, 0, 1) * 100}%`;
    r.best.style.width = `${clamp(r.now.min, 0, 1) * 100}%`;
    r.row.className = r.s.place === state.s ? "chosen" : "";
  }
  if (!sort || sorting.by === null) return;
  const value = r => COLUMNS[sorting.by][1]({...r, name: r.s.name ?? ""}), sign = sorting.down ? -1 : 1;
  const order = [...sorting.rows].sort((a, b) => { const x = value(a), y = value(b); return sign * (x === y ? 0 : x === null ? 1 : y === null ? -1 : x < y ? -1 : 1); });
  for (const r of order) sorting.body.append(r.row);
  [...sorting.head.children].forEach((th, k) => k === sorting.by ? th.setAttribute("aria-sort", sorting.down ? "descending" : "ascending") : th.removeAttribute("aria-sort"));
}

// ---- one change, one frame: everything that moves moves here
function update() {
  const s = SYSTEMS[state.s], now = facts(s, state);
  const opening = `If ${oneIn(state.prior, true)} is a target, and ${costWords(state.fn, state.fp)}, `.replace(/(cases) in 100 is a target/, "$1 in 100 are targets").replace(/(all but 1 case in [\d,]+) is a target/, "$1 are targets");
  verdicts.forEach(([p, one], i) => sentence(p, one, i || one !== s ? facts(one, state) : now, i ? "" : opening));
  show("n-dcf", now.dcf); show("n-min", now.min); show("n-threshold", now.threshold); show("n-best", now.best);
  show("n-loss", now.loss); show("n-fnr", now.fnr, percent(now.fnr)); show("n-fpr", now.fpr, percent(now.fpr));
  show("n-ppv", now.ppv, now.ppv === null ? "nothing accepted" : percent(now.ppv)); show("n-effective", now.effective, percent(now.effective)); show("n-dcfu", now.dcfu);
  const per = {hit: state.prior * ((s.T - now.m) / s.T), miss: state.prior * now.fnr, alarm: (1 - state.prior) * now.fpr, reject: (1 - state.prior) * ((s.F - now.f) / s.F)};
  const counted = {hit: s.T - now.m, miss: now.m, alarm: now.f, reject: s.F - now.f};
  for (const key in per) { show(`c-${key}`, per[key] * 1e5, short(Math.round(per[key] * 1e5 * 10) / 10)); show(`k-${key}`, counted[key] * s.weight, short(Math.round(counted[key] * s.weight * 10) / 10)); }
  const few = [[counted.miss, "misses"], [counted.alarm, "false alarms"]].filter(([n]) => n * s.weight < 30).map(([n, word]) => `${short(Math.round(n * s.weight))} ${word}`);
  $("few").textContent = few.length ? `Only ${few.join(" and ")} were counted here: below 30, a rate is known only roughly.` : "";
  $("note").textContent = !s.complete && Math.abs(now.tau) > REACH && now.rule === "bayes" ? "Beyond log-odds ±9 these numbers are approximate." :
    s.raw && state.rule === "bayes" ? "Raw scores have no Bayes threshold: the least cost is shown." : "";
  moveScores(now); moveCurve(now); moveBayes(now); moveTrust(now); moveRates(now); fillComparison(false);
  fillControls(now);
}
function fillControls(now) {
  const put = (id, value) => { const node = $(id); if (document.activeElement !== node) node.value = value; };
  $("prior").value = logit(state.prior); put("prior-box", Number((100 * state.prior).toPrecision(6)));
  $("prior").setAttribute("aria-valuetext", oneIn(state.prior, true));
  $("prior-words").textContent = `${oneIn(state.prior, true)}; log-odds ${short(logit(state.prior))}`;
  for (const key of ["fn", "fp"]) { $(`cost-${key}`).value = Math.log10(state[key]); put(`cost-${key}-box`, Number(state[key].toPrecision(6))); $(`cost-${key}`).setAttribute("aria-valuetext", short(state[key])); }
  put("manual", Number(state.manual.toPrecision(8))); put("bound", Number((100 * state.bound).toPrecision(6)));
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
    const button = document.createElement("button");
    button.type = "button"; button.textContent = kind;
    button.setAttribute("aria-pressed", String(kind === state.curve));
    button.addEventListener("click", () => set({curve: kind}));
    return button;
  }));
}
function drawAll() {
  const s = SYSTEMS[state.s];
  drawVerdicts(); drawScores(s); drawSwitch(); drawCurve(); drawBayes(); drawRates(s); drawTrust(s);
}

// ---- saving
function download(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
const plain = v => Number.isFinite(v) ? v : v > 0 ? "inf" : "-inf";
function unpacked() {  // the document as `tercet evaluate --json` writes it
  const copy = structuredClone(DATA), list = array => Array.from(array, plain);
  for (const s of copy.systems.filter(one => one.curve)) {
    for (const part of [s.curve, s.curve.hull]) {
      for (const key of ["thresholds", "llrs"]) if (part[key]) part[key] = list(doubles(part[key]));
      for (const key of ["misses", "false_alarms"]) part[key] = Array.from(running(part[key]));
    }
    const h = s.histogram, n = h.targets.bins.length;
    h.edges = Array.from({length: n ? n + 1 : 0}, (_, i) => { const part = i === n ? 1 : i * (1 / n); return n === 1 ? h.low : h.low * (1 - part) + h.high * part; });
    delete h.low; delete h.high;
  }
  for (const key of ["points", "title"]) delete copy[key];
  return copy;
}
function csv() {
  const cell = v => { const t = String(v ?? ""); return `"${(/^[=+\-@\t\r]/.test(t) && Number.isNaN(Number(t)) ? "'" + t : t).replace(/"/g, '""')}"`; };
  const head = ["system", "prior", "cost_fn", "cost_fp", "rule", "threshold", "fnr", "fpr", "dcf_u", "dcf", "min_dcf", "calibration_loss", "ppv", "eer", "auc", "cllr", "min_cllr"];
  const rows = SYSTEMS.map(s => {
    const n = facts(s, state), f = s.facts;
    return [s.name, state.prior, state.fn, state.fp, n.rule, n.threshold, n.fnr, n.fpr, n.dcfu, n.dcf, n.min, n.loss, n.ppv, f.eer.value, f.auc, f.cllr, f.min_cllr];
  });
  return [head, ...rows].map(row => row.map(cell).join(",")).join("\r\n") + "\r\n";
}
const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "text-anchor", "visibility"];
function standalone(svg) {  // styles become attributes, so that the drawing looks the same anywhere
  const copy = svg.cloneNode(true), from = svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const key of DRAWN) to[i].setAttribute(key, style.getPropertyValue(key));
    for (const key of ["class", "tabindex", "role"]) to[i].removeAttribute(key);
  });
  copy.setAttribute("xmlns", NS);
  const paper = el("rect", {width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor});
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

// ---- wiring
function theme() {
  const dark = state.dark ?? matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.classList.toggle("dark", dark);
  $("theme").setAttribute("aria-pressed", String(dark));
  $("theme").textContent = dark ? "light" : "dark";
}
function option(value, text) {
  const node = document.createElement("option");
  node.value = value; node.textContent = text;
  return node;
}
function wire() {
  $("system").append(...SYSTEMS.map((s, i) => option(i, s.name ?? "this system")));
  $("system-field").hidden = SYSTEMS.length < 2;
  $("system").addEventListener("change", e => set({s: Number(e.target.value)}));
  const known = [...SYSTEMS[0].facts.applications.filter(a => a.cost_fn > 0 && a.cost_fp > 0).map(a => ({...a, label: a.name ?? `evaluated: ${oneIn(a.prior, false)}, ${short(a.cost_fn)} : ${short(a.cost_fp)}`})), ...DATA.points];
  $("points").append(option("", "choose …"), ...known.map((a, i) => option(i, a.label)));
  $("points").addEventListener("change", e => { const a = known[e.target.value]; if (a) set({prior: a.prior, fn: a.cost_fn, fp: a.cost_fp}); });
  $("prior").addEventListener("input", e => set({prior: 1 / (1 + Math.exp(-Number(e.target.value)))}));
  $("prior-box").addEventListener("input", e => { const p = Number(e.target.value) / 100; if (p > 0 && p < 1) set({prior: p}); });
  for (const key of ["fn", "fp"]) {
    $(`cost-${key}`).addEventListener("input", e => set({[key]: Number((10 ** Number(e.target.value)).toPrecision(3))}));
    $(`cost-${key}-box`).addEventListener("input", e => { const v = positive(e.target.value); if (v) set({[key]: v}); });
  }
  for (const radio of document.getElementsByName("rule")) radio.addEventListener("change", () => {
    const now = facts(SYSTEMS[state.s], state);  // by hand begins where the line stands
    set(radio.value === "manual" ? {rule: "manual", manual: nearest(SYSTEMS[state.s], Number.isFinite(now.threshold) ? (now.rule === "min" || now.rule === "fpr" ? llrOf(SYSTEMS[state.s], now.threshold) : now.threshold) : 0)} : {rule: radio.value});
  });
  $("manual").addEventListener("input", e => { const v = Number(e.target.value); if (e.target.value !== "" && Number.isFinite(v)) set({manual: v}); });
  $("bound").addEventListener("input", e => { const v = Number(e.target.value) / 100; if (e.target.value !== "" && v >= 0 && v <= 1) set({bound: v}); });
  $("controls").addEventListener("submit", e => e.preventDefault());
  $("theme").addEventListener("click", () => { state.dark = !document.documentElement.classList.contains("dark"); theme(); toHash(); });
  $("print").addEventListener("click", () => print());
  $("save-json").addEventListener("click", () => download("tercet.json", "application/json", JSON.stringify(unpacked())));
  $("save-csv").addEventListener("click", () => download("tercet.csv", "text/csv", csv()));
  for (const figure of document.querySelectorAll(".figures figure")) {
    if (figure.id === "f-table") continue;
    const button = document.createElement("button");
    button.type = "button"; button.className = "get"; button.textContent = "SVG";
    button.setAttribute("aria-label", "save this figure as SVG");
    button.addEventListener("click", () => download(`${figure.id.slice(2)}.svg`, "image/svg+xml", standalone(figure.querySelector("svg"))));
    figure.append(button);
  }
  // The address holds the state, so links to the glossary scroll without touching it.
  document.addEventListener("click", e => {
    const link = e.target.closest?.('a[href^="#g-"]');
    if (!link) return;
    e.preventDefault();
    const entry = $(link.getAttribute("href").slice(1));
    document.querySelectorAll(".flash").forEach(node => node.classList.remove("flash"));
    entry.classList.add("flash"); entry.tabIndex = -1;
    entry.scrollIntoView({block: "center"}); entry.focus({preventScroll: true});
  });
  addEventListener("hashchange", () => { fromHash(); theme(); drawAll(); update(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", theme);
  let was = narrow();
  addEventListener("resize", () => { if (narrow() !== was) { was = narrow(); $("fold").open = !was; drawAll(); update(); } });
}
document.documentElement.classList.add("js");
$("tools").hidden = false;
fromHash();
theme();
if (SYSTEMS.length) {
  $("live").hidden = false;
  $("fold").open = !narrow();
  wire(); drawComparison(); drawAll(); update();
} else {  // several classes only: the tables say it all
  $("static").hidden = $("compare").hidden = $("save-csv").hidden = true;
  $("theme").addEventListener("click", () => { state.dark = !document.documentElement.classList.contains("dark"); theme(); });
  $("print").addEventListener("click", () => print());
  $("save-json").addEventListener("click", () => download("tercet.json", "application/json", JSON.stringify(unpacked())));
}
})();

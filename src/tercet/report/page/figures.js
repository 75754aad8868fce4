// ---- scores by class, with the threshold to drag
const scores = {};
function drawScores(s) {
  const h = s.facts.histogram, c = chart($("f-scores"), narrow() ? 420 : 640, 300, [8, 34, 8, 42]);
  Object.assign(scores, {c, s});
  if (!h.targets.bins.length) return void (scores.c = null);
  const pad = (h.high / 50 - h.low / 50 || 0.02);
  c.scaleX(h.low - pad, h.high + pad);
  const bins = h.targets.bins.length, at = i => h.low * (1 - i / bins) + h.high * (i / bins);
  // Neighbouring bins are added up where trials are few, so that the eye sees the shape and not the noise.
  const enough = bins / clamp(3 * Math.cbrt(Math.min(s.T, s.F) * s.weight), 10, 100);
  const join = [20, 10, 8, 5, 4, 2].find(k => k <= 1.25 * enough && bins % k === 0) ?? 1;
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
    labels.push([clamp(c.X((peak[0] + peak[1]) / 2), 70, c.right - 70), Math.max(c.Y(peak[2]) - 7, c.top + 8), `${s.weighted ? "weight " : ""}${short(total)}${s.weighted ? "," : ""} ${k ? "targets" : "non-targets"}`]);
  });
  for (const [k, side, x] of [["below", "", c.left], ["above", "end", c.right]]) {
    const beyond = h.targets[k] + h.nontargets[k];
    if (beyond > 0) el("text", {class: `soft halo ${side}`, x, y: c.bottom - 22}, c.svg, `${short(beyond)} beyond`);
  }
  const g = el("g", {class: "handle", tabindex: 0, role: "slider", "aria-label": "threshold", "aria-orientation": "horizontal",
    "aria-valuemin": h.low, "aria-valuemax": h.high}, c.svg);
  el("rect", {class: "hit", x: -14, y: 14, width: 28, height: c.bottom - 14}, g);
  el("path", {class: "here", d: `M0 20V${c.bottom}`}, g);
  el("path", {class: "grip", d: `M-7 ${c.bottom - 8}L0 ${c.bottom}L7 ${c.bottom - 8}Z`}, g);
  el("circle", {class: "grip", cx: 0, cy: 20, r: 5}, g);
  scores.label = el("text", {class: "halo", y: 12}, g);
  scores.handle = g;
  for (const [x, y, words] of labels) el("text", {class: "halo mid still", x, y}, c.svg, words);
  const move = x => { set({rule: "manual", manual: nearest(s, clamp(c.Xi(x), h.low, h.high))}); };
  const local = e => (e.clientX - c.svg.getBoundingClientRect().left) * c.svg.viewBox.baseVal.width / c.svg.getBoundingClientRect().width;
  g.addEventListener("pointerdown", e => { g.setPointerCapture(e.pointerId); g.focus(); e.preventDefault(); scores.held = true; });
  g.addEventListener("pointermove", e => { if (scores.held) move(local(e)); });
  for (const end of ["pointerup", "pointercancel"]) g.addEventListener(end, () => { scores.held = false; });
  g.addEventListener("keydown", e => {
    const step = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -200, End: 200}[e.key];
    if (!step) return;
    e.preventDefault();
    move(clamp(scores.x, c.left, c.right) + step * (c.right - c.left) / 200);
  });
}
function moveScores(now) {
  const c = scores.c;
  if (!c) return;
  scores.x = clamp(c.X(now.threshold), c.left, c.right);
  scores.handle.setAttribute("transform", `translate(${scores.x.toFixed(2)} 0)`);
  scores.handle.setAttribute("aria-valuenow", Number.isFinite(now.threshold) ? now.threshold : Math.sign(now.threshold) * 1e308);
  const words = thresholdWords(scores.s, now.threshold, now.llr);
  scores.handle.setAttribute("aria-valuetext", words);
  const right = scores.x < c.right - 160 - (stated(scores.s) ? 70 : 0);
  scores.label.setAttribute("x", right ? 10 : -10);
  scores.label.setAttribute("class", right ? "halo" : "halo end");
  scores.label.textContent = `accept above ${words}${right ? " →" : ""}`;
}

// ---- both error rates along the threshold, on the scale of the figure above
const rates = {};
function drawRates(s) {
  const h = s.facts.histogram, c = chart($("f-rates"), narrow() ? 420 : 640, 330, [46, 26, 8, 40]);
  Object.assign(rates, {c, s});
  const pad = (h.high / 50 - h.low / 50 || 0.02);
  c.scaleX(h.low - pad, h.high + pad); c.scaleY(0, 1);
  c.ticksY([[0, "0"], [0.25, "25 %"], [0.5, "50 %"], [0.75, "75 %"], [1, "100 %"]], "errors of the class");
  c.ticksX(nice(h.low, h.high, narrow() ? 5 : 8), "threshold");
  for (const [key, total, cls, words] of [["m", s.T, "target", "misses"], ["f", s.F, "non", "false alarms"]]) {
    const points = [];
    let px = NaN, py = NaN;
    for (let i = 0; i < s.m.length; i++) {
      const x = c.X(clamp(s.thresholds[i], h.low - pad, h.high + pad)), y = c.Y(s[key][i] / total);
      if (i && i + 1 < s.m.length && Math.abs(x - px) + Math.abs(y - py) < 0.8) continue;
      if (points.length) points.push([x, py]);
      points.push([x, y]);
      [px, py] = [x, y];
    }
    c.path(points, `outline ${cls}`);
    let most = 0;  // the name stands beside the curve, where the other one is far
    while (key === "m" ? s.m[most] < 0.6 * s.T : s.f[most] > 0.6 * s.F) most++;
    const x = c.X(clamp(s.thresholds[most], h.low, h.high)), right = key === "m" ? x < c.right - 60 : x < c.left + 90;
    el("text", {class: right ? "halo" : "halo end", x: right ? x + 9 : x - 9, y: c.Y(0.6) + 4}, c.svg, words);
  }
  let cross = 0;
  while (s.m[cross] / s.T < s.f[cross] / s.F) cross++;
  const eer = s.facts.eer.value, x = c.X(clamp(s.thresholds[cross], h.low, h.high)), y = c.Y(Math.min(eer + 0.4, 0.92));
  el("path", {class: "axis", d: `M${x} ${y + 5}V${c.Y(eer) - 3}`}, c.svg);
  el("text", {class: "soft halo mid", x: clamp(x, c.left + 66, c.right - 66), y}, c.svg, `equal at ${percent(eer)} (EER)`);
  rates.line = el("path", {class: "here"}, c.svg);
}
function moveRates(now) {
  const c = rates.c;
  rates.line.setAttribute("d", `M${clamp(c.X(now.threshold), c.left, c.right).toFixed(2)} ${c.top}V${c.bottom}`);
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
const curve = {}, MOST = 16;  // systems that a figure shows together
const dashOf = i => (i + Math.floor(i / 8)) % 4;  // colour and dash tell systems apart, in grey too
const chosenLast = () => [...SYSTEMS.keys()].sort((a, b) => (a === state.s) - (b === state.s));  // drawn on top
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
  const kind = state.curve, c = chart($("f-curve"), 420, 330, [46, 26, 20, 40]);
  const whole = [[0, "0"], [0.25, "25 %"], [0.5, "50 %"], [0.75, "75 %"], [1, "100 %"]];
  if (kind === "DET") {
    const most = Math.max(...SYSTEMS.map(s => Math.max(s.T, s.F)));
    curve.low = Math.max(probit(0.5 / most), -4.6); curve.high = probit(0.8);
    c.scaleX(curve.low, curve.high); c.scaleY(curve.low, curve.high);
    const ticks = [1e-5, 1e-4, 0.001, 0.01, 0.05, 0.2, 0.5].filter(p => probit(p) > curve.low + 0.15).map(p => [probit(p), `${100 * p} %`]);
    c.ticksY(ticks, "false negative rate"); c.ticksX(ticks.length > 6 ? ticks.filter(([, l], i) => i % 2 === 0) : ticks, "false positive rate");
  } else {
    c.scaleX(0, 1); c.scaleY(0, 1);
    c.ticksY(whole, kind === "ROC" ? "true positive rate" : "precision");
    c.ticksX(whole, kind === "ROC" ? "false positive rate" : "recall (true positive rate)");
  }
  curve.c = c;
  curve.band = el("path", {}, c.svg);
  curve.lines = [];
  const lines = el("g", {class: "lines"}, c.svg);
  for (const i of chosenLast()) curve.lines[i] = el("path", {}, lines);
  curve.ref = el("path", {class: "blind dot"}, c.svg);
  curve.word = el("text", {class: "soft halo"}, c.svg);
  if (SYSTEMS.length > 1) drawKey(c);
  curve.spot = el("circle", {class: "spot", r: 5}, c.svg);
  curve.prior = null;
}
function drawKey(c) {  // which line is whose, inside the frame where no curve is
  const shown = SYSTEMS.slice(0, 8), det = state.curve === "DET", x = det ? c.right - 118 : c.right - 122, top = det ? c.top + 24 : c.bottom - 14 * shown.length - 4;
  shown.forEach((s, k) => {
    const y = (state.curve === "precision-recall" ? c.bottom - 14 * shown.length - 4 : top) + 14 * k, left = state.curve === "precision-recall" ? c.left + 8 : x;
    el("path", {class: `curve c${s.place % 8} d${dashOf(s.place)}`, d: `M${left} ${y}h20`}, c.svg);
    el("text", {class: "halo", x: left + 25, y: y + 4}, c.svg, brief(called(s.name), 15));
  });
}
function moveCurve(now) {
  const c = curve.c, kind = state.curve, s = SYSTEMS[state.s], place = placer(kind, c, state.prior);
  const key = kind === "precision-recall" ? `${state.s} ${state.prior}` : `${state.s}`;
  if (curve.prior !== key) {  // only precision moves with the prior
    curve.prior = key;
    SYSTEMS.forEach((one, i) => {
      if (kind === "precision-recall" && i !== state.s && SYSTEMS.length > MOST) return;
      curve.lines[i].setAttribute("d", line(thinPath(one, place)));
      curve.lines[i].setAttribute("class", `curve c${i % 8} d${dashOf(i)}${i === state.s ? "" : " thin"}`);
    });
    const b = kind === "precision-recall" ? null : s.facts.bands?.roc;
    const [low, high] = b ? bothEnds(b.fpr, [b.low, b.high], (fpr, fnr) => place(fnr, fpr)) : [[], []];
    curve.band.setAttribute("d", b ? `${line([...low, ...high.reverse()])}Z` : "");
    curve.band.setAttribute("class", `band c${state.s % 8}`);
    const y = kind === "precision-recall" ? c.Y(state.prior) : 0;
    curve.ref.setAttribute("d", kind === "precision-recall" ? `M${c.left} ${y}H${c.right}` : `M${c.left} ${c.bottom}L${c.right} ${c.top}`);
    const below = state.prior > 0.15 ? Math.min(y + 15, c.bottom - 4) : y - 6;
    const places = {ROC: [c.right - 4, c.Y(0.5), "end"], DET: [c.right - 36, c.top + 15, "end"], "precision-recall": [c.left + 6, below, ""]};
    const [wordX, wordY, anchor] = places[kind];
    curve.word.setAttribute("x", wordX); curve.word.setAttribute("y", wordY);
    curve.word.setAttribute("class", `soft halo ${anchor}`);
    curve.word.textContent = kind === "precision-recall" ? "accepting everything" : kind === "ROC" ? "deciding by chance" : "both equal: EER";
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
  c.ticksY([[0, "0"], [0.5, "0.5"], [1, "1"]], "DCF; 1 is deciding without the scores");
  const marks = [[0.001, "1 in 1,000"], [0.01, "1 in 100"], [0.1, "1 in 10"], [0.5, "1 in 2"], [0.9, "9 in 10"], [0.99, "99 in 100"], [0.999, "999 in 1,000"]];
  const ticks = marks.filter((_, i) => !narrow() || i % 2).map(([p, words]) => [logit(p), short(Number(logit(p).toFixed(1))), words]);
  c.ticksX(ticks, "effective prior (prior and costs in one): log-odds, and as a share");
  const top = v => c.Y(Math.min(v, 9));  // what leaves the frame is cut there
  for (const i of chosenLast()) {
    const s = SYSTEMS[i];
    if (SYSTEMS.length > MOST && i !== state.s) continue;
    const g = costs(s, -reach, reach, 280), thin = i === state.s ? "" : " thin", plot = s.facts.bayes_plot;
    if (i === state.s) {  // intervals are known at the grid of the exact run
      const edges = ends => bothEnds(plot.log_odds, ends ?? [], (t, v) => [c.X(t), top(v)]);
      for (const edge of edges(plot.min_dcf_ci)) c.path(edge, `curve edge c${i % 8}`);
      if (plot.dcf_ci) c.band(...edges(plot.dcf_ci), `c${i % 8}`);
    }
    if (g.actual.length) c.path(g.actual.map(([t, v]) => [c.X(t), top(v)]), `curve c${i % 8}${thin}`);
    c.path(g.minimum.map(([t, v]) => [c.X(t), top(v)]), `curve dash c${i % 8}${thin}`);
  }
  c.path([[c.left, c.Y(1)], [c.right, c.Y(1)]], "blind dot");
  bayes.harm = el("text", {class: "soft halo still", y: c.Y(1) - 6}, c.svg, "above this line it does harm");
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
const brief = (name, most) => name.length <= most ? name : `${name.slice(0, most - 8)}…${name.slice(-7)}`;  // names often differ at their end
function drawEnds(c, reach) {  // names at the curves' ends instead of a legend, pushed apart where they would touch
  const endOf = s => c.Y(Math.min(costs(s, -reach, reach, 280).minimum.at(-1)[1], 1.2));
  const shown = SYSTEMS.filter((s, i) => SYSTEMS.length <= MOST || i === state.s);
  const ends = shown.map(s => ({s, y: endOf(s)})).sort((a, b) => a.y - b.y);
  let last = c.top - 20;
  for (const {s, y} of ends) {
    last = Math.max(y, last + 15);
    el("path", {class: `curve c${s.place % 8}`, d: `M${c.right + 6} ${last}h10`}, c.svg);
    const name = called(s.name);
    el("text", {x: c.right + 20, y: last + 4}, c.svg, brief(name, 12));
  }
}
function moveBayes(now) {
  const c = bayes.c, x = clamp(c.X(now.tau), c.left, c.right), y = c.Y(Math.min(now.dcf, 1.2)), low = c.Y(Math.min(now.min, 1.2));
  bayes.line.setAttribute("d", `M${x.toFixed(2)} ${c.top}V${c.bottom}`);
  for (const [spot, at] of [[bayes.spot, y], [bayes.low, low]]) { spot.setAttribute("cx", x.toFixed(2)); spot.setAttribute("cy", at.toFixed(2)); }
  const late = x > (c.left + c.right) / 2;  // words keep off the cursor and stay within the frame
  bayes.harm.setAttribute("x", late ? c.left + 6 : c.right - 6);
  bayes.harm.setAttribute("class", `soft halo still${late ? "" : " end"}`);
  if (!bayes.word) return;
  for (const [word, cls] of [[bayes.word, "halo"], [bayes.best, "soft halo"]]) {
    word.setAttribute("x", late ? x - 10 : x + 10);
    word.setAttribute("class", late ? `${cls} end` : cls);
  }
  const apart = Math.abs(y - low) < 15 ? (15 - Math.abs(y - low)) / 2 : 0;
  bayes.word.setAttribute("y", y + 4 - apart);
  bayes.best.setAttribute("y", low + 4 + apart);
  bayes.word.textContent = now.rule === "min" ? "" : `${short(now.dcf)} actual`;
  bayes.best.textContent = `${short(now.min)} minimum`;
}

// ---- reliability: what scores say against what they are worth (isotonic: the hull's segments)
const trust = {};
function drawTrust(s) {
  const c = chart($("f-reliability"), 420, 330, [46, 26, 20, 40]);
  Object.assign(trust, {c, s, llrs: []});
  $("bins").hidden = !s.facts.bands?.reliability;
  const whole = [[0, "0"], [0.25, "25 %"], [0.5, "50 %"], [0.75, "75 %"], [1, "100 %"]];
  c.scaleX(0, 1); c.scaleY(0, 1);
  c.ticksY(whole, "observed frequency"); c.ticksX(whole, "forecast probability of a target");
  c.path([[c.left, c.bottom], [c.right, c.top]], "blind dot");
  trust.bins = el("path", {class: "here"}, c.svg);
  trust.line = el("path", {class: `curve c${s.place % 8}`}, c.svg);
  trust.here = el("path", {class: "here dot"}, c.svg);
  if (s.raw) el("text", {class: "soft", x: c.left + 10, y: c.top + 18}, c.svg, "raw scores state no probability: calibrate them first");
  const h = s.hull;
  for (let i = 0; i + 1 < h.m.length; i++) {
    const t = (h.m[i + 1] - h.m[i]) / s.T, n = (h.f[i] - h.f[i + 1]) / s.F;
    trust.llrs.push([i ? llrOf(s, h.thresholds[i]) : -Infinity, llrOf(s, h.thresholds[i + 1]), Math.log(t / n)]);
  }
}
function whisker(c, shift, forecast, observed, low, high) {  // a bin's share of targets with its interval, moved to this prior
  if (forecast === null || observed === null || low === null || high === null) return "";
  const move = p => p <= 0 || p >= 1 ? p : 1 / (1 + Math.exp(-(logit(p) + shift)));
  const x = c.X(move(forecast)).toFixed(1), [y, from, to] = [observed, low, high].map(p => c.Y(move(p)).toFixed(1));
  return `M${x} ${from}V${to}m-3 0h6M${x - 3} ${from}h6M${x - 4} ${y}h8`;
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
  const b = s.facts.bands?.reliability;
  if (b) trust.bins.setAttribute("d", b.forecast.map((at, k) => whisker(c, odds - logit(b.prior), at, b.observed[k], b.low[k], b.high[k])).join(""));
  const x = c.X(p(now.llr));
  trust.here.setAttribute("d", Number.isFinite(x) ? `M${x.toFixed(1)} ${c.top}V${c.bottom}` : "");
}

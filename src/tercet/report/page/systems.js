// ---- systems. Counts are exact at the kept thresholds; between them they stay or follow a line, as metrics/curve_summary.py promises.
const real = v => v === "inf" ? Infinity : v === "-inf" ? -Infinity : v;
function doubles(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Float64Array(bytes.buffer);
}
const weightsOf = kept => Array.isArray(kept.weights) ? Float64Array.from(kept.labels, k => kept.weights[k]) : kept.weights && doubles(kept.weights);  // one for each class, or for each row
function rowsOf(kept) {  // log-likelihoods of rows: doubles, or steps below 0 in 16 bits, the last standing for minus infinity
  if (!kept.step) return doubles(kept.log_likelihoods);
  const raw = atob(kept.log_likelihoods);
  return Float64Array.from({length: raw.length / 2}, (_, i) => { const code = raw.charCodeAt(2 * i) + 256 * raw.charCodeAt(2 * i + 1); return code === 65535 ? -Infinity : 0 - code * kept.step; });
}
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%,()*+-;.=/?@^_`{|}~", WORD = 2 ** 32;
const VALUES = Uint8Array.from({length: 128}, (_, code) => Math.max(DIGITS.indexOf(String.fromCharCode(code)), 0));
function numbers(text) {  // what packing.py wrote; a page opens with this, so it works on words of 32 bits
  const words = new Uint32Array(text.length / 5 + 1), bits = new DataView(new ArrayBuffer(8)), out = [];
  for (let i = 0; i < text.length; i++) words[i / 5 | 0] = 85 * words[i / 5 | 0] + VALUES[text.charCodeAt(i)];
  let at = 0, high = 0, low = 0;
  const take = n => {  // the next n bits
    if (n > 32) return take(n - 32) * WORD + take(32);
    if (n === 0) return 0;
    const place = at >>> 5, room = 32 - (at & 31), head = words[place] << 32 - room >>> 32 - room;
    at += n;
    return n <= room ? head >>> room - n : head * 2 ** (n - room) + (words[place + 1] >>> 32 - (n - room));
  };
  const add = v => { high += Math.floor(v / WORD); low += v % WORD; if (low >= WORD) { low -= WORD; high++; } };
  const double = () => {
    const positive = high >= WORD / 2;
    bits.setUint32(0, positive ? high - WORD / 2 : ~high); bits.setUint32(4, positive ? low : ~low);
    return bits.getFloat64(0);
  };
  for (let groups = take(32); groups; groups--) {
    const count = take(32), digits = take(4), scale = Number(`1e${digits}`);
    high = take(32); low = take(32);
    for (let i = 0, width = 0; i < count; i++) {
      if (i % 64 === 1) width = take(6);
      if (i) { let ones = 0; while (take(1)) ones++; add(ones * 2 ** width); add(take(width)); }
      out.push(digits === 15 ? double() : ((high - WORD / 2) * WORD + low) / scale);
    }
  }
  return Float64Array.from(out).sort();
}
const falling = text => numbers(text).map(v => 0 - v);
function pathOf(turns, length) {  // how counts go up to each point: l on lines, m misses stay, f false alarms stay, s both
  const [m, f] = turns.map(text => new Set(numbers(text)));
  let out = "", stays = 0;
  for (let i = 0; i < length; i++) out += "lmfs"[stays ^= m.has(i) + 2 * f.has(i)];
  return out;
}
function system(facts, place) {
  const c = facts.curve, thresholds = numbers(c.thresholds), llrs = c.llrs ? numbers(c.llrs) : thresholds;
  return {
    facts, place, name: facts.name, raw: facts.meaning === "raw", T: c.targets, F: c.nontargets, complete: c.complete, within: c.within ?? c.private?.cost_error ?? 0,
    weight: 2 ** c.unit, weighted: c.unit !== 0, thresholds, x: llrs, m: numbers(c.misses), f: falling(c.false_alarms),
    path: c.path ? pathOf(c.path, thresholds.length) : "",
    hull: {thresholds: numbers(c.hull.thresholds), m: numbers(c.hull.misses), f: falling(c.hull.false_alarms)},
  };
}
const SYSTEMS = DATA.systems.filter(s => s.curve).map(system);

function placeOf(x, t) {  // the last place whose x is <= t
  let low = 0, high = x.length;
  while (low < high) { const mid = (low + high) >> 1; if (x[mid] <= t) low = mid + 1; else high = mid; }
  return Math.max(low - 1, 0);
}
function read(counts, stays, s, i, t) {  // from the last kept threshold on, the count stays or follows the line to the next
  const here = counts[i], left = s.x[i], right = s.x[i + 1];
  if (s.complete || i + 1 >= counts.length || stays.includes(s.path[i + 1])) return here;
  if (!Number.isFinite(left) || !Number.isFinite(right)) return here;
  return left === right ? here : here + (counts[i + 1] - here) * ((t - left) / (right - left));
}
function errorsAt(s, llr, i = placeOf(s.x, llr)) {
  return {m: read(s.m, "ms", s, i, llr), f: read(s.f, "fs", s, i, llr)};
}
function errorsAbove(s, score) {  // the place is found among the scores: as llrs two of them may be one number
  const i = placeOf(s.thresholds, score), j = Math.min(i + 1, s.x.length - 1);
  return errorsAt(s, clamp(llrOf(s, score), s.x[i], s.x[j]), i);
}
function between(s, score) {  // what the counts at a threshold certainly lie between, where they are not known; else null
  const i = placeOf(s.thresholds, score), j = i + 1;
  if (s.complete || j >= s.x.length || s.thresholds[i] === score || s.m[i] === s.m[j] && s.f[i] === s.f[j]) return null;
  return {fnr: [s.m[i] / s.T, s.m[j] / s.T], fpr: [s.f[j] / s.F, s.f[i] / s.F]};
}
function dcf(tau, fnr, fpr) {  // a rate of zero adds nothing, whatever its factor
  const [cheap, costly] = tau <= 0 ? [fnr, fpr] : [fpr, fnr];
  return cheap + (costly === 0 ? 0 : Math.exp(Math.abs(tau)) * costly);
}
const logit = p => Math.log(p) - Math.log1p(-p);
const tauOf = w => logit(w.prior) + (Math.log(w.fn) - Math.log(w.fp));
function least(s, tau) {
  const h = s.hull, cost = i => dcf(tau, h.m[i] / s.T, h.f[i] / s.F);
  let best = Infinity, at = 0;
  for (let i = 0; i < h.m.length; i++) {
    const here = cost(i);
    if (here < best) { best = here; at = i; }
  }
  while (at > 0 && cost(at - 1) <= best * (1 + 2 ** -50)) at--;  // equal but for rounding: the lowest threshold
  return {dcf: best, threshold: at === 0 ? -Infinity : h.thresholds[at], m: h.m[at], f: h.f[at]};
}
// A threshold is a score everywhere; as an llr it stands beside. What a score states as llr, and back: posteriors and
// log-odds are shifted by the log-odds of the prior that they were made with, which any kept score tells.
const STATED = {lr: [Math.log, Math.exp], "log10-llr": [v => v * Math.LN10, v => v / Math.LN10], "log-odds": [v => v, v => v],
  posterior: [p => logit(p), v => 1 / (1 + Math.exp(-v))]};
function scale(s) {
  if (s.scale) return s.scale;
  const [to, from] = STATED[s.facts.meaning] ?? [v => v, v => v];
  const shifted = s.facts.meaning === "posterior" || s.facts.meaning === "log-odds";
  let shift = shifted ? NaN : 0, least = Infinity;  // unknown if every score is infinite as an llr
  if (shifted) s.thresholds.forEach((v, i) => {
    const odds = to(v), far = Math.abs(odds);  // kept numbers are shortened up to the next score, so it should be near
    const doubt = s.complete ? far : far < 5 ? s.x[i + 1] - s.x[i] : far * 1e3;
    if (doubt < least && Number.isFinite(s.x[i])) { least = doubt; shift = odds - s.x[i]; }
  });
  return s.scale = {llr: score => to(score) - shift, score: llr => from(llr + shift)};
}
const stated = s => s.x !== s.thresholds;  // the scores are not llrs themselves, but say some
function scoreOf(s, llr) {  // a kept score where it is one of them to the bit
  if (!stated(s) || Number.isNaN(llr)) return llr;
  const i = placeOf(s.x, llr), j = Math.min(i + 1, s.x.length - 1);
  if (s.x[i] === llr) return s.thresholds[i];
  const score = Math.max(scale(s).score(llr), s.thresholds[i]);
  return Number.isNaN(score) || s.x[j] > llr && score >= s.thresholds[j] ? s.thresholds[i] : score;  // rounding never moves a decision
}
function llrOf(s, score) {
  if (!stated(s)) return score;
  const i = placeOf(s.thresholds, score);
  return s.thresholds[i] === score ? s.x[i] : scale(s).llr(score);
}
function nearest(s, score) {  // a kept threshold, where counts are exact; every threshold is, if all scores are kept
  if (s.complete) return score;
  const x = s.thresholds, i = placeOf(x, score), j = Math.min(i + 1, x.length - 1);
  return Number.isFinite(x[i]) && score - x[i] <= x[j] - score || !Number.isFinite(x[j]) ? x[i] : x[j];
}

// Intervals: as evaluated; else in closed form; of groups (speakers, patients ...) between the priors of the exact run.
const pair = ends => ends && !ends.includes(null) ? ends.map(real) : null;
function endsOf(s, known, rule, here) {
  const least = {min: pair(known?.min_dcf_ci)};
  if (rule === "bayes" && pair(known?.dcf_ci)) return {...least, dcf: pair(known.dcf_ci), fnr: pair(known.fnr_ci), fpr: pair(known.fpr_ci), dcfu: pair(known.dcf_u_ci), from: "evaluated"};
  const closed = limitsAt(s, here);
  if (closed) return {...least, ...closed, from: "closed"};
  const plot = s.facts.bayes_plot, dcf = rule === "bayes" && groupsOf(s).length ? endsBetween(here.tau, plot.log_odds, plot.dcf_ci) : null;
  return dcf ? {...least, dcf, from: "between"} : {...least, from: ""};
}

// Everything that is shown of one system at one operating point. Evaluated applications give the package's own numbers.
const TEXTS = ["name", "dummy_action"];  // what is a text in a result; other texts are infinite numbers
const numeric = app => Object.fromEntries(Object.entries(app).map(([key, v]) => [key, TEXTS.includes(key) ? v : real(v)]));
const placeOfPoint = (s, w) => s.facts.applications.findIndex(a => a.prior === w.prior && a.cost_fn === w.fn && a.cost_fp === w.fp);
function evaluatedAt(s, w) {
  const found = s.facts.applications[placeOfPoint(s, w)];
  return found && numeric(found);
}
function firstWithin(length, holds) {  // the lowest place from which on a bound holds
  let low = 0, high = length - 1;
  while (low < high) { const mid = (low + high) >> 1; if (holds(mid)) high = mid; else low = mid + 1; }
  return low;
}
function bounded(s, w, rule) {  // the lowest kept threshold with few enough false alarms or alarms; the highest with few enough misses
  if (rule === "fpr") return firstWithin(s.f.length, i => s.f[i] / s.F <= w.bound);
  if (rule === "fnr") return Math.max(firstWithin(s.m.length + 1, i => s.m[i] / s.T > w.misses || i === s.m.length) - 1, 0);
  return firstWithin(s.f.length, i => w.day * (w.prior * (s.T - s.m[i]) / s.T + (1 - w.prior) * s.f[i] / s.F) <= w.alarms);
}
function decision(s, w, rule, known, best, tau) {  // the threshold of a rule, a score, and the errors that it makes
  if (rule === "min") return {threshold: best.threshold, m: best.m, f: best.f};
  if (rule === "manual") {  // the best threshold is known to the bit, whatever stands for it among the kept ones
    const exact = w.manual === best.threshold || w.manual === known?.min_threshold;
    return {threshold: w.manual, ...exact ? {m: best.m, f: best.f, open: null} : {...errorsAbove(s, w.manual), open: between(s, w.manual)}};
  }
  if (rule !== "bayes") { const i = bounded(s, w, rule); return {threshold: s.thresholds[i], m: s.m[i], f: s.f[i]}; }
  const llr = known ? known.threshold : 0 - tau, table = known?.confusion;
  return {llr, threshold: scoreOf(s, llr), ...table ? {m: table[0][1] / s.weight, f: table[1][0] / s.weight} : errorsAt(s, llr)};
}
const gap = (cost, least) => Number.isFinite(cost) && cost - least <= 1e-12 * cost ? 0 : cost - least;  // what rounding leaves is no difference
const blamed = known => pair(known.calibration_loss_ci) && {value: known.calibration_loss, ends: pair(known.calibration_loss_ci)};
function facts(s, w) {
  const tau = tauOf(w), best = least(s, tau), known = evaluatedAt(s, w);
  const undecided = s.raw && w.rule === "bayes", rule = undecided ? "min" : w.rule;  // raw scores have no Bayes threshold
  const {threshold, m, f, llr, open = null} = decision(s, w, rule, known, best, tau);
  const fnr = m / s.T, fpr = f / s.F, miss = w.prior * w.fn, alarm = (1 - w.prior) * w.fp;
  const cost = known && rule === "bayes" ? known.dcf : dcf(tau, fnr, fpr);
  const lowest = known && known.min_dcf !== null ? known.min_dcf : best.dcf;
  const hits = w.prior * ((s.T - m) / s.T), wrong = (1 - w.prior) * fpr;
  const top = Math.max(w.fn, w.fp), a = w.prior * (w.fn / top), b = (1 - w.prior) * (w.fp / top);
  return {
    rule, undecided, tau, threshold, llr: s.raw ? null : llr ?? llrOf(s, threshold), m, f, fnr, fpr, dcf: cost, min: lowest,
    best: known ? known.min_threshold : best.threshold, loss: s.raw && rule === "min" ? null : gap(cost, lowest), lost: rule === "bayes" && known ? blamed(known) : null,
    dcfu: (rule === "bayes" ? known?.dcf_u : null) ?? miss * fnr + alarm * fpr, dummy: Math.min(miss, alarm), lowestU: lowest * Math.min(miss, alarm),
    open, about: open !== null || rule === "bayes" && !known && !s.complete && (s.within > 0 || Math.abs(tau) > REACH),
    ends: endsOf(s, known, rule, {m, f, fnr, fpr, tau, miss, alarm}), known: Boolean(known),
    effective: known?.effective_prior ?? a / (a + b), accepted: hits + wrong, ppv: hits + wrong > 0 ? hits / (hits + wrong) : null,
  };
}

// ---- intervals in closed form, for a threshold fixed beforehand and independent trials: those of metrics/binomial.py and metrics/mover.py.
// A rate has Wilson's limits, below 13 errors (or 13 right decisions) Clopper and Pearson's; a cost has MOVER's.
const EXACT = [[13, 1], [44, 0.9], [150, 0.8]];  // below so many errors limits are exact up to this level
function atMost(k, n, p) {  // the probability of at most k of n
  let term = Math.exp(n * Math.log1p(-p)), sum = term;
  for (let i = 1; i <= k; i++) sum += term *= (n - i + 1) / i * (p / (1 - p));
  return sum;
}
function solved(falling, wanted) {  // p where a falling function of p has this value
  let low = 0, high = 1;
  for (let i = 0; i < 100; i++) { const p = (low + high) / 2; if (falling(p) > wanted) low = p; else high = p; }
  return (low + high) / 2;
}
function exactLimits(k, n, tail) {  // Clopper and Pearson's, of few
  if (2 * k > n) return exactLimits(n - k, n, tail).map(p => 1 - p).reverse();
  return [k ? solved(p => atMost(k - 1, n, p), 1 - tail) : 0, solved(p => atMost(k, n, p), tail)];
}
function rateLimits(count, n, level) {
  const p = count / n, tail = (1 - level) / 2, [, upto] = EXACT.find(([below]) => Math.min(count, n - count) < below) ?? [];
  if (level <= upto) return exactLimits(count, n, tail);
  const square = probit(tail) ** 2 / n, half = Math.sqrt(square * (p * (1 - p) + square / 4));
  const ends = [(p + square / 2 - half) / (1 + square), (p + square / 2 + half) / (1 + square)];
  if (!(level < 0.95 && upto)) return ends;
  const [low, high] = exactLimits(count, n, (1 - upto) / 2);  // a higher level never has a shorter interval
  return [Math.min(ends[0], low), Math.max(ends[1], high)];
}
function sumLimits(terms) {  // of [factor, rate, limits]: the distances to each rate's limits, added in squares
  const value = terms.reduce((sum, [factor, rate]) => sum + factor * rate, 0);
  const reach = side => Math.sqrt(terms.reduce((sum, [factor, rate, ends]) => sum + (factor * (ends[factor < 0 ? 1 - side : side] - rate)) ** 2, 0));
  return [value - reach(0), value + reach(1)];
}
function logGamma(x) {
  let shift = 0;
  while (x < 10) shift += Math.log(x++);
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5) - shift;
}
function gammaBelow(shape, x) {  // the probability that a gamma variable of this shape is below x
  let term = 1, sum = 1;
  for (let i = 1; term > 1e-17 * sum; i++) sum += term *= x / (shape + i);
  return Math.exp(shape * Math.log(x) - x - logGamma(shape + 1)) * sum;
}
function fewTogether(terms, level) {  // the lower limit of a sum of [factor, errors, trials], each of few errors: Fay and Feuer's
  const [below] = EXACT.filter(([, upto]) => level <= upto).pop();
  if (!terms.every(([factor, errors]) => factor > 0 && errors > 0 && errors < below)) return Infinity;
  let mean = 0, variance = 0;
  for (const [factor, errors, n] of terms) {
    const own = errors / (n + 1);
    mean += factor * own;
    variance += factor ** 2 * own * (1 - own) / (n + 2);
  }
  const shape = mean ** 2 / variance;
  return mean * solved(part => -gammaBelow(shape, part * shape), (level - 1) / 2);
}
const levelOf = s => s.facts.intervals?.level ?? 0.95;
const groupsOf = s => [s.facts.intervals?.by ?? []].flat();
function limitsAt(s, {m, f, fnr, fpr, tau, miss, alarm}) {  // null where trials are weighted or come in groups
  if (s.weighted || groupsOf(s).length) return null;
  const level = levelOf(s), ends = {fnr: rateLimits(m, s.T, level), fpr: rateLimits(f, s.F, level)};
  const factor = Math.exp(Math.abs(tau)), [a, b] = tau <= 0 ? [1, factor] : [factor, 1];
  const cost = (x, y) => {
    const [low, high] = sumLimits([[x, fnr, ends.fnr], [y, fpr, ends.fpr]]);
    return [Math.max(Math.min(low, fewTogether([[x, m, s.T], [y, f, s.F]], level)), 0), high];
  };
  return {...ends, dcf: cost(a, b), dcfu: cost(miss, alarm)};
}
function endsBetween(at, grid, ends) {  // both ends at a place between the points of a grid; null beyond it
  const k = grid.findIndex((x, i) => i + 1 < grid.length && x <= at && at <= grid[i + 1]);
  if (k < 0 || !ends) return null;
  const part = (at - grid[k]) / (grid[k + 1] - grid[k]), found = ends.map(edge => real(edge[k]) * (1 - part) + real(edge[k + 1]) * part);
  return found.every(Number.isFinite) ? found : null;
}
// ---- boxes for numbers. What is refused is told beside the box, and the view goes back to what it was before the hand
// came: numbers of a half-typed entry would belong to nothing that anyone asked for.
function entry(node, told, {read, take, keep, shown, why}) {
  let back = null;
  const mark = words => {
    told.textContent = words;
    if (!words) { node.removeAttribute("aria-invalid"); node.removeAttribute("aria-describedby"); return; }
    node.setAttribute("aria-invalid", "true"); node.setAttribute("aria-describedby", told.id);
  };
  node.addEventListener("focus", () => { back = keep(); });
  node.addEventListener("change", () => { if (!node.hasAttribute("aria-invalid")) back = keep(); });
  node.addEventListener("input", () => {
    const empty = node.value === "" && !node.validity.badInput, value = empty ? null : read(node.value);
    if (value !== null) { mark(""); take(value); return; }
    back?.();
    mark(empty ? "" : t("refused", {what: node.value || t("refused.this"), why: t(why), kept: shown()}));
  });
  node.addEventListener("blur", () => { node.value = shown(); node.removeAttribute("aria-invalid"); back = null; });
  return () => { mark(""); node.value = shown(); };
}
const within = (value, sound) => Number.isFinite(value) && sound(value) ? value : null;
const readPrior = text => within(readShare(text), p => p > 0 && p < 1);
const WHY = {prior: "why.prior", cost: "why.cost", threshold: "why.threshold", bound: "why.bound", costs: "why.costs", count: "why.count"};

// ---- intervals in closed form, for a threshold fixed beforehand and independent trials: those of metrics/limits.py and metrics/mover.py.
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

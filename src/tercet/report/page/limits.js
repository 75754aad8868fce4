// ---- intervals in closed form, for a threshold fixed beforehand and independent trials: those of metrics/limits.py and metrics/mover.py.
// A rate has Wilson's limits, below 13 errors (or 13 right decisions) Clopper and Pearson's; a cost has MOVER's.
const FEW = 13;
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
  return [k ? solved(p => atMost(k - 1, n, p), 1 - tail) : 0, k < n ? solved(p => atMost(k, n, p), tail) : 1];
}
function rateLimits(count, n, level) {
  const p = count / n, right = n - count, tail = (1 - level) / 2;
  if (Math.min(count, right) < FEW) {
    if (count <= right) return exactLimits(count, n, tail);
    const [low, high] = exactLimits(right, n, tail);
    return [1 - high, 1 - low];
  }
  const square = probit(tail) ** 2 / n, half = Math.sqrt(square * (p * (1 - p) + square / 4));
  return [(p + square / 2 - half) / (1 + square), (p + square / 2 + half) / (1 + square)];
}
function sumLimits(terms) {  // of [factor, rate, limits]: the distances to each rate's limits, added in squares
  const value = terms.reduce((sum, [factor, rate]) => sum + factor * rate, 0);
  const reach = side => Math.sqrt(terms.reduce((sum, [factor, rate, ends]) => sum + (factor * (ends[factor < 0 ? 1 - side : side] - rate)) ** 2, 0));
  return [value - reach(0), value + reach(1)];
}
const levelOf = s => s.facts.intervals?.level ?? 0.95;
const groupsOf = s => [s.facts.intervals?.by ?? []].flat();
function limitsAt(s, {m, f, fnr, fpr, tau, miss, alarm}) {  // null where trials are weighted or come in groups
  if (s.weighted || groupsOf(s).length) return null;
  const level = levelOf(s), ends = {fnr: rateLimits(m, s.T, level), fpr: rateLimits(f, s.F, level)};
  const factor = Math.exp(Math.abs(tau)), [a, b] = tau <= 0 ? [1, factor] : [factor, 1];
  const cost = (x, y) => { const [low, high] = sumLimits([[x, fnr, ends.fnr], [y, fpr, ends.fpr]]); return [Math.max(low, 0), high]; };
  return {...ends, dcf: cost(a, b), dcfu: cost(miss, alarm)};
}
function endsBetween(at, grid, ends) {  // both ends at a place between the points of a grid; null beyond it
  const k = grid.findIndex((x, i) => i + 1 < grid.length && x <= at && at <= grid[i + 1]);
  if (k < 0 || !ends) return null;
  const part = (at - grid[k]) / (grid[k + 1] - grid[k]), found = ends.map(edge => real(edge[k]) * (1 - part) + real(edge[k + 1]) * part);
  return found.every(Number.isFinite) ? found : null;
}

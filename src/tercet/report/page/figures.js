// ---- a small chart: a frame with two scales and axes in words, drawn at the figure's own width so that type keeps its size
const labelled = (node, label) => { node.setAttribute("aria-label", label); return node; };
function make(tag, properties, ...inside) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...inside);
  return node;
}
function wideBox(label, ...inside) {  // scrolls sideways where a table is wider than the page, by keyboard too
  const box = labelled(make("div", {className: "wide", tabIndex: 0}, ...inside), label);
  box.setAttribute("role", "group");
  return box;
}
function el(name, attributes, parent, text) {
  const node = document.createElementNS(NS, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}
const clamp = (v, low, high) => Math.min(Math.max(v, low), high);
const narrow = () => matchMedia("screen and (max-width:820px)").matches;  // as the style has it
let printing = false;
const PRINTED = 330;  // pixels of a column on paper
const PAPER = 670;  // of both columns
const LETTER = 6.6;  // pixels that a letter takes on average
const SQUARE = 440;
const sideBySide = () => matchMedia("screen and (min-width:901px)").matches;  // two columns, as the style has it
const widthOf = (figure, most = 760) => printing ? Math.min(PRINTED, most === SQUARE ? 190 : most) : clamp(Math.round(figure.clientWidth), 260, most);
const heightOf = () => printing || sideBySide() ? widthOf($("f-curve"), SQUARE) : 300;  // of a chart whose neighbour is a square
const WIDER = 1.12 * LETTER;  // in bold, or of wide letters
const lettersIn = pixels => Math.max(Math.floor((printing ? 1.2 : 1) * pixels / WIDER), 8);  // type is smaller on paper
const partOf = (v, low, high) => (v / 2 - low / 2) / (high / 2 - low / 2);  // halves, because scores may span all doubles
function chart(figure, width, height, box) {
  const [left, top, right, bottom] = box;
  figure.querySelector("svg")?.remove();
  const svg = el("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "group"});
  svg.setAttribute("aria-label", figure.querySelector("h3").textContent);
  figure.querySelector("figcaption").after(svg);
  const clip = el("clipPath", {id: `clip-${figure.id}`}, svg);
  el("rect", {x: left, y: top, width: width - left - right, height: height - top - bottom}, clip);
  const inside = (x, text) => clamp(x, LETTER * text.length / 2, width - LETTER * text.length / 2);  // nothing of a saved drawing is cut
  const to = (low, high, a, b) => v => { const part = clamp(partOf(v, low, high), -99, 99); return a * (1 - part) + b * part; };
  return {svg, figure, left, top, right: width - right, bottom: height - bottom,
    scaleX(low, high) { this.X = to(low, high, left, width - right); this.Xi = to(left, width - right, low, high); },
    scaleY(low, high) { this.Y = to(low, high, height - bottom, top); },
    local: e => { const shown = svg.getBoundingClientRect(); return [(e.clientX - shown.left) * width / shown.width, (e.clientY - shown.top) * height / shown.height]; },
    ticksX(ticks, words) {
      el("path", {class: "axis", d: `M${left} ${height - bottom}H${width - right}`}, svg);
      for (const [v, label, under] of ticks) {
        const x = this.X(v);
        el("path", {class: "axis", d: `M${x} ${height - bottom}v4`}, svg);
        [label, under].forEach((text, k) => { if (text) el("text", {class: "soft mid", x: inside(x, text), y: height - bottom + 17 + 15 * k}, svg, text); });
      }
      el("text", {class: "soft end", x: Math.min(Math.max(width - right, LETTER * words.length), width), y: height - 3}, svg, words);
    },
    ticksY(ticks, words) {
      for (const [v, label] of ticks) {
        el("path", {class: "grid", d: `M${left} ${this.Y(v)}H${width - right}`}, svg);
        el("text", {class: "soft end", x: left - 6, y: this.Y(v) + 4}, svg, label);
      }
      el("text", {class: "soft", x: 0, y: top - 11}, svg, words);
    },
    path(points, cls) { return el("path", {class: cls, d: line(points), "clip-path": `url(#${clip.id})`}, svg); },
    band(upper, lower, cls) { const path = this.path([...upper, ...lower.reverse()], `band ${cls}`); path.setAttribute("d", `${path.getAttribute("d")}Z`); }};
}
const line = points => points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
// Both edges of a band, where both exist.
const bothEnds = (across, ends, place) => ends.map(edge => across.flatMap((x, k) => ends.some(e => e[k] === null) ? [] : [place(real(x), real(edge[k]))]));
const finite = values => values.filter(v => Number.isFinite(v));
const tickWords = v => local(String(Number(v.toPrecision(6)))).replace("-", "−");
function nice(low, high, count) {
  const raw = high / count - low / count, unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(k => k * unit).find(k => k >= raw), ticks = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) ticks.push([v, tickWords(v)]);
  return ticks;
}
const quarters = () => [[0, "0"], [0.25, "25 %"], [0.5, "50 %"], [0.75, "75 %"], [1, "100 %"]];
const brief = (name, most) => name.length <= most ? name : `${name.slice(0, most - 8)}…${name.slice(-7)}`;  // names often differ at their end

// A readout that a pointer or the arrow keys move along the points of a curve: what stands there is written below the chart.
// read: {count, at(i) -> [x, y] or null, words(i), across: nearest by x alone, press(i, [x, y]), name}
function probe(c, read) {
  const {figure} = c, told = figure.querySelector(".readout") ?? make("p", {className: "readout"});
  c.svg.after(told);
  told.textContent = "";
  const dot = el("circle", {class: "probe", r: 4.5, visibility: "hidden"}, c.svg);
  const zone = el("rect", {class: "press", x: c.left, y: c.top, width: c.right - c.left, height: c.bottom - c.top, tabindex: 0, role: "slider",
    "aria-label": read.name, "aria-valuemin": 0, "aria-valuemax": Math.max(read.count() - 1, 0), "aria-valuenow": 0, "aria-valuetext": t("arrow_keys")}, c.svg);
  let place = 0, held = false;
  const go = i => {
    place = clamp(i, 0, read.count() - 1);
    const at = read.at(place);
    dot.setAttribute("visibility", at ? "visible" : "hidden");
    if (at) { dot.setAttribute("cx", at[0].toFixed(1)); dot.setAttribute("cy", at[1].toFixed(1)); }
    told.textContent = read.words(place);
    zone.setAttribute("aria-valuenow", place); zone.setAttribute("aria-valuetext", told.textContent);
  };
  const near = ([x, y]) => {
    let best = 0, least = Infinity;
    for (let i = 0; i < read.count(); i++) {
      const at = read.at(i), off = at ? (at[0] - x) ** 2 + (read.across ? 0 : (at[1] - y) ** 2) : Infinity;
      if (off < least) { least = off; best = i; }
    }
    return best;
  };
  const press = e => read.press?.(place, c.local(e));
  zone.addEventListener("pointermove", e => { go(near(c.local(e))); if (held) press(e); });
  zone.addEventListener("pointerleave", () => { dot.setAttribute("visibility", "hidden"); told.textContent = ""; });
  zone.addEventListener("pointerdown", e => { zone.setPointerCapture(e.pointerId); held = true; go(near(c.local(e))); press(e); });
  for (const end of ["pointerup", "pointercancel"]) zone.addEventListener(end, () => { held = false; });
  zone.addEventListener("keydown", e => {
    const few = Math.max(Math.round(read.count() / 100), 1);
    const step = {ArrowLeft: -few, ArrowDown: -few, ArrowRight: few, ArrowUp: few, PageDown: -10 * few, PageUp: 10 * few, Home: -Infinity, End: Infinity}[e.key];
    if (e.key === "Enter") return void read.press?.(place, read.at(place));
    if (!step) return;
    e.preventDefault(); go(place + step);
  });
}

// What a chart shows, in words and as a table, and how it is saved; drawn again whenever it is asked for.
const FIGURES = new Map();  // figure -> {says(), table() -> {head, rows}}
function describe(figure, says, table) {
  if (!FIGURES.has(figure)) {
    const told = make("p", {className: "unseen", id: `d-${figure.id}`}), get = labelled(make("div", {className: "get"}), t("save_figure", {title: figure.querySelector("h3").textContent}));
    get.setAttribute("role", "group");
    for (const kind of ["svg", "png", "csv"]) {
      const button = make("button", {type: "button"}, kind.toUpperCase());
      button.dataset.as = kind;
      button.addEventListener("click", () => saveFigure(figure, kind));
      get.append(button);
    }
    const holder = wideBox(t("as_table")), data = make("details", {className: "data"}, make("summary", {}, t("as_table")), holder);
    data.addEventListener("toggle", () => { if (data.open) fillData(figure, holder); });
    figure.querySelector("figcaption").append(told);
    figure.append(get, data);
  }
  FIGURES.set(figure, {says, table});
}
const ROWS = 25;  // of a table on the page; the CSV has all
function titled(table) {  // on a phone each row is a card, and each of its cells says which column it is of
  const titles = [...table.querySelectorAll("thead tr:last-child > *")].map(cell => cell.textContent);
  for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, k) => { if (titles[k]) cell.dataset.title = titles[k]; });
}
function fillData(figure, holder) {
  const {head, rows} = FIGURES.get(figure).table(), step = Math.max(Math.ceil(rows.length / ROWS), 1);
  const shown = rows.filter((_, i) => i % step === 0 || i === rows.length - 1), word = v => typeof v === "number" || v === null ? short(v) : String(v);
  holder.replaceChildren(make("table", {className: "plain"}, make("caption", {}, step > 1 ? t("rows_shown", {shown: group(shown.length), all: group(rows.length)}) : ""),
    make("thead", {}, make("tr", {}, ...head.map(name => { const th = make("th", {scope: "col"}, name); return th; }))),
    make("tbody", {}, ...shown.map(([first, ...rest]) => make("tr", {}, make("th", {scope: "row"}, word(first)), ...rest.map(v => make("td", {}, word(v))))))));
  titled(holder.querySelector("table"));
}
function describeAll() {  // at every change of the setting: what each chart shows now
  for (const [figure, {says}] of FIGURES) {
    $(`d-${figure.id}`).textContent = says();
    figure.querySelector("svg")?.setAttribute("aria-describedby", `d-${figure.id}`);
    const data = figure.querySelector("details.data");
    if (data.open) fillData(figure, data.querySelector(".wide"));
  }
}

// Estimates with their intervals, one under the other: a forest plot.
function forest(figure, rows, {mark, words, axis}) {
  const width = printing ? PAPER : widthOf(figure), wide = width > 560, told = rows.map(row => `${words(row.value)}${inBrackets(row.ends, words)}${row.note ? ` ${row.note}` : ""}`);
  const left = wide ? clamp(16 + WIDER * Math.max(...rows.map(row => row.label.length)), 90, 0.36 * width) : 10, right = wide ? 14 + LETTER * Math.max(...told.map(one => one.length)) : 10, step = wide ? 24 : 54;
  const c = chart(figure, width, (wide ? 66 : 88) - (printing ? 14 : 0) + step * rows.length, [left, printing ? 8 : wide ? 22 : 36, right, 40]);
  const all = finite(rows.flatMap(r => [r.value, ...r.ends ?? []]).concat(mark ?? []));
  const low = Math.min(...all), high = Math.max(...all), pad = (high - low) * 0.06 || 0.1;
  c.scaleX(low - pad, high + pad);
  c.ticksX(nice(low - pad, high + pad, wide ? 5 : 3), axis);
  if (mark !== undefined) el("path", {class: "blind dot", d: `M${c.X(mark)} ${c.top - 8}V${c.bottom}`}, c.svg);
  rows.forEach((row, k) => {
    const y = c.top + 10 + step * k;
    el("text", {class: "halo", x: 0, y: wide ? y + 4 : y - 11}, c.svg, brief(row.label, lettersIn((wide ? left : width) - 12)));
    if (row.ends) el("path", {class: "here", d: `M${c.X(row.ends[0])} ${y - 4}v8M${c.X(row.ends[0])} ${y}H${c.X(row.ends[1])}M${c.X(row.ends[1])} ${y - 4}v8`}, c.svg);
    if (Number.isFinite(row.value)) el("circle", {class: row.pooled ? "spot" : "dot-solid", cx: c.X(row.value), cy: y, r: 4.5}, c.svg);
    el("text", {class: "soft halo", x: wide ? c.right + 12 : 0, y: wide ? y + 4 : y + 19}, c.svg, told[k]);
  });
}
// ---- scores by class, with the threshold to drag
const scores = {};
function smoothed(bins, width, total) {  // a density out of the bins: a normal kernel, its width by Silverman's rule
  const n = bins.reduce((a, b) => a + b, 0), mean = bins.reduce((sum, b, i) => sum + b * i, 0) / n;
  const spread = Math.sqrt(bins.reduce((sum, b, i) => sum + b * (i - mean) ** 2, 0) / n), kernel = Math.max(0.9 * spread * Math.max(n, 5) ** -0.2, 1.2);
  const reach = Math.ceil(4 * kernel), weights = Array.from({length: 2 * reach + 1}, (_, k) => Math.exp(-0.5 * ((k - reach) / kernel) ** 2));
  const whole = weights.reduce((a, b) => a + b, 0);
  return bins.map((_, i) => { let sum = 0; for (let k = -reach; k <= reach; k++) sum += (bins[i + k] ?? 0) * weights[k + reach]; return sum / whole / total / width; });
}
function drawScores(s) {
  const h = s.facts.histogram, figure = $("f-scores"), c = chart(figure, widthOf(figure), heightOf(), [8, 34, 8, 40]);
  Object.assign(scores, {c, s});
  describe(figure, () => t("says.scores", {name: called(s.name), threshold: thresholdWords(s, now().threshold, now().llr), missed: percent(now().fnr), alarms: percent(now().fpr)}), scoreTable);
  if (!h.targets.bins.length) return void (scores.c = null);
  const pad = (h.high / 50 - h.low / 50 || 0.02), bins = h.targets.bins.length, at = i => h.low * (1 - i / bins) + h.high * (i / bins);
  c.scaleX(h.low - pad, h.high + pad);
  const width = h.high / bins - h.low / bins || 1, sides = ["nontargets", "targets"].map(side => ({side, total: (side === "targets" ? s.T : s.F) * s.weight}));
  // Neighbouring bins are added up where trials are few, so that the eye sees the shape and not the noise.
  const enough = bins / clamp(3 * Math.cbrt(Math.min(s.T, s.F) * s.weight), 10, 100), join = [20, 10, 8, 5, 4, 2].find(k => k <= 1.25 * enough && bins % k === 0) ?? 1;
  for (const one of sides) {
    const counts = h[one.side].bins;
    one.steps = Array.from({length: Math.ceil(bins / join)}, (_, g) => { const part = counts.slice(g * join, (g + 1) * join); return [at(g * join), at(Math.min((g + 1) * join, bins)), part.reduce((a, b) => a + b, 0) / part.length / one.total / width]; });
    one.curve = bins > 1 && counts.some(n => n) ? smoothed(counts, width, one.total) : [];
  }
  scores.sides = sides;
  c.scaleY(0, Math.max(...sides.flatMap(one => one.steps.map(g => g[2]))) * 1.05 || 1);
  c.ticksX(nice(h.low, h.high, c.right < 480 ? 5 : 8), t(s.raw ? "axis.score" : `axis.${s.facts.meaning}`));
  const labels = sides.map((one, k) => {
    const cls = k ? "target" : "non", points = one.steps.flatMap(([a, b, v]) => [[c.X(a), c.Y(v)], [c.X(b), c.Y(v)]]);
    c.path([[points[0][0], c.bottom], ...points, [points.at(-1)[0], c.bottom]], `area ${cls}`);
    c.path(one.curve.map((v, i) => [c.X(at(i + 0.5)), c.Y(v)]), `outline ${cls}`);
    const peak = one.steps.reduce((a, b) => b[2] > a[2] ? b : a);
    return [clamp(c.X((peak[0] + peak[1]) / 2), 70, c.right - 70), Math.max(c.Y(peak[2]) - 7, c.top + 8), t(`${s.weighted ? "weight_of_" : "count_of_"}${one.side}`, {n: short(one.total)})];
  });
  for (const [k, side, x] of [["below", "", c.left], ["above", "end", c.right]]) {
    const beyond = h.targets[k] + h.nontargets[k];
    if (beyond > 0) el("text", {class: `soft halo ${side}`, x, y: c.bottom - 22}, c.svg, t("beyond", {n: short(beyond)}));
  }
  drawHandle(s, c, h);
  if (Math.abs(labels[0][0] - labels[1][0]) < 120 && Math.abs(labels[0][1] - labels[1][1]) < 14) labels[0][1] = labels[1][1] + 15;
  for (const [x, y, words] of labels) el("text", {class: "halo mid still", x, y}, c.svg, words);
}
function scoreTable() {
  const h = scores.s.facts.histogram, bins = h.targets.bins.length, at = i => h.low * (1 - i / bins) + h.high * (i / bins);
  return {head: ["score_from", "score_to", "nontargets", "targets"], rows: h.targets.bins.map((n, i) => [at(i), at(i + 1), h.nontargets.bins[i], n])};
}
function drawHandle(s, c, h) {
  const g = el("g", {class: "handle", tabindex: 0, role: "slider", "aria-label": t("threshold"), "aria-orientation": "horizontal",
    "aria-valuemin": h.low, "aria-valuemax": h.high}, c.svg);
  el("rect", {class: "hit", x: -14, y: 14, width: 28, height: c.bottom - 14}, g);
  el("path", {class: "here", d: `M0 20V${c.bottom}`}, g);
  el("path", {class: "grip", d: `M-7 ${c.bottom - 8}L0 ${c.bottom}L7 ${c.bottom - 8}Z`}, g);
  el("circle", {class: "grip", cx: 0, cy: 20, r: 5}, g);
  scores.label = el("text", {class: "halo", y: 12}, g);
  scores.handle = g;
  const move = x => { set({rule: "manual", manual: nearest(s, clamp(c.Xi(x), h.low, h.high))}); };
  g.addEventListener("pointerdown", e => { g.setPointerCapture(e.pointerId); scores.held = true; });
  g.addEventListener("pointermove", e => { if (scores.held) move(c.local(e)[0]); });
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
  const words = thresholdWords(scores.s, now.threshold, now.llr), right = scores.x < (c.left + c.right) / 2;
  scores.handle.setAttribute("aria-valuetext", words);
  scores.label.setAttribute("x", right ? 10 : -10);
  scores.label.setAttribute("class", right ? "halo" : "halo end");
  scores.label.textContent = t("accept_above", {words}) + (right ? " →" : "");
}

// ---- ROC, DET and precision-recall, in a square
const CURVES = ["ROC", "DET", "precision-recall"];
function probit(p) {  // Acklam's rational approximation, then one step of Newton's towards erfc: 1e-9 and better
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
const dashOf = i => (i + Math.floor(i / 8)) % 8;  // colour and dash tell systems apart, in grey too
const look = i => `c${i % 8} d${dashOf(i)}`;
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
function thinPath(s, place, {m, f} = s) {  // one point a pixel or so is all a screen shows
  const points = [];
  let px = NaN, py = NaN;
  for (let i = m.length - 1; i >= 0; i--) {
    const at = place(m[i] / s.T, f[i] / s.F);
    if (!at) continue;
    if (Math.abs(at[0] - px) + Math.abs(at[1] - py) < 0.8 && i) continue;
    points.push(at);
    [px, py] = at;
  }
  return points;
}
function drawCurve() {
  const kind = state.curve, figure = $("f-curve"), width = widthOf(figure, SQUARE), outside = printing && SYSTEMS.length > 1 ? PRINTED - width : 0;
  const c = chart(figure, width + outside, width, [46, 26, 20 + outside, 40]);
  if (kind === "DET") {
    const most = Math.max(...SYSTEMS.map(s => Math.max(s.T, s.F)));
    curve.low = Math.max(probit(0.5 / most), -4.6); curve.high = probit(0.8);
    c.scaleX(curve.low, curve.high); c.scaleY(curve.low, curve.high);
    const ticks = [1e-5, 1e-4, 0.001, 0.01, 0.05, 0.2, 0.5].filter(p => probit(p) > curve.low + 0.15).map(p => [probit(p), percent(p)]);
    c.ticksY(ticks, t("axis.fnr")); c.ticksX(ticks.length > 6 ? ticks.filter((_, i) => i % 2 === 0) : ticks, t("axis.fpr"));
  } else {
    c.scaleX(0, 1); c.scaleY(0, 1);
    c.ticksY(quarters(), t(kind === "ROC" ? "axis.tpr" : "axis.precision"));
    c.ticksX(quarters(), t(kind === "ROC" ? "axis.fpr" : "axis.recall"));
  }
  curve.c = c;
  curve.band = el("path", {}, c.svg);
  const lines = el("g", {class: "lines"}, c.svg);
  curve.lines = [];
  for (const i of chosenLast()) curve.lines[i] = el("path", {}, lines);
  curve.hull = el("path", {class: "hull"}, c.svg);
  curve.ref = el("path", {class: "blind dot"}, c.svg);
  curve.word = el("text", {class: "soft halo"}, c.svg);
  if (SYSTEMS.length > 1) drawKey(c, outside);
  curve.spot = el("circle", {class: "spot", r: 5}, c.svg);
  curve.prior = null;
  const s = SYSTEMS[state.s], at = i => placer(kind, c, state.prior)(s.m[i] / s.T, s.f[i] / s.F);
  const words = i => { const fnr = s.m[i] / s.T, fpr = s.f[i] / s.F; return t("at_threshold", {threshold: thresholdWords(s, s.thresholds[i], s.raw ? null : s.x[i]), fnr: percent(fnr), fpr: percent(fpr), dcf: short(dcf(tauOf(state), fnr, fpr))}); };
  probe(c, {count: () => s.m.length, at, words, name: t("along_the_curve"), press: i => { if (Number.isFinite(s.thresholds[i])) set({rule: "manual", manual: s.thresholds[i]}); }});
  describe(figure, () => t("says.curve", {kind, name: called(s.name), fnr: percent(now().fnr), fpr: percent(now().fpr), eer: percent(real(s.facts.eer.value)), auc: short(real(s.facts.auc))}),
    () => ({head: ["system", "threshold", "false_positive_rate", "true_positive_rate"], rows: SYSTEMS.flatMap(one => Array.from(one.m, (m, i) => [called(one.name), one.thresholds[i], one.f[i] / one.F, (one.T - m) / one.T]))}));
}
function drawKey(c, outside) {  // which line is whose, inside the frame where no curve is; on paper beside it
  const shown = SYSTEMS.slice(0, 8), det = state.curve === "DET", low = state.curve === "precision-recall";
  const names = shown.map(s => brief(called(s.name), lettersIn(outside ? outside - 37 : 0.62 * (c.right - c.left) - 39)));
  const left = outside ? c.right + 18 : low ? c.left + 8 : c.right - 42 - WIDER * Math.max(...names.map(name => name.length));
  const top = outside ? c.top + 8 : det ? c.top + 24 : c.bottom - 15 * shown.length;
  shown.forEach((s, k) => {
    const y = top + 15 * k;
    el("path", {class: `curve ${look(s.place)}`, d: `M${left} ${y}h34`}, c.svg);
    el("text", {class: "halo", x: left + 39, y: y + 4}, c.svg, names[k]);
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
      curve.lines[i].setAttribute("class", `curve ${look(i)}${i === state.s ? "" : " thin"}`);
    });
    curve.hull.setAttribute("d", kind === "ROC" ? line(thinPath(s, place, s.hull)) : "");
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
    curve.word.textContent = t({ROC: "by_chance", DET: "both_equal", "precision-recall": "accepting_everything"}[kind]);
  }
  const at = place(now.fnr, now.fpr);
  curve.spot.setAttribute("visibility", at ? "visible" : "hidden");
  if (at) { curve.spot.setAttribute("cx", at[0].toFixed(2)); curve.spot.setAttribute("cy", at[1].toFixed(2)); }
}

// ---- cost at every prior
const bayes = {}, SPAN = 7, STEPS = 280;
function costs(s) {
  if (s.grid) return s.grid;
  const actual = [], minimum = [];
  for (let i = 0; i <= STEPS; i++) {
    const tau = -SPAN + 2 * SPAN * i / STEPS;
    if (!s.raw) { const {m, f} = errorsAt(s, 0 - tau); actual.push([tau, dcf(tau, m / s.T, f / s.F)]); }
    minimum.push([tau, least(s, tau).dcf]);
  }
  return s.grid = {actual, minimum};
}
function usefulSpans(s) {  // where the Bayes decisions cost less than deciding without the scores; edges by halving
  const cost = tau => { const {m, f} = errorsAt(s, 0 - tau); return dcf(tau, m / s.T, f / s.F); }, spans = [];
  const edge = (a, b) => { const inside = cost(a) < 1; for (let i = 0; i < 40; i++) { const mid = (a + b) / 2; if (cost(mid) < 1 === inside) a = mid; else b = mid; } return (a + b) / 2; };
  let from = null;
  costs(s).actual.forEach(([tau, v], i, all) => {
    if (v < 1 && from === null) from = i ? edge(tau, all[i - 1][0]) : -Infinity;
    if (v >= 1 && from !== null) { spans.push([from, edge(all[i - 1][0], tau)]); from = null; }
  });
  if (from !== null) spans.push([from, Infinity]);
  return spans;
}
const oddsShare = tau => 1 / (1 + Math.exp(-tau));
function usefulWords(s) {
  if (s.raw) return t("raw_no_bayes");
  const spans = s.useful ??= usefulSpans(s), end = tau => shareWords(oddsShare(tau));
  if (!spans.length) return t("never_useful");
  const told = spans.map(([low, high]) => Number.isFinite(low) && Number.isFinite(high) ? t("useful_between", {low: end(low), high: end(high)})
    : Number.isFinite(low) ? t("useful_from", {low: end(low)}) : Number.isFinite(high) ? t("useful_up_to", {high: end(high)}) : t("useful_everywhere"));
  const whole = told.slice(0, 4).join("; ") + (told.length > 4 ? "; …" : ".");
  return whole[0].toUpperCase() + whole.slice(1);
}
function costFrame(c) {
  c.scaleX(-SPAN, SPAN); c.scaleY(0, 1.2);
  c.ticksY([[0, "0"], [0.5, local("0.5")], [1, "1"]], t("axis.dcf"));
  const close = c.right - c.left < 600, marks = [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999].filter((_, i) => !close || i % 2);
  c.ticksX(marks.map(p => [logit(p), short(Number(logit(p).toFixed(1))), p <= 0.5 ? shareWords(p) : p === 0.9 ? t("share.of_ten", {n: 9}) : p === 0.99 ? t("share.of", {n: 99}) : t("share.of_thousand", {n: 999})]), t("axis.effective"));
}
const inFrame = (c, v) => c.Y(Math.min(v, 9));  // what leaves the frame is cut there
function drawBayes() {
  const figure = $("f-bayes"), s = SYSTEMS[state.s], c = chart(figure, widthOf(figure), heightOf(), [34, 26, 12, 58]), g = costs(s), plot = s.facts.bayes_plot, i = s.place;
  bayes.c = c;
  costFrame(c);
  for (const [low, high] of s.raw ? [] : s.useful ??= usefulSpans(s)) {
    const from = c.X(Math.max(low, -SPAN)), to = c.X(Math.min(high, SPAN));
    el("rect", {class: "useful", x: from, y: c.top, width: to - from, height: c.bottom - c.top}, c.svg);
    if (to - from > 80) el("text", {class: "worth soft halo still mid", x: (from + to) / 2, y: c.bottom - 6}, c.svg, t("worth_using"));
  }
  const edges = ends => bothEnds(plot.log_odds, ends ?? [], (x, v) => [c.X(x), inFrame(c, v)]);  // intervals are known at the grid of the exact run
  for (const edge of edges(plot.min_dcf_ci)) c.path(edge, `curve edge c${i % 8}`);
  if (plot.dcf_ci) c.band(...edges(plot.dcf_ci), `c${i % 8}`);
  else if (!s.raw && limitsAt(s, {m: 0, f: 0, fnr: 0, fpr: 0, tau: 0, miss: 1, alarm: 1})) closedBand(s, c);
  if (g.actual.length) c.path(g.actual.map(([x, v]) => [c.X(x), inFrame(c, v)]), `curve c${i % 8}`);
  c.path(g.minimum.map(([x, v]) => [c.X(x), inFrame(c, v)]), `curve dash c${i % 8}`);
  c.path([[c.left, c.Y(1)], [c.right, c.Y(1)]], "blind dot");
  bayes.line = el("path", {class: "here"}, c.svg);
  bayes.spot = el("circle", {class: "spot", r: 5}, c.svg);
  bayes.low = el("circle", {class: "spot", r: 3}, c.svg);
  bayes.word = el("text", {class: "halo"}, c.svg);
  bayes.best = el("text", {class: "soft halo"}, c.svg);
  const words = k => t("at_prior", {share: shareWords(oddsShare(g.minimum[k][0])), odds: short(Number(g.minimum[k][0].toFixed(2))), actual: g.actual.length ? short(g.actual[k][1]) : t("undefined"), minimum: short(g.minimum[k][1])});
  const press = (_, [x]) => set({prior: clamp(oddsShare(clamp(c.Xi(x), -SPAN, SPAN) - (Math.log(state.fn) - Math.log(state.fp))), 1e-6, 1 - 1e-6)});
  probe(c, {count: () => g.minimum.length, at: k => [c.X(g.minimum[k][0]), inFrame(c, Math.min((g.actual[k] ?? g.minimum[k])[1], 1.2))], words, across: true, press, name: t("along_the_priors")});
  describe(figure, () => t("says.bayes", {name: called(s.name), dcf: short(now().dcf), minimum: short(now().min), share: shareWords(now().effective), useful: usefulWords(s)}),
    () => ({head: ["log_odds", "effective_prior", "actual_dcf", "minimum_dcf"], rows: g.minimum.map(([x, v], k) => [x, oddsShare(x), g.actual[k]?.[1] ?? null, v])}));
}
function closedBand(s, c) {
  const ends = costs(s).actual.filter((_, k) => k % 4 === 0).map(([tau]) => {
    const {m, f} = errorsAt(s, 0 - tau);
    return [tau, limitsAt(s, {m, f, fnr: m / s.T, fpr: f / s.F, tau, miss: 1, alarm: 1}).dcf];
  });
  c.band(...[0, 1].map(side => ends.map(([tau, pair]) => [c.X(tau), inFrame(c, pair[side])])), `c${s.place % 8}`);
}
function moveBayes(now) {
  const c = bayes.c, x = clamp(c.X(now.tau), c.left, c.right), y = c.Y(Math.min(now.dcf, 1.2)), low = c.Y(Math.min(now.min, 1.2));
  bayes.line.setAttribute("d", `M${x.toFixed(2)} ${c.top}V${c.bottom}`);
  for (const [spot, at] of [[bayes.spot, y], [bayes.low, low]]) { spot.setAttribute("cx", x.toFixed(2)); spot.setAttribute("cy", at.toFixed(2)); }
  const late = x > (c.left + c.right) / 2;  // words keep off the cursor and stay within the frame
  for (const [word, cls] of [[bayes.word, "halo"], [bayes.best, "soft halo"]]) {
    word.setAttribute("x", late ? x - 10 : x + 10);
    word.setAttribute("class", late ? `${cls} end` : cls);
  }
  const apart = Math.abs(y - low) < 15 ? (15 - Math.abs(y - low)) / 2 : 0;
  const lowest = Math.min(low + 4 + apart, c.bottom - 5);
  bayes.word.setAttribute("y", Math.min(y + 4 - apart, lowest - 15));
  bayes.best.setAttribute("y", lowest);
  for (const node of c.svg.querySelectorAll(".worth")) node.setAttribute("y", lowest > c.bottom - 45 ? c.top + 16 : c.bottom - 6);
  bayes.word.textContent = now.rule === "min" ? "" : t("n_actual", {n: short(now.dcf)});
  bayes.best.textContent = t("n_minimum", {n: short(now.min)});
}

// ---- reliability: what scores say against what they are worth (isotonic: the hull's segments; and in ten bins)
const trust = {};
function binsOf(s) {  // as evaluated; else counted here, at the data's own share of targets
  if (s.facts.bands?.reliability) return s.facts.bands.reliability;
  const share = s.T / (s.T + s.F), shift = logit(share), of = Array.from({length: 10}, () => ({t: 0, f: 0, sum: 0}));
  for (let i = 1; i < s.m.length; i++) {
    const p = oddsShare(s.x[i] + shift), bin = of[Math.min(Math.floor(10 * p), 9)], hits = s.m[i] - s.m[i - 1], others = s.f[i - 1] - s.f[i];
    bin.t += hits; bin.f += others; bin.sum += (hits + others) * p;
  }
  const used = of.filter(b => b.t + b.f > 0), ends = used.map(b => s.weighted ? [null, null] : rateLimits(b.t, b.t + b.f, levelOf(s)));
  return {prior: share, forecast: used.map(b => b.sum / (b.t + b.f)), observed: used.map(b => b.t / (b.t + b.f)), low: ends.map(e => e[0]), high: ends.map(e => e[1]), rows: used.map(b => (b.t + b.f) * s.weight)};
}
function drawTrust(s) {
  const figure = $("f-reliability"), width = widthOf(figure, SQUARE), c = chart(figure, width, width, [46, 26, 20, 40]);
  Object.assign(trust, {c, s, llrs: [], bins: s.raw ? null : binsOf(s)});
  c.scaleX(0, 1); c.scaleY(0, 1);
  c.ticksY(quarters(), t("axis.observed")); c.ticksX(quarters(), t("axis.forecast"));
  trust.expected = el("path", {class: "expected"}, c.svg);
  c.path([[c.left, c.bottom], [c.right, c.top]], "blind dot");
  trust.line = el("path", {class: `curve c${s.place % 8}`}, c.svg);
  trust.marks = el("path", {class: "here"}, c.svg);
  trust.here = el("path", {class: "here dot"}, c.svg);
  if (s.raw) el("text", {class: "soft", x: c.left + 10, y: c.top + 18}, c.svg, t("raw_no_probability"));
  const h = s.hull;
  for (let i = 0; i + 1 < h.m.length; i++) {
    const hits = (h.m[i + 1] - h.m[i]) / s.T, others = (h.f[i] - h.f[i + 1]) / s.F;
    trust.llrs.push([i ? llrOf(s, h.thresholds[i]) : -Infinity, llrOf(s, h.thresholds[i + 1]), Math.log(hits / others)]);
  }
  describe(figure, () => s.raw ? t("raw_no_probability") : t("says.reliability", {name: called(s.name), inside: short(consistent(trust.bins, levelOf(s))), bins: short(trust.bins.forecast.filter(v => v !== null).length)}),
    () => ({head: ["forecast", "observed", "low", "high", "trials"], rows: s.raw ? [] : trust.bins.forecast.map((v, k) => [v, ...["observed", "low", "high", "rows"].map(key => trust.bins[key]?.[k] ?? null)])}));
}
const chanceOf = (bins, k, level) => { const p = bins.forecast[k], half = -probit((1 - level) / 2) * Math.sqrt(p * (1 - p) / bins.rows[k]); return [Math.max(p - half, 0), Math.min(p + half, 1)]; };
const consistent = (bins, level) => bins.forecast.filter((p, k) => p !== null && bins.observed[k] !== null && chanceOf(bins, k, level)[0] <= bins.observed[k] && bins.observed[k] <= chanceOf(bins, k, level)[1]).length;
function moveTrust(now) {
  const {c, s, bins} = trust;
  if (s.raw) return;
  const odds = logit(state.prior), p = v => oddsShare(v + odds), shift = odds - logit(bins.prior);
  const move = v => v <= 0 || v >= 1 ? v : oddsShare(logit(v) + shift), X = v => c.X(move(v)).toFixed(1), Y = v => c.Y(move(v)).toFixed(1);
  let d = "";
  for (const [from, to, worth] of trust.llrs) {
    const y = c.Y(p(worth)).toFixed(1);
    d += `${d ? "L" : "M"}${c.X(p(from)).toFixed(1)} ${y}L${c.X(p(to)).toFixed(1)} ${y}`;
  }
  trust.line.setAttribute("d", d);
  let marks = "", expected = "";
  bins.forecast.forEach((at, k) => {
    if (at === null || bins.observed[k] === null) return;
    const x = X(at);
    marks += `M${x - 4} ${Y(bins.observed[k])}h8`;
    if (bins.low[k] !== null && bins.high[k] !== null) marks += `M${x} ${Y(bins.low[k])}V${Y(bins.high[k])}m-3 0h6M${x - 3} ${Y(bins.low[k])}h6`;
    if (bins.rows && !s.weighted) { const [low, high] = chanceOf(bins, k, levelOf(s)); expected += `M${x} ${Y(low)}V${Y(high)}`; }
  });
  trust.marks.setAttribute("d", marks); trust.expected.setAttribute("d", expected);
  const x = c.X(p(now.llr));
  trust.here.setAttribute("d", Number.isFinite(x) ? `M${x.toFixed(1)} ${c.top}V${c.bottom}` : "");
}

// ---- a thousand cases, one sign each
const icons = {}, ICONS = 1000;
function drawIcons(s) {
  const figure = $("f-icons"), width = widthOf(figure, 620), across = printing ? 50 : 40, cell = width / across;
  const c = chart(figure, width, Math.round(cell * ICONS / across) + 46, [0, 4, 0, 42]);
  Object.assign(icons, {c, cell, across, key: ""});
  icons.paths = ["reject", "alarm", "miss", "hit"].map(kind => el("path", {class: `icon ${kind}`}, c.svg));
  icons.words = [0, 1].map(k => el("text", {class: "soft", x: 0, y: c.bottom + 18 + 17 * k}, c.svg));
  describe(figure, () => icons.words.map(node => node.textContent).join(" "), () => ({head: ["outcome", "of_1000"], rows: Object.entries(icons.counts)}));
}
function moveIcons(s, now) {
  const targets = apportioned(ICONS, [state.prior, 1 - state.prior])[0], [hit, miss] = apportioned(targets, [s.T - now.m, now.m]), [alarm, reject] = apportioned(ICONS - targets, [now.f, s.F - now.f]);
  const key = [hit, miss, alarm, reject].join(" "), {cell, across} = icons;
  icons.counts = {hit, miss, alarm, reject};
  if (key === icons.key) return;
  icons.key = key;
  const r = (cell * 0.3).toFixed(1), signs = {hit: `m-${r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 -${2 * r} 0`, alarm: `m-${r} -${r}l${2 * r} ${2 * r}m0 -${2 * r}l-${2 * r} ${2 * r}`, reject: "h.01"};
  signs.miss = signs.hit;
  const d = {hit: "", miss: "", alarm: "", reject: ""};
  let i = 0;
  for (const kind of ["hit", "miss", "alarm", "reject"]) for (let n = icons.counts[kind]; n > 0; n--, i++) d[kind] += `M${((i % across + 0.5) * cell).toFixed(1)} ${(4 + (Math.floor(i / across) + 0.5) * cell).toFixed(1)}${signs[kind]}`;
  for (const path of icons.paths) path.setAttribute("d", d[path.getAttribute("class").split(" ")[1]]);
  icons.words[0].textContent = t("icons.targets", {targets: group(targets), hit: group(hit), miss: group(miss)});
  icons.words[1].textContent = t("icons.others", {others: group(ICONS - targets), alarm: group(alarm), reject: group(reject)});
}

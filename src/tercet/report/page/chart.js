// ---- a small chart: a frame with two scales and axes in words
function el(name, attributes, parent, text) {
  const node = document.createElementNS(NS, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}
const partOf = (v, low, high) => (v / 2 - low / 2) / (high / 2 - low / 2);  // halves, because scores may span all doubles
function chart(figure, width, height, box) {
  const [left, top, right, bottom] = box;
  figure.querySelector("svg")?.remove();
  const svg = el("svg", {viewBox: `0 0 ${width} ${height}`, role: "group"});
  svg.setAttribute("aria-label", figure.querySelector("h2").textContent);
  figure.append(svg);
  const clip = el("clipPath", {id: `clip-${figure.id}`}, svg);
  el("rect", {x: left, y: top, width: width - left - right, height: height - top - bottom}, clip);
  const to = (low, high, a, b) => v => { const part = clamp(partOf(v, low, high), -99, 99); return a * (1 - part) + b * part; };
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
      el("text", {class: "soft", x: 0, y: top - 11}, svg, words);
    },
    path(points, cls) { return el("path", {class: cls, d: line(points), "clip-path": `url(#${clip.id})`}, svg); },
    band(upper, lower, cls) { const path = this.path([...upper, ...lower.reverse()], `band ${cls}`); path.setAttribute("d", `${path.getAttribute("d")}Z`); }};
}
const line = points => points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
// Both edges of a band, where both exist.
const bothEnds = (across, ends, place) => ends.map(edge => across.flatMap((x, k) => ends.some(e => e[k] === null) ? [] : [place(real(x), real(edge[k]))]));

// A number as a point with its interval as a line, on a scale that it shares with its column.
const BAR = 84;
function intervalBar(parent) {
  const svg = el("svg", {class: "interval", viewBox: `0 0 ${BAR} 12`, width: BAR, height: 12, "aria-hidden": "true"}, parent);
  el("path", {class: "track", d: `M0 6H${BAR}`}, svg);
  const [blind, filled, range, point] = ["blind", "filled", "range", "point"].map(kind => el("path", {class: kind}, svg));
  return {svg, fill(value, ends, [from, to], mark) {
    const x = v => (2 + (BAR - 4) * clamp((v - from) / (to - from), 0, 1)).toFixed(1);
    filled.setAttribute("d", from === 0 ? `M${x(0)} 6H${x(value)}` : "");
    blind.setAttribute("d", mark === undefined ? "" : `M${x(mark)} 1v10`);
    range.setAttribute("d", ends ? `M${x(ends[0])} 3v6M${x(ends[0])} 6H${x(ends[1])}M${x(ends[1])} 3v6` : "");
    point.setAttribute("d", `M${x(value)} 2v8`);
  }};
}
const finite = values => values.filter(v => Number.isFinite(v));
const costScale = values => [0, Math.max(1, ...finite(values))];
function nice(low, high, count) {
  const raw = high / count - low / count, unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(k => k * unit).find(k => k >= raw), ticks = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) ticks.push([v, String(Number(v.toPrecision(6))).replace("-", "−")]);
  return ticks;
}
const clamp = (v, low, high) => Math.min(Math.max(v, low), high);
const narrow = () => matchMedia("screen and (max-width:820px)").matches;  // as the style has it

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

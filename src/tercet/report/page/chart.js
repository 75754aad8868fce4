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

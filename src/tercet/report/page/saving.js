// ---- saving: everything that leaves the page is whole
function deliver(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
const download = (name, type, text) => deliver(name, new Blob([text], {type}));
const plain = v => Number.isFinite(v) ? v : Number.isNaN(v) ? null : v > 0 ? "inf" : "-inf";
function unpacked() {  // the document as `tercet evaluate --json` writes it
  const copy = structuredClone(DATA), list = array => Array.from(array, plain);
  for (const s of copy.systems.filter(one => one.curve)) {
    for (const part of [s.curve, s.curve.hull]) {
      for (const key of ["thresholds", "llrs", "misses"]) if (part[key]) part[key] = list(numbers(part[key]));
      part.false_alarms = Array.from(falling(part.false_alarms));
      if (part.path) part.path = pathOf(part.path, part.thresholds.length);
    }
    const h = s.histogram, n = h.targets.bins.length;
    h.edges = Array.from({length: n ? n + 1 : 0}, (_, i) => { const part = i === n ? 1 : i * (1 / n); return n === 1 ? h.low : h.low * (1 - part) + h.high * part; });
    delete h.low; delete h.high;
  }
  for (const {posteriors: kept, classes} of copy.systems.filter(one => one.posteriors)) {
    const values = list(rowsOf(kept)), K = classes.length;
    kept.log_likelihoods = Array.from({length: values.length / K}, (_, r) => values.slice(r * K, (r + 1) * K));
    delete kept.step;
    if (kept.weights) kept.weights = list(weightsOf(kept));
  }
  for (const s of copy.systems.filter(one => one.within)) {
    const [whole, name] = s.within;
    delete s.within;
    (copy.systems[whole].versus ??= []).push({...s, name});
  }
  copy.systems = copy.systems.filter((_, i) => !DATA.systems[i].within);
  for (const s of copy.systems) delete s.lacking;
  for (const key of ["points", "words"]) delete copy[key];
  return copy;
}
const operatingPoint = () => `${called(SYSTEMS[state.s].name)}; ${t("saved_point", {prior: percent(state.prior), fn: short(state.fn), fp: short(state.fp), threshold: thresholdWords(SYSTEMS[state.s], now().threshold, now().llr)})}`;
function asCsv(head, rows) {
  const cell = v => { const text = String(typeof v === "number" ? plain(v) : v ?? ""); return `"${(/^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? "'" + text : text).replace(/"/g, '""')}"`; };
  return [head, ...rows].map(row => row.map(cell).join(",")).join("\r\n") + "\r\n";
}
function csv() {
  const head = ["system", "prior", "cost_fn", "cost_fp", "rule", "threshold_score", "threshold_llr", "fnr", "fpr", "dcf_u", "dcf", "min_dcf", "actual_minus_min", "ppv", "eer", "auc", "cllr", "min_cllr"];
  const ends = ["fnr", "fpr", "dcf_u", "dcf"];
  const rows = SYSTEMS.map(s => {
    const n = factsHere(s), f = s.facts;
    const found = [n.threshold, n.llr, n.fnr, n.fpr, n.dcfu, n.dcf, n.min, n.loss, n.ppv, f.eer.value, f.auc, f.cllr, f.min_cllr];
    return [s.name, state.prior, state.fn, state.fp, n.rule, ...found, ...ends.flatMap(key => n.ends[key.replace("_", "")] ?? ["", ""])];
  });
  return asCsv([...head, ...ends.flatMap(key => [`${key}_low`, `${key}_high`])], rows);
}
function tableCsv(table) {  // any table on the page, as it is shown
  const rows = [...table.rows].map(row => [...row.cells].map(cell => [...cell.childNodes].map(node => node.value ?? node.textContent).map(words => words.trim().replaceAll("\u00a0", " ")).filter(words => words).join(" | ")));
  return asCsv(rows[0], rows.slice(1));
}
function saveTables() {  // a button beside every table of the page
  for (const [i, table] of [...document.querySelectorAll("main table")].entries()) {
    if (table.closest("figure, .task")) continue;
    const title = table.closest("section, details, div.screen")?.querySelector("h2, h3, summary")?.textContent.slice(0, 60) ?? "table";
    const button = labelled(make("button", {type: "button", className: "get-table"}, "CSV"), t("save_table", {title}));
    button.addEventListener("click", () => download(`table-${i + 1}.csv`, "text/csv", tableCsv((table.isConnected ? table : $("compare").querySelector("table")))));
    table.closest(".wide")?.before(button);
    titled(table);
  }
}
const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "paint-order", "opacity", "font-family", "font-size", "font-weight", "font-variant-numeric", "text-anchor", "visibility"];
const HEAD = 44;  // pixels above a saved drawing, for its title and the operating point
function standalone(figure) {  // styles become attributes, so that the drawing looks the same anywhere; title and operating point above
  const svg = figure.querySelector("svg"), copy = svg.cloneNode(true), from = svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const key of DRAWN) to[i].setAttribute(key, style.getPropertyValue(key));
    for (const name of [...to[i].getAttributeNames()]) if (/^(class|tabindex|role|aria-.*)$/.test(name)) to[i].removeAttribute(name);
  });
  const {width, height} = svg.viewBox.baseVal, style = getComputedStyle(figure.querySelector("h3")), ink = style.color, family = style.fontFamily;
  for (const name of ["role", "aria-describedby", "class"]) copy.removeAttribute(name);
  copy.setAttribute("xmlns", NS); copy.setAttribute("viewBox", `0 ${-HEAD} ${width} ${height + HEAD}`);
  copy.setAttribute("width", width); copy.setAttribute("height", height + HEAD);
  copy.prepend(el("desc", {}, null, FIGURES.get(figure)?.says() ?? ""), el("rect", {x: 0, y: -HEAD, width, height: height + HEAD, fill: getComputedStyle(document.body).backgroundColor}));
  el("text", {x: 0, y: 16 - HEAD, fill: ink, "font-family": family, "font-size": "14px", "font-weight": "600"}, copy, figure.querySelector("h3").textContent);
  el("text", {x: 0, y: 33 - HEAD, fill: ink, "font-family": family, "font-size": "12px"}, copy, operatingPoint());
  return {text: new XMLSerializer().serializeToString(copy), width, height: height + HEAD};
}
function saveFigure(figure, kind) {
  const name = figure.id.slice(2), {head, rows} = kind === "csv" ? FIGURES.get(figure).table() : {};
  if (kind === "csv") return download(`${name}.csv`, "text/csv", asCsv(head, rows));
  const {text, width, height} = standalone(figure);
  if (kind === "svg") return download(`${name}.svg`, "image/svg+xml", text);
  const image = new Image(), canvas = make("canvas", {width: 2 * width, height: 2 * height});
  image.onload = () => { const pen = canvas.getContext("2d"); pen.scale(2, 2); pen.drawImage(image, 0, 0, width, height); canvas.toBlob(blob => deliver(`${name}.png`, blob)); };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

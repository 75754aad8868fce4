// ---- saving
function download(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
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
    const values = list(doubles(kept.log_likelihoods)), K = classes.length;
    kept.log_likelihoods = Array.from({length: values.length / K}, (_, r) => values.slice(r * K, (r + 1) * K));
    if (kept.weights) kept.weights = list(doubles(kept.weights));
  }
  for (const s of copy.systems.filter(one => one.within)) {
    const [whole, name] = s.within;
    delete s.within;
    (copy.systems[whole].versus ??= []).push({...s, name});
  }
  copy.systems = copy.systems.filter((_, i) => !DATA.systems[i].within);
  delete copy.points;
  return copy;
}
const operatingPoint = () => `${called(SYSTEMS[state.s].name)}; prior ${percent(state.prior)}, costs ${short(state.fn)} : ${short(state.fp)} (miss : false alarm)`;
function csv() {
  const cell = v => { const t = String(v ?? ""); return `"${(/^[=+\-@\t\r]/.test(t) && Number.isNaN(Number(t)) ? "'" + t : t).replace(/"/g, '""')}"`; };
  const head = ["system", "prior", "cost_fn", "cost_fp", "rule", "threshold_score", "threshold_llr", "fnr", "fpr", "dcf_u", "dcf", "min_dcf", "actual_minus_min", "ppv", "eer", "auc", "cllr", "min_cllr"];
  const rows = SYSTEMS.map(s => {
    const n = factsHere(s), f = s.facts;
    const found = [n.threshold, n.llr, n.fnr, n.fpr, n.dcfu, n.dcf, n.min, n.loss, n.ppv, f.eer.value, f.auc, f.cllr, f.min_cllr];
    return [s.name, state.prior, state.fn, state.fp, n.rule, ...found.map(v => typeof v === "number" ? plain(v) : v)];
  });
  return [head, ...rows].map(row => row.map(cell).join(",")).join("\r\n") + "\r\n";
}
const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "paint-order", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "visibility"];
const HEAD = 44;  // pixels above a saved drawing, for its title and the operating point
function standalone(figure) {  // styles become attributes, so that the drawing looks the same anywhere; title and operating point above
  const svg = figure.querySelector("svg"), copy = svg.cloneNode(true), from = svg.querySelectorAll("*"), to = copy.querySelectorAll("*");
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const key of DRAWN) to[i].setAttribute(key, style.getPropertyValue(key));
    for (const key of ["class", "tabindex", "role"]) to[i].removeAttribute(key);
  });
  const {width, height} = svg.viewBox.baseVal, look = getComputedStyle(figure.querySelector("h2")), ink = look.color, family = look.fontFamily;
  copy.setAttribute("xmlns", NS); copy.setAttribute("viewBox", `0 ${-HEAD} ${width} ${height + HEAD}`);
  copy.setAttribute("width", width); copy.setAttribute("height", height + HEAD);
  copy.prepend(el("rect", {x: 0, y: -HEAD, width, height: height + HEAD, fill: getComputedStyle(document.body).backgroundColor}));
  el("text", {x: 0, y: 16 - HEAD, fill: ink, "font-family": family, "font-size": "14px", "font-weight": "600"}, copy, figure.querySelector("h2").textContent);
  el("text", {x: 0, y: 33 - HEAD, fill: ink, "font-family": family, "font-size": "12px"}, copy, operatingPoint());
  return new XMLSerializer().serializeToString(copy);
}

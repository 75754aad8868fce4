// ---- words and tables
function show(id, value, text) {
  const node = $(id);
  node.textContent = text ?? short(value);
  node.title = node.dataset.value = String(value);
}
function sentence(node, s, now, opening) {
  const bold = text => { const b = document.createElement("b"); b.textContent = text; return b; };
  node.replaceChildren(opening, bold(s.name ?? "this system"));
  const how = {bayes: "", min: " at its best threshold", manual: " at your threshold", fpr: ` with at most ${percent(state.bound)} false alarms`}[now.rule];
  if (now.dcf > 1) node.append(`${how} costs `, bold(short(now.dcf)), " of deciding blindly: it does harm here. ");
  else if (now.dcf === 1) node.append(`${how} costs just what deciding blindly would cost. `);
  else node.append(`${how} costs `, bold(short(now.dcf)), " of what deciding blindly would cost. ");
  if (now.rule === "min") return;
  node.append("The best threshold: ", bold(short(now.min)), ". ");
  const part = now.dcf > 0 ? now.loss / now.dcf : 0;
  if (now.rule === "bayes") node.append(part < 0.005 ? "Next to nothing is lost to calibration." : `${Math.round(100 * part)} % of its cost comes from poor calibration.`);
}
const verdicts = [];
function drawVerdicts() {
  const box = $("verdict");
  box.replaceChildren();
  verdicts.length = 0;
  const shown = SYSTEMS.filter((s, i) => i === state.s || SYSTEMS.length <= 4).sort((a, b) => (b.place === state.s) - (a.place === state.s));
  shown.forEach((s, i) => {
    const p = document.createElement("p");
    if (i) p.className = "more";
    box.append(p);
    verdicts.push([p, s]);
  });
}
const COLUMNS = [["system", r => r.name, t => t], ["cost here", r => r.now.dcf, short], ["at best", r => r.now.min, short], ["lost", r => r.now.loss, short],
  ["misses", r => r.now.fnr, percent], ["false alarms", r => r.now.fpr, percent], ["EER", r => r.s.facts.eer.value, percent], ["AUC", r => r.s.facts.auc, short],
  ["Cllr, bits", r => r.s.facts.cllr === null ? null : real(r.s.facts.cllr), short], ["min Cllr", r => r.s.facts.min_cllr, short]];
const sorting = {by: null, down: false};
function drawComparison() {
  const table = document.createElement("table"), head = table.createTHead().insertRow();
  COLUMNS.forEach(([title], k) => {
    const th = document.createElement("th"), button = document.createElement("button");
    th.scope = "col"; button.type = "button"; button.textContent = title;
    button.addEventListener("click", () => { sorting.down = sorting.by === k && !sorting.down; sorting.by = k; fillComparison(true); });
    th.append(button); head.append(th);
  });
  sorting.body = table.createTBody(); sorting.head = head;
  const box = document.createElement("div");
  box.className = "wide";
  box.append(table);
  $("compare").replaceChildren($("compare").querySelector("h2"), box);
  sorting.rows = SYSTEMS.map(s => {
    const row = sorting.body.insertRow(), cells = COLUMNS.map((_, k) => {
      const cell = k ? row.insertCell() : document.createElement("th");
      if (!k) { cell.scope = "row"; row.append(cell); const key = document.createElement("span"); key.className = `key k${s.place % 6}`; cell.append(key, s.name ?? "this system"); }
      return cell;
    });
    // The cost as a bar: as used (light), at best (dark); the frame's width is deciding blindly.
    const number = document.createElement("span"), bar = document.createElement("span"), used = document.createElement("i"), best = document.createElement("i");
    bar.className = "bar"; bar.append(used, best); cells[1].append(number, bar);
    return {s, row, cells, number, used, best};
  });
}
function fillComparison(sort) {
  for (const r of sorting.rows) {
    r.now = facts(r.s, state);
    COLUMNS.forEach(([, value, words], k) => { if (k) { const v = value({...r, name: r.s.name}); (k === 1 ? r.number : r.cells[k]).textContent = words(v); r.cells[k].title = String(v); } });
    r.used.style.width = `${clamp(r.now.dcf, 0, 1) * 100}%`;
    r.best.style.width = `${clamp(r.now.min, 0, 1) * 100}%`;
    r.row.className = r.s.place === state.s ? "chosen" : "";
  }
  if (!sort || sorting.by === null) return;
  const value = r => COLUMNS[sorting.by][1]({...r, name: r.s.name ?? ""}), sign = sorting.down ? -1 : 1;
  const order = [...sorting.rows].sort((a, b) => { const x = value(a), y = value(b); return sign * (x === y ? 0 : x === null ? 1 : y === null ? -1 : x < y ? -1 : 1); });
  for (const r of order) sorting.body.append(r.row);
  [...sorting.head.children].forEach((th, k) => k === sorting.by ? th.setAttribute("aria-sort", sorting.down ? "descending" : "ascending") : th.removeAttribute("aria-sort"));
}

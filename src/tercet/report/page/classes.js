// ---- several classes: priors and costs to edit, counted on the rows that were put in when asked for by name
const TINY = 1e-290;  // two expected costs below this may differ by what underflow took
function total(values) {  // a sum that keeps what rounding drops
  let sum = 0, lost = 0;
  for (const v of values) { const next = sum + v; lost += Math.abs(sum) >= Math.abs(v) ? sum - next + v : v - next + sum; sum = next; }
  return sum + lost;
}
const firstLeast = values => { let at = 0; for (let i = 1; i < values.length; i++) if (values[i] < values[at]) at = i; return at; };
const addLogs = (a, b) => a === b ? a + Math.LN2 : Number.isFinite(a) && Number.isFinite(b) ? Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b))) : Math.max(a, b);
function largestDecides(costs) {  // wrong decisions all cost the same, right ones nothing: no exponential is needed
  const wrong = costs.length > 1 ? costs[1][0] : 0;
  return costs.length === costs[0].length && costs.every((row, i) => row.every((c, j) => c === (i === j ? 0 : wrong)));
}
function task(facts, place) {
  const kept = facts.posteriors, classes = facts.classes, even = classes.map(() => 1 / classes.length);
  const named = {"equal priors, every error costs 1": (i, j) => i === j ? 0 : 1, "equal priors, costs by distance": (i, j) => Math.abs(i - j)};
  const choices = [...facts.applications.map((a, i) => ({...a, label: `application ${i + 1}, as evaluated`})),
    ...Object.entries(named).map(([label, cost]) => ({label, priors: even, actions: classes, costs: classes.map((_, i) => classes.map((_, j) => cost(i, j)))}))];
  return {facts, place, choices, labels: kept.labels, rows: doubles(kept.log_likelihoods), weights: kept.weights && doubles(kept.weights), ...edited(choices, 0)};
}
const boxed = v => Number(v.toPrecision(5));
const edited = (choices, choice) => ({choice, prior: [...choices[choice].priors], costs: choices[choice].costs.map(row => [...row]), actions: choices[choice].actions});
function decided(t) {  // the action of least expected cost for each row, the lowest number on ties
  const {rows, prior, costs} = t, K = prior.length, logs = prior.map(Math.log), simple = largestDecides(costs);
  const scale = 2 ** -(Math.floor(Math.log2(Math.max(...costs.flat()))) + 1), scaled = costs.map(row => row.map(c => c * scale));
  const joint = new Float64Array(K), shares = new Float64Array(K), prices = new Float64Array(costs.length), out = new Int32Array(rows.length / K);
  for (let r = 0; r < out.length; r++) {
    for (let k = 0; k < K; k++) { joint[k] = rows[r * K + k] + logs[k]; shares[k] = simple ? -joint[k] : Math.exp(joint[k]); }
    if (simple) { out[r] = firstLeast(shares); continue; }
    let vanishing = 0;
    for (let a = 0; a < scaled.length; a++) {
      let sum = 0;
      for (let k = 0; k < K; k++) sum += scaled[a][k] * shares[k];
      prices[a] = sum;
      if (sum < TINY) vanishing++;
    }
    out[r] = firstLeast(vanishing > 1 ? scaled.map(row => row.reduce((sum, c, k) => addLogs(sum, Math.log(c) + joint[k]), -Infinity)) : prices);
  }
  return out;
}
function judged(t) {  // everything that is shown of a task; an evaluated application gives the package's own numbers
  const known = t.facts.applications.find(a => String(a.priors) === String(t.prior) && String(a.costs) === String(t.costs));
  if (known) return {...numeric(known), contributions: known.contributions?.map(real) ?? null, known: true};
  const confusion = t.costs.map(() => t.prior.map(() => 0)), chosen = decided(t);
  chosen.forEach((a, r) => { confusion[a][t.labels[r]] += t.weights ? t.weights[r] : 1; });
  const sizes = t.prior.map((_, j) => total(confusion.map(row => row[j]))), missing = sizes.indexOf(0);
  const blind = t.costs.map(row => total(row.map((c, j) => c * t.prior[j]))), dummy = firstLeast(blind);
  const found = {confusion, dummy_cost: blind[dummy], dummy_action: t.actions[dummy], contributions: null, risk: null, dcf: null};
  if (missing >= 0) return {...found, why: `there are no trials of ${called(t.facts.classes[missing])}`};
  found.contributions = t.prior.map((p, j) => p * total(confusion.map((row, i) => row[j] / sizes[j] * t.costs[i][j])));
  found.risk = total(found.contributions);
  return blind[dummy] === 0 ? {...found, why: "deciding without the scores costs nothing"} : {...found, dcf: found.risk / blind[dummy]};
}

// ---- its controls and tables
function rowOf(title, cells) { return make("tr", {}, make("th", {scope: "row"}, title), ...cells.map(cell => make("td", {}, cell))); }
const headOf = names => make("thead", {}, make("tr", {}, make("td", {}), ...names.map(name => make("th", {scope: "col"}, name))));
function drawTask(t) {
  const names = t.facts.classes.map(called), actions = t.actions.map(called), edit = change => { Object.assign(t, change, {edited: true}); toHash(); soon(t); };
  const setPrior = (j, p) => {  // the others keep their proportions
    const rest = total(t.prior.filter((_, k) => k !== j));
    edit({prior: t.prior.map((q, k) => k === j ? p : q / rest * (1 - p))});
  };
  const withCost = (i, j, c) => t.costs.map((row, a) => row.map((old, k) => a === i && k === j ? c : old));
  const readCost = (i, j) => text => within(text === "" ? NaN : Number(text), c => c >= 0 && withCost(i, j, c).flat().some(v => v > 0));
  const input = (properties, label) => labelled(make("input", {...properties, autocomplete: "off"}), label);
  const told = make("p", {className: "refused", id: `several-told-${t.place}`});
  const keep = () => { const {prior, costs} = t; return () => edit({prior, costs}); };
  const entered = (limits, label, rules) => { const node = input({type: "number", min: 0, step: "any", ...limits}, label); entry(node, told, {keep, ...rules}); return node; };
  t.sliders = names.map((name, j) => {
    const slider = input({type: "range", min: -9, max: 9, step: 0.01}, `prior of ${name}, log-odds`);
    slider.addEventListener("input", () => setPrior(j, 1 / (1 + Math.exp(-Number(slider.value)))));
    return slider;
  });
  t.boxes = names.map((name, j) => entered({max: 100}, `prior of ${name} in per cent`,
    {read: readPrior, take: p => setPrior(j, p), shown: () => boxed(100 * t.prior[j]), why: WHY.prior}));
  const cost = (i, j) => entered({}, `cost of deciding ${actions[i]} when ${names[j]} is true`,
    {read: readCost(i, j), take: c => edit({costs: withCost(i, j, c)}), shown: () => boxed(t.costs[i][j]), why: WHY.costs});
  t.cells = actions.map((_, i) => names.map((_, j) => cost(i, j)));
  const choice = labelled(make("select", {}, ...t.choices.map((c, i) => option(i, c.label))), "priors and costs to begin with");
  choice.value = t.choice;
  choice.addEventListener("change", () => { Object.assign(t, edited(t.choices, Number(choice.value)), {edited: choice.value !== "0"}); toHash(); drawTask(t); });
  const costs = make("table", {className: "edit"}, make("caption", {}, "your priors, and what each decision costs when each class is true"), headOf(names),
    make("tbody", {}, rowOf("prior", t.sliders), rowOf("in per cent", t.boxes), ...actions.map((action, i) => rowOf(`decide ${action}`, t.cells[i]))));
  t.heat = actions.map(() => names.map(() => make("td", {})));
  const heat = make("table", {className: "heat"}, make("caption", {}, "rows: decision, columns: true class; darker: more of the class"), headOf(names),
    make("tbody", {}, ...actions.map((action, i) => make("tr", {}, make("th", {scope: "row"}, action), ...t.heat[i]))));
  t.rates = names.map(() => [0, 1, 2].map(() => make("td", {})));
  const titles = ["class", "found", "right when decided", "part of the risk"].map(title => make("th", {scope: "col"}, title));
  const rates = make("table", {className: "plain"}, make("thead", {}, make("tr", {}, ...titles)),
    make("tbody", {}, ...names.map((name, j) => make("tr", {}, make("th", {scope: "row"}, name), ...t.rates[j]))));
  t.verdict = make("p", {className: "told"});
  const wide = (...inside) => make("div", {className: "wide"}, ...inside);
  const box = make("div", {className: "task"}, t.verdict, make("div", {className: "pairs"}, wide(choice, costs, told), make("div", {}, wide(heat), wide(rates))));
  const section = $(`several-${t.place}`);
  section.querySelector(".task")?.remove();
  section.querySelector(".kept").before(box);
  fillTask(t);
}
function aboutWords(n, size, labels, j) {  // a cell counted on a sample of the class: two standard errors around it
  const kept = labels.filter(label => label === j).length, part = size ? n / size : 0;
  const around = 2 * size * Math.sqrt(part * (1 - part) / Math.max(kept, 1) * Math.max(1 - kept / size, 0));
  return `about ${group(Math.round(n))} ± ${group(Math.max(Math.round(around), 1))}`;
}
function fillTask(t) {
  const found = judged(t), names = t.facts.classes, put = (node, value) => { if (document.activeElement !== node) node.value = boxed(value); };
  t.sliders.forEach((node, j) => { node.value = logit(t.prior[j]); node.setAttribute("aria-valuetext", percent(t.prior[j])); put(t.boxes[j], 100 * t.prior[j]); });
  t.cells.forEach((row, i) => row.forEach((node, j) => put(node, t.costs[i][j])));
  const name = called(t.facts.name), exact = found.known || t.facts.posteriors.kept === t.facts.posteriors.of, about = exact ? "" : "about ";
  t.verdict.replaceChildren("At these priors and costs ", bold(name), " costs ");
  if (found.dcf === null) t.verdict.append(`something undefined: ${found.why ?? Object.values(found.reasons ?? {})[0] ?? ""}.`);
  else {
    const harm = found.dcf > 1 ? " times what deciding without the scores costs: it does harm here" : " of what deciding without the scores would cost";
    const blind = `always deciding ${called(found.dummy_action)} costs ${short(found.dummy_cost)}`;
    t.verdict.append(about, bold(short(found.dcf)), harm, ` (risk ${about}${short(found.risk)}; ${blind}).`);
  }
  const sizes = names.map((_, j) => total(found.confusion.map(row => row[j])));
  t.heat.forEach((row, i) => row.forEach((cell, j) => {
    const n = found.confusion[i][j];
    cell.textContent = exact ? short(n) : aboutWords(n, sizes[j], t.labels, j); cell.title = cell.dataset.value = String(n);
    cell.className = `h${n ? Math.min(Math.floor(6 * n / sizes[j]), 5) : 0}`;
  }));
  names.forEach((name, j) => {
    const own = found.confusion[t.actions.indexOf(name)], decisions = own ? total(own) : 0;
    const values = [own && sizes[j] ? own[j] / sizes[j] : null, decisions ? own[j] / decisions : null, found.contributions ? found.contributions[j] : null];
    values.forEach((v, k) => { t.rates[j][k].textContent = k < 2 ? percent(v) : short(v); t.rates[j][k].title = String(v); });
  });
  Object.assign(t.verdict.dataset, {dcf: found.dcf, risk: found.risk, blind: found.dummy_cost, action: found.dummy_action, prior: t.prior});
  say(`${name}: ${t.verdict.textContent}`);
}
function soon(t) {
  if (t.waiting) return;
  t.waiting = true;
  requestAnimationFrame(() => { t.waiting = false; fillTask(t); });
}
const taskHash = t => [t.choice, t.prior, t.costs].join("~");
function taskFromHash(t, words) {  // refused whole unless it is a sound task
  Object.assign(t, edited(t.choices, 0), {edited: false});
  const [choice, prior, costs] = (words ?? "").split("~").map(part => part.split(",").map(Number));
  const known = t.choices[choice?.[0]];
  if (!known || !prior || !costs) return;
  const width = known.priors.length, height = known.costs.length;
  const fits = prior.length === width && costs.length === width * height;
  const prices = costs.every(c => c >= 0 && Number.isFinite(c)) && costs.some(c => c > 0);
  const sound = fits && prices && prior.every(p => p > 0 && p < 1) && Math.abs(total(prior) - 1) < 1e-6;
  if (sound) Object.assign(t, edited(t.choices, choice[0]), {prior, costs: known.costs.map((_, i) => costs.slice(i * width, (i + 1) * width)), edited: true});
}

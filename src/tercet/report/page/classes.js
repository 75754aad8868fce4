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
  const named = {[t("k.equal")]: (i, j) => i === j ? 0 : 1, [t("k.distance")]: (i, j) => Math.abs(i - j)};
  const choices = [...facts.applications.map((a, i) => ({...a, label: t("k.evaluated", {n: i + 1})})),
    ...Object.entries(named).map(([label, cost]) => ({label, priors: even, actions: classes, costs: classes.map((_, i) => classes.map((_, j) => cost(i, j)))}))];
  return {facts, place, choices, labels: kept.labels, rows: rowsOf(kept), weights: weightsOf(kept), ...edited(choices, 0)};
}
const boxed = v => Number(v.toPrecision(5));
const edited = (choices, choice) => ({choice, prior: [...choices[choice].priors], costs: choices[choice].costs.map(row => [...row]), actions: choices[choice].actions});
function decided(job) {  // the action of least expected cost for each row, the lowest number on ties
  const {rows, prior, costs} = job, K = prior.length, logs = prior.map(Math.log), simple = largestDecides(costs);
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
function judged(job) {  // everything that is shown of a task; an evaluated application gives the package's own numbers
  const known = [...job.facts.applications, ...job.facts.posteriors.exact ?? []].find(a => String(a.priors) === String(job.prior) && String(a.costs) === String(job.costs));
  if (known) return {...numeric(known), contributions: known.contributions?.map(real) ?? null, known: true};
  const confusion = job.costs.map(() => job.prior.map(() => 0)), chosen = decided(job);
  chosen.forEach((a, r) => { confusion[a][job.labels[r]] += job.weights ? job.weights[r] : 1; });
  const sizes = job.prior.map((_, j) => total(confusion.map(row => row[j]))), missing = sizes.indexOf(0);
  const blind = job.costs.map(row => total(row.map((c, j) => c * job.prior[j]))), dummy = firstLeast(blind);
  const found = {confusion, dummy_cost: blind[dummy], dummy_action: job.actions[dummy], contributions: null, risk: null, dcf: null};
  if (missing >= 0) return {...found, why: t("k.no_trials", {name: called(job.facts.classes[missing])})};
  found.contributions = job.prior.map((p, j) => p * total(confusion.map((row, i) => row[j] / sizes[j] * job.costs[i][j])));
  found.risk = total(found.contributions);
  return blind[dummy] === 0 ? {...found, why: t("k.dummy_free")} : {...found, dcf: found.risk / blind[dummy]};
}

// ---- its controls and tables
function rowOf(title, cells) { return make("tr", {}, make("th", {scope: "row"}, title), ...cells.map(cell => make("td", {}, cell))); }
const headOf = names => make("thead", {}, make("tr", {}, make("td", {}), ...names.map(name => make("th", {scope: "col"}, name))));
function drawTask(job) {
  const names = job.facts.classes.map(called), actions = job.actions.map(called), edit = change => { Object.assign(job, change, {edited: true}); toHash(); soon(job); };
  const setPrior = (j, p) => {  // the others keep their proportions
    const rest = total(job.prior.filter((_, k) => k !== j));
    edit({prior: job.prior.map((q, k) => k === j ? p : q / rest * (1 - p))});
  };
  const withCost = (i, j, c) => job.costs.map((row, a) => row.map((old, k) => a === i && k === j ? c : old));
  const readCost = (i, j) => text => within(text === "" ? NaN : Number(text), c => c >= 0 && withCost(i, j, c).flat().some(v => v > 0));
  const input = (properties, label) => labelled(make("input", {...properties, autocomplete: "off"}), label);
  const told = make("p", {className: "refused", id: `several-told-${job.place}`});
  const keep = () => { const {prior, costs} = job; return () => edit({prior, costs}); };
  const entered = (limits, label, rules) => { const node = input({type: "number", min: 0, step: "any", ...limits}, label); entry(node, told, {keep, ...rules}); return node; };
  job.sliders = names.map((name, j) => {
    const slider = input({type: "range", min: -9, max: 9, step: 0.01}, t("k.prior_slider", {name}));
    slider.addEventListener("input", () => setPrior(j, 1 / (1 + Math.exp(-Number(slider.value)))));
    return slider;
  });
  job.boxes = names.map((name, j) => entered({max: 100}, t("k.prior_box", {name}),
    {read: readPrior, take: p => setPrior(j, p), shown: () => boxed(100 * job.prior[j]), why: WHY.prior}));
  const cost = (i, j) => entered({}, t("k.cost_box", {action: actions[i], name: names[j]}),
    {read: readCost(i, j), take: c => edit({costs: withCost(i, j, c)}), shown: () => boxed(job.costs[i][j]), why: WHY.costs});
  job.cells = actions.map((_, i) => names.map((_, j) => cost(i, j)));
  const choice = labelled(make("select", {}, ...job.choices.map((c, i) => option(i, c.label))), t("k.begin"));
  choice.value = job.choice;
  choice.addEventListener("change", () => { Object.assign(job, edited(job.choices, Number(choice.value)), {edited: choice.value !== "0"}); toHash(); drawTask(job); });
  const costs = make("table", {className: "edit"}, make("caption", {}, t("k.edit")), headOf(names),
    make("tbody", {}, rowOf(t("prior"), job.sliders), rowOf(t("in_per_cent"), job.boxes), ...actions.map((action, i) => rowOf(t("k.decide", {action}), job.cells[i]))));
  job.heat = actions.map(() => names.map(() => make("td", {})));
  const heat = make("table", {className: "heat"}, make("caption", {}, t("k.heat")), headOf(names),
    make("tbody", {}, ...actions.map((action, i) => make("tr", {}, make("th", {scope: "row"}, action), ...job.heat[i]))));
  job.rates = names.map(() => [0, 1, 2].map(() => make("td", {})));
  const titles = ["k.class", "k.found", "k.right", "k.part"].map(name => t(name)).map(title => make("th", {scope: "col"}, title));
  const rates = make("table", {className: "plain"}, make("thead", {}, make("tr", {}, ...titles)),
    make("tbody", {}, ...names.map((name, j) => make("tr", {}, make("th", {scope: "row"}, name), ...job.rates[j]))));
  titled(rates);
  job.verdict = make("p", {className: "told"});
  const box = make("div", {className: "task"}, job.verdict, make("div", {className: "pairs"}, wideBox(t("k.edit"), choice, costs, told), make("div", {}, wideBox(t("k.heat"), heat), wideBox(t("k.class"), rates))));
  const section = $(`several-${job.place}`);
  section.querySelector(".task")?.remove();
  section.querySelector(".kept").before(box);
  fillTask(job);
}
function aboutWords(n, size, labels, j) {  // a cell counted on a sample of the class: two standard errors around it
  const kept = labels.filter(label => label === j).length, part = size ? n / size : 0;
  const around = 2 * size * Math.sqrt(part * (1 - part) / Math.max(kept, 1) * Math.max(1 - kept / size, 0));
  return t("k.about", {n: group(Math.round(n)), around: group(Math.max(Math.round(around), 1))});
}
const shareOf = (n, size, exact) => {  // a share of trials with its interval, where trials were counted
  const words = size ? percent(n / size) : t("undefined");
  return exact && size && Number.isInteger(n) && Number.isInteger(size) ? `${words}${inBrackets(rateLimits(n, size, 0.95), percent)}` : words;
};
function fillTask(job) {
  const found = judged(job), names = job.facts.classes, put = (node, value) => { if (document.activeElement !== node) node.value = boxed(value); };
  job.sliders.forEach((node, j) => { node.value = logit(job.prior[j]); node.setAttribute("aria-valuetext", percent(job.prior[j])); put(job.boxes[j], 100 * job.prior[j]); });
  job.cells.forEach((row, i) => row.forEach((node, j) => put(node, job.costs[i][j])));
  const kept = job.facts.posteriors, name = called(job.facts.name), exact = found.known || kept.kept === kept.of && !kept.step, about = exact ? "" : t("about");
  job.verdict.replaceChildren();
  const slots = {name, about, n: short(found.dcf), risk: about + short(found.risk), action: called(found.dummy_action), dummy: short(found.dummy_cost)};
  if (found.dcf === null) rich(job.verdict, "k.undefined", {name, why: found.why ?? Object.values(found.reasons ?? {}).map(sentence => t("core.english", {sentence}))[0] ?? ""});
  else rich(job.verdict, found.dcf > 1 ? "k.harm" : "k.costs", slots);
  const sizes = names.map((_, j) => total(found.confusion.map(row => row[j])));
  job.heat.forEach((row, i) => row.forEach((cell, j) => {
    const n = found.confusion[i][j];
    cell.textContent = exact ? short(n) : aboutWords(n, sizes[j], job.labels, j); cell.title = cell.dataset.value = String(n);
    cell.className = `h${n ? Math.min(Math.floor(6 * n / sizes[j]), 5) : 0}`;
  }));
  names.forEach((name, j) => {
    const own = found.confusion[job.actions.indexOf(name)], decisions = own ? total(own) : 0, part = found.contributions ? found.contributions[j] : null;
    const values = own ? [shareOf(own[j], sizes[j], exact), shareOf(own[j], decisions, exact)] : [t("undefined"), t("undefined")];
    [...values, short(part)].forEach((words, k) => { job.rates[j][k].textContent = words; });
  });
  Object.assign(job.verdict.dataset, {dcf: found.dcf, risk: found.risk, blind: found.dummy_cost, action: found.dummy_action, prior: job.prior});
  say(`${name}: ${job.verdict.textContent}`);
}
function soon(job) {
  if (job.waiting) return;
  job.waiting = true;
  requestAnimationFrame(() => { job.waiting = false; fillTask(job); });
}
const taskHash = job => [job.choice, job.prior, job.costs].join("~");
function taskFromHash(job, words) {  // refused whole unless it is a sound task
  Object.assign(job, edited(job.choices, 0), {edited: false});
  const [choice, prior, costs] = (words ?? "").split("~").map(part => part.split(",").map(Number));
  const known = job.choices[choice?.[0]];
  if (!known || !prior || !costs) return;
  const width = known.priors.length, height = known.costs.length;
  const fits = prior.length === width && costs.length === width * height;
  const prices = costs.every(c => c >= 0 && Number.isFinite(c)) && costs.some(c => c > 0);
  const sound = fits && prices && prior.every(p => p > 0 && p < 1) && Math.abs(total(prior) - 1) < 1e-6;
  if (sound) Object.assign(job, edited(job.choices, choice[0]), {prior, costs: known.costs.map((_, i) => costs.slice(i * width, (i + 1) * width)), edited: true});
}

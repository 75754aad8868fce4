// ---- boxes for numbers. What is refused is told beside the box, and the view goes back to what it was before the hand
// came: numbers of a half-typed entry would belong to nothing that anyone asked for.
function entry(node, told, {read, take, keep, shown, why}) {
  let back = null;
  const mark = words => {
    told.textContent = words;
    if (!words) { node.removeAttribute("aria-invalid"); node.removeAttribute("aria-describedby"); return; }
    node.setAttribute("aria-invalid", "true"); node.setAttribute("aria-describedby", told.id);
  };
  node.addEventListener("focus", () => { back = keep(); });
  node.addEventListener("change", () => { if (!node.hasAttribute("aria-invalid")) back = keep(); });
  node.addEventListener("input", () => {
    const empty = node.value === "" && !node.validity.badInput, value = empty ? null : read(node.value);
    if (value !== null) { mark(""); take(value); return; }
    back?.();
    mark(empty ? "" : t("refused", {what: node.value || t("refused.this"), why: t(why), kept: shown()}));
  });
  node.addEventListener("blur", () => { node.value = shown(); node.removeAttribute("aria-invalid"); back = null; });
  return () => { mark(""); node.value = shown(); };
}
const within = (value, sound) => Number.isFinite(value) && sound(value) ? value : null;
const readPrior = text => within(readShare(text), p => p > 0 && p < 1);
const WHY = {prior: "why.prior", cost: "why.cost", threshold: "why.threshold", bound: "why.bound", costs: "why.costs", count: "why.count"};

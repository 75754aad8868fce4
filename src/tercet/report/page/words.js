const $ = id => document.getElementById(id);
const DATA = JSON.parse($("data").textContent);
const NS = "http://www.w3.org/2000/svg";
const REACH = 9;  // log-odds up to which costs between kept points are promised

// ---- numbers as words. Three digits are shown; the exact number is in the element's title and data-value.
const group = n => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
function short(x) {
  if (x === null || Number.isNaN(x)) return "undefined";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const a = Math.abs(x);
  let text = a >= 999.5 ? (a < 1e7 ? group(Math.round(a)) : a.toExponential(2)) :
    a < 1e-4 ? a.toExponential(2) : a < 1 ? a.toFixed(2 - Math.floor(Math.log10(a))) : a.toPrecision(3);
  if (a < 999.5 && String(a).length <= text.length) text = String(a);  // 10 and 0.5, not 10.0 and 0.500
  return (x < 0 ? "−" : "") + text;
}
// A name as it may be shown: no control, bidi or other invisible characters, and not endless.
function called(name) {
  const clean = String(name ?? "this system").replace(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, c => `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`);
  return clean.length <= 64 ? clean : `${clean.slice(0, 63)}…`;
}
const percent = x => x === null ? "undefined" : `${short(100 * x)} %`;
const toWords = (ends, words) => ends ? `${words(ends[0])} to ${words(ends[1])}`.replace(" % to ", " to ") : "";
function oneIn(p, noun) {
  const cases = n => noun ? (n === 1 ? " case" : " cases") : "";
  if (p > 0.5) {
    const rest = 1 / (1 - p);
    if (p > 0.99) return `all but 1${cases(1)} in ${group(Math.round(rest))}`;
    return `${short(100 * p)}${cases(2)} in 100`;
  }
  const n = 1 / p, whole = Math.round(n), exact = Math.abs(n - whole) < 1e-6 * n;
  if (n < 9.5 && !exact) return `${short(100 * p)}${cases(2)} in 100`;
  return `${exact ? "" : "about "}1${cases(1)} in ${group(whole)}`;
}
function costWords(fn, fp) {
  if (fn === fp) return "a miss and a false alarm cost the same";
  return fn > fp ? `a miss costs ${short(fn / fp)} times a false alarm` : `a false alarm costs ${short(fp / fn)} times a miss`;
}

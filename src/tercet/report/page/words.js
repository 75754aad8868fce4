const $ = id => document.getElementById(id);
const DATA = JSON.parse($("data").textContent);
const NS = "http://www.w3.org/2000/svg";
const REACH = 9;  // log-odds up to which costs between kept points are promised

// ---- numbers as words. Three digits are shown; the exact number is in the element's title and data-value.
const group = n => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const powers = a => a.toExponential(2).replace(/(?<=e[+-])(?=\d$)/, "0");  // as Python writes them
function short(x) {
  if (x === null || Number.isNaN(x)) return "undefined";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const a = Math.abs(x);
  let text = a >= 999.5 ? (a < 1e7 ? group(Math.round(a)) : powers(a)) :
    a < 1e-4 ? powers(a) : a < 1 ? a.toFixed(2 - Math.floor(Math.log10(a))) : a.toPrecision(3);
  if (a < 999.5 && String(a).length <= text.length) text = String(a);  // 10 and 0.5, not 10.0 and 0.500
  if (Number(text) === 1 && x > 0 && x !== 1) text = beside(a, 1, a - 1);
  return (x < 0 ? "−" : "") + text;
}
// A number that three digits would round to a whole which it is not: as many digits as tell them apart, up to six.
function beside(a, whole, gap) {
  const digits = -Math.floor(Math.log10(Math.abs(gap)));
  if (digits <= 6) return String(Number(a.toFixed(digits)));
  return gap > 0 ? `> ${whole}` : `> ${whole - 1e-6}`;
}
// A name as it may be shown: no control, bidi or other invisible characters, and not endless.
function called(name) {
  const clean = String(name ?? "this system").replace(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, c => `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`);
  return clean.length <= 64 ? clean : `${clean.slice(0, 63)}…`;
}
function percent(x) {  // 0 and 100 only where they are exact
  if (x === null) return "undefined";
  const text = short(100 * x);
  return `${text === "100" && x < 1 ? beside(100 * x, 100, 100 * (x - 1)) : text} %`;
}
const wholePercent = part => part > 0.995 ? percent(part) : `${Math.round(100 * part)} %`;
// What was typed as per cent, as the double nearest to its hundredth: dividing by 100 would round a second time.
function fromPercent(text) {
  const [digits, power] = text.trim().toLowerCase().split("e");
  return digits === "" ? NaN : Number(`${digits}e${Number(power ?? 0) - 2}`);
}
function toWords(ends, words) {
  if (!ends) return "";
  const [low, high] = ends.map(words);
  return low === high ? low : `${low} to ${high}`.replace(" % to ", " to ");
}
function oneIn(p, noun) {
  const cases = n => noun ? (n === 1 ? " case" : " cases") : "";
  const most = p > 0.99, n = 1 / (most ? 1 - p : p), whole = Math.round(n), exact = Math.abs(n - whole) < 1e-6 * n;
  if (!most && (p > 0.5 || n < 9.5 && !exact)) return `${short(100 * p)}${cases(2)} in 100`;
  return `${most ? "all but " : ""}${exact ? "" : "about "}1${cases(1)} in ${n < 1e7 ? group(whole) : short(n)}`;
}
function costWords(fn, fp) {
  if (fn === fp) return "a miss and a false alarm cost the same";
  return fn > fp ? `a miss costs ${short(fn / fp)} times a false alarm` : `a false alarm costs ${short(fp / fn)} times a miss`;
}

const $ = id => document.getElementById(id);
const DATA = JSON.parse($("data").textContent);
const NS = "http://www.w3.org/2000/svg";
const REACH = 9;  // log-odds up to which costs between kept points are promised

// A name as it may be shown: no control, bidi or other invisible characters, and not endless.
function called(name) {
  const clean = String(name ?? "this system").replace(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, c => `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`);
  return clean.length <= 64 ? clean : `${clean.slice(0, 63)}…`;
}
// A share as people type it: per cent with a point or a comma ("0.5", "0,5 %"), "1/100", "1 in 100". NaN if it is none of these.
function readShare(text) {
  const words = text.trim().toLowerCase().replace(/\s*%$/, ""), parts = words.match(/^([\d.,]+)\s*(?:\/|in)\s*([\d.,]+)$/);
  const decimalOf = digits => /^\d*[.,]?\d*(e[+-]?\d+)?$/.test(digits) && /\d/.test(digits) ? digits.replace(",", ".") : NaN;
  if (parts && !text.includes("%")) return Number(decimalOf(parts[1])) / Number(decimalOf(parts[2]));
  const [digits, power] = String(decimalOf(words)).split("e");
  return Number(`${digits}e${Number(power ?? 0) - 2}`);  // its hundredth: dividing by 100 would round a second time
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

const $ = id => document.getElementById(id);
const DATA = JSON.parse($("data").textContent), WORDS_HERE = DATA.words, LANG = document.documentElement.lang;
const differenceOf = ([place, first, second, value, value_ci, p_value, adjusted]) =>
  ({quantity: `applications.${place}.dcf`, first: DATA.comparison.names[first], second: DATA.comparison.names[second], value, value_ci, p_value, adjusted});
if (DATA.comparison) DATA.comparison.differences = DATA.comparison.differences.map(differenceOf);
const NS = "http://www.w3.org/2000/svg";
const REACH = 9;  // log-odds up to which costs between kept points are promised

// Every sentence is in strings.json, in each language; {slots} are filled in, {*bold} ones stand out, and what is in backticks is code.
const ELIDED = {il: "l'", al: "all'", del: "dell'"};  // Italian articles before 8 and 11
function filled(sentence, slots, bold) {
  const words = sentence.replace(/\{(\*?)(\w+)\}/g, (_, star, name) => star && slots[name] ? bold + slots[name] + bold : slots[name] ?? "");
  return LANG === "it" ? words.replace(/\b(il|al|del) (?=\x01?(?:8|11(?![\d.])))/g, (_, article) => ELIDED[article]) : words;
}
const t = (key, slots = {}) => filled(WORDS_HERE[key] ?? key, slots, "");
function rich(node, key, slots) {  // names hold no control character, so that these can mark what is bold and what is code
  filled(WORDS_HERE[key].replaceAll("`", "\x02"), slots, "\x01").split(/([\x01\x02])/).forEach((piece, i, all) => {
    const sign = all[i - 1], inside = i % 4 === 2;
    if (i % 2 === 0 && piece) node.append(inside ? make(sign === "\x01" ? "b" : "code", {}, piece) : piece);
  });
  node.append(" ");
}
// A name as it may be shown: no control, bidi or other invisible characters, and not endless.
function called(name) {
  const clean = String(name ?? t("this_system")).replace(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, c => `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`);
  return clean.length <= 64 ? clean : `${clean.slice(0, 63)}…`;
}
// A share as people type it: per cent with a point or a comma ("0.5", "0,5 %"), "1/100", "1 in 100", "1 su 100". NaN if it is not one of these.
function readShare(text) {
  const words = text.trim().toLowerCase().replace(/\s*%$/, ""), parts = words.match(/^([\d.,]+)\s*(?:\/|in|su)\s*([\d.,]+)$/);
  const decimalOf = digits => /^\d*[.,]?\d*(e[+-]?\d+)?$/.test(digits) && /\d/.test(digits) ? digits.replace(",", ".") : NaN;
  if (parts && !text.includes("%")) return Number(decimalOf(parts[1])) / Number(decimalOf(parts[2]));
  const [digits, power] = String(decimalOf(words)).split("e");
  return Number(`${digits}e${Number(power ?? 0) - 2}`);  // its hundredth: dividing by 100 would round a second time
}
function toWords(ends, words) {
  if (!ends) return "";
  const [low, high] = ends.map(words);
  return low === high ? low : t("to", {low: high.endsWith("%") ? low.replace(/\s%$/, "") : low, high});
}
const inBrackets = (ends, words) => ends ? ` (${toWords(ends, words)})` : "";
function shareWords(p, kind = "share") {  // "1 in 100", or with kind "cases": "1 case in 100 is a target"
  const most = p > 0.99, n = 1 / (most ? 1 - p : p), whole = Math.round(n), exact = Math.abs(n - whole) < 1e-6 * n;
  if (!most && (p > 0.5 || n < 9.5 && !exact)) return t(`${kind}.of`, {n: short(100 * p)});
  return t(`${kind}.${most ? "but" : "one"}${exact ? "" : "_about"}`, {n: n < 1e7 ? group(whole) : short(n)});
}
function costWords(fn, fp) {
  if (fn === fp) return t("cost.same");
  return fn > fp ? t("cost.miss", {n: short(fn / fp)}) : t("cost.alarm", {n: short(fp / fn)});
}

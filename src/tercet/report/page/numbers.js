// ---- how numbers are written: the rule of report/numbers.py, to the same letters. A double is taken by its shortest decimal
// form, its digits are rounded once, half to even, to three. `decimal` is [digits, exponent]: 0.d1d2d3... x 10^exponent.
function decimal(a) {
  const [mantissa, power = "0"] = String(a).split("e"), [whole, rest = ""] = mantissa.split(".");
  const digits = (whole + rest).replace(/^0+/, ""), zeros = (whole + rest).length - digits.length;
  return [digits.replace(/0+$/, ""), whole.length - zeros + Number(power)];
}
function rounded([digits, exponent], count) {  // to this many digits, half to even
  if (count < 0) return ["", 0];
  const kept = digits.slice(0, count).padEnd(count, "0"), rest = digits.slice(count);
  const odd = count > 0 && Number(kept[count - 1]) % 2 === 1, half = rest === "5" ? odd : rest[0] >= "5";
  if (!half) return [kept, exponent];
  const up = String(BigInt("1" + kept) + 1n);
  return up[0] === "1" ? [up.slice(1), exponent] : [("1" + up.slice(1)).slice(0, Math.max(count, 1)), exponent + 1];
}
function plainDigits([digits, exponent]) {  // without an exponent
  if (exponent <= 0) return `0.${"0".repeat(-exponent)}${digits}`;
  const filled = digits.padEnd(exponent, "0");
  return filled.length > exponent ? `${filled.slice(0, exponent)}.${filled.slice(exponent)}` : filled;
}
const trimmed = text => text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
const grouped = n => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
// Italian writes 1.234,5 where English writes 1,234.5.
const local = text => LANG === "it" ? text.replace(/[.,]/g, sign => sign === "." ? "," : ".") : text;
const group = n => local(grouped(n));
function powers([digits, exponent]) {
  const e = exponent - 1;
  return `${digits[0]}.${digits.slice(1).padEnd(2, "0")}e${e < 0 ? "-" : "+"}${String(Math.abs(e)).padStart(2, "0")}`;
}
function positiveWords(d, besideOne) {
  const [digits, exponent] = d;
  if (!digits) return "0";
  const three = rounded(d, 3);
  if (three[1] > 3) {
    if (exponent > 7) return powers(three);
    const whole = rounded(d, exponent);
    return grouped(whole[0].padEnd(whole[1], "0"));
  }
  if (exponent < -3) return powers(three);
  const text = digits.length <= 3 ? trimmed(plainDigits(d)) : plainDigits(three);
  return Number(text) === 1 && plainDigits(d) !== "1" && trimmed(plainDigits(d)) !== "1" && besideOne ? beside(d, 1) : text;
}
// A number that three digits would round to a whole which it is not: as many decimals as tell them apart, up to six.
function beside(d, whole) {
  const scale = 10n ** 340n, [digits, exponent] = d, shift = 340 + exponent - digits.length;
  const exact = shift >= 0 ? BigInt(digits) * 10n ** BigInt(shift) : BigInt(digits) / 10n ** BigInt(-shift);
  const gap = exact - BigInt(whole) * scale, places = 341 - String(gap < 0n ? -gap : gap).length;
  if (places <= 6) {
    const text = trimmed(plainDigits(rounded(d, exponent + places)));
    if (Number(text) !== whole) return text;
  }
  return gap > 0n ? `> ${whole}` : `> ${whole - 1}.999999`;
}
function short(x) {
  if (x === null || Number.isNaN(x)) return t("undefined");
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  return (x < 0 ? "−" : "") + local(positiveWords(decimal(Math.abs(x)), x > 0));
}
function percent(x) {  // 0 and 100 only where they are exact
  if (x === null || Number.isNaN(x)) return t("undefined");
  const [digits, exponent] = decimal(Math.abs(x)), d = [digits, exponent + 2], text = positiveWords(d, true);
  return `${x < 0 ? "−" : ""}${local(text === "100" && !(digits === "1" && exponent === 1) ? beside(d, 100) : text)}\u00a0%`;  // the sign stays on the line of its number
}
function apportioned(total, parts) {  // whole numbers that add up, by largest remainder, the first on ties
  const whole = parts.reduce((a, b) => a + b, 0);
  if (whole === 0) return parts.map(() => 0);
  const exact = parts.map(part => total * part / whole), cells = exact.map(Math.floor);
  const order = [...parts.keys()].sort((a, b) => cells[a] - exact[a] - (cells[b] - exact[b]) || a - b);
  for (const k of order.slice(0, total - cells.reduce((a, b) => a + b, 0))) cells[k]++;
  return cells;
}

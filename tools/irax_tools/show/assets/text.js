// Text for people: numbers, and code with colours.

const $ = (id) => document.getElementById(id);

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escapeHtml = (text) => text.replace(/[&<>"]/g, (c) => ENTITIES[c]);

// 0.5, 12, 1.2k, 123M: three digits are enough to compare.
function short(number) {
  if (number < 1000) return String(Math.round(number * 10) / 10);
  let unit = -1;
  while (number >= 999.5 && unit < 5) {
    number /= 1000;
    unit++;
  }
  return number.toPrecision(3) + "kMGTPE"[unit];
}

const exact = (number) => number.toLocaleString("en-US");
const plural = (count, thing) => `${exact(count)} ${thing}${count === 1 ? "" : "s"}`;

const LONGEST_SHOWN = 2000;

const MLIR = new RegExp(
  [
    /(?<string>"(?:[^"\\]|\\.)*")/,
    /(?<value>%[\w$.-]+(?:[:#]\d+)?)/,
    /(?<symbol>@[\w$.-]+)/,
    /(?<type>(?:![\w.]+|\b(?:tensor|memref|vector|complex))<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>|\b(?:[su]?i\d+|b?f\d+\w*|index)\b)/,
    /(?<number>-?\b\d[\w.+-]*)/,
    /(?<alias>[#!][\w.]+)/,
    /(?<key>\b[a-z_]\w*(?= = ))/,
    /(?<word>[A-Za-z_][\w.]*)/,
  ].map((r) => r.source).join("|"),
  "g",
);

// A line of MLIR. `operation` is the one that begins on it; `rewired` numbers those of its values
// that are to stand out.
function mlirHtml(text, operation, rewired) {
  let shown = text.length > LONGEST_SHOWN ? text.slice(0, LONGEST_SHOWN) + "…" : text;
  let html = "", at = 0, named = !operation, values = 0;
  for (const match of shown.matchAll(MLIR)) {
    html += escapeHtml(shown.slice(at, match.index));
    at = match.index + match[0].length;
    const [kind] = Object.entries(match.groups).find(([, found]) => found !== undefined);
    const token = escapeHtml(match[0]);
    if (!named && isName(match[0], operation)) {
      named = true;
      const dot = token.lastIndexOf(".") + 1;
      html += `<span class="dialect">${token.slice(0, dot)}</span><span class="op">${token.slice(dot)}</span>`;
    } else if (kind === "value") {
      const name = match[0].replace(/[:#]\d+$/, "");
      const mark = rewired?.has(values++) ? " rewired" : "";
      html += `<span class="value${mark}" data-value="${name}">${token}</span>`;
    } else {
      html += kind === "word" ? token : `<span class="${kind}">${token}</span>`;
    }
  }
  return html + escapeHtml(shown.slice(at));
}

function isName(word, operation) {
  return word === operation || word === `"${operation}"` || operation === `func.${word}`;
}

const PYTHON = new RegExp(
  [
    /(?<comment>#.*)/,
    /(?<string>[rbfRBF]{0,2}(?:"""(?:[^"]|"(?!""))*(?:"""|$)|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))/,
    /(?<keyword>\b(?:def|return|lambda|for|in|if|elif|else|while|import|from|as|class|with|not|and|or|is|None|True|False|yield|try|except|finally|raise|assert|pass|break|continue|global|nonlocal)\b)/,
    /(?<decorator>^\s*@[\w.]+)/,
    /(?<number>\b\d[\w.]*)/,
  ].map((r) => r.source).join("|"),
  "g",
);

function sourceHtml(text, language) {
  if (language === "mlir") return mlirHtml(text, "");
  if (language !== "python") return escapeHtml(text);
  let html = "", at = 0;
  for (const match of text.matchAll(PYTHON)) {
    const [kind] = Object.entries(match.groups).find(([, found]) => found !== undefined);
    html += escapeHtml(text.slice(at, match.index)) + `<span class="${kind}">${escapeHtml(match[0])}</span>`;
    at = match.index + match[0].length;
  }
  return html + escapeHtml(text.slice(at));
}

// The ground of a number, the darker the larger its share of the largest one.
const heat = (number, most) =>
  number > 0 ? `<i style="opacity:${Math.sqrt(number / (most || 1)).toFixed(2)}"></i>` : "";

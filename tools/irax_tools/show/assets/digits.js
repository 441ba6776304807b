// The digits that hold in the results, and the lines that cost the others.

const digits = PAGE.digits;
const costlyLines = new Map((digits?.lines ?? []).map((line) => [lineKey(line.frame), line]));
const mostDigits = Math.max(0, ...[...costlyLines.values()].map((line) => line.digits));

const digitsText = (number) => (number < 0.05 ? "" : number.toFixed(1));

// What a line costs, beside it.
function lineDigits(key) {
  if (!digits) return "";
  const line = costlyLines.get(key);
  if (!line) return '<span class="cost digits"></span>';
  const title = escapeHtml([madeHere(line), ...line.notes].join("\n"));
  return `<span class="cost digits" title="${title}">${heat(line.digits, mostDigits)}${digitsText(line.digits)}</span>`;
}

const madeHere = ({ digits, own }) =>
  `costs ${digits.toFixed(1)} digits; ${(100 * own).toFixed(0)}% of the error is made here`;

// In full, for a line that is selected.
function digitsOfLine(key) {
  const line = costlyLines.get(key);
  if (!line) return "";
  return `<p class="digits">${[madeHere(line), ...line.notes].map(escapeHtml).join("<br>")}</p>`;
}

// The results, and the lines that cost the most.
function digitsSummary() {
  if (!digits) return "";
  const costly = digits.lines.filter((line) => line.digits >= 0.05 || line.notes.length).slice(0, 10);
  const row = (line) =>
    `<tr><td class="cost digits">${heat(line.digits, mostDigits)}${digitsText(line.digits)}</td>`
    + `<td>${toLine(line.frame)} <span class="muted">${line.notes.map(escapeHtml).join("; ")}</span></td></tr>`;
  const table = "<table><thead><tr><th>digits</th><th>lost on line</th></tr></thead>"
    + `<tbody>${costly.map(row).join("")}</tbody></table>`;
  return `<p class="digits${digits.holds ? "" : " lost"}">${digits.told.map(escapeHtml).join("<br>")}</p>`
    + (costly.length ? table : "");
}

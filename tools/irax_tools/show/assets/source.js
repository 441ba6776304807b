// The lines that operations come from, beside what they cost.

const shownLines = files.map((file) => [...file.shown]); // ranges, which grow
const LONG_SOURCE = 2000; // lines, above which only those in sight are in the document
const countShown = shownLines.flat().reduce((count, [first, last]) => count + last - first + 1, 0);
const SourceList = countShown > LONG_SOURCE ? VirtualList : WrappedList;
const sourceList = new SourceList($("source"), "line", sourceRowHtml, sourceAttributes);

// A row is the head of a file, `{file, head}`, a line of it, `{file, line}`, or stands for lines
// that are not shown, `{file, first, last}`.
function sourceRows() {
  if (!files.length) return [{ note: "The operations do not say which lines they come from." }];
  return files.flatMap(({ lines }, file) => {
    const rows = [{ file, head: true }];
    if (!lines.length) {
      const known = new Set(locations.flat().filter(([f]) => f === file).map(([, line]) => line));
      const found = [...known].sort((a, b) => a - b).map((line) => ({ file, line }));
      return [...rows, { note: "The file is not there to be shown." }, ...found];
    }
    let next = 1;
    for (const [first, last] of [...shownLines[file], [lines.length + 1, lines.length]]) {
      if (first > next) rows.push({ file, first: next, last: first - 1 });
      for (let line = first; line <= last; line++) rows.push({ file, line });
      next = last + 1;
    }
    return rows;
  });
}

function showSource() {
  const rows = sourceRows();
  const longest = rows.reduce((most, { file, line }) =>
    Math.max(most, line ? (files[file].lines[line - 1] ?? "").length : 0), 0);
  const same = (a, b) => a.file === b.file && a.line === b.line && a.first === b.first;
  sourceList.setRows(rows, Math.min(LONGEST_SHOWN, longest) + 30, same);
}

const mostOfLines = memoize((stage) => {
  const costs = [...costsOf(stage).byLine.values()];
  const most = (kind) => costs.reduce((found, cost) => Math.max(found, cost[kind]), 1);
  return { flops: most("flops"), bytes: most("bytes") };
});

const keyOf = ({ file, line }) => (line ? `${file}:${line}` : "");

function sourceAttributes(row, index, current) {
  if (!row.line) return `class="${row.head ? "head" : row.note ? "none" : "more"}${current}"`;
  const key = keyOf(row), isSelected = key === state.source;
  const used = costsOf(state.stage).byLine.has(key) ? " used" : "";
  return `class="line${used}${isSelected ? " linked" : ""}${current}" role="option" aria-selected="${isSelected}" data-key="${key}"`;
}

function sourceRowHtml(row) {
  const { file, line, first, last, note } = row;
  if (note) return escapeHtml(note);
  if (row.head) return `<span title="${escapeHtml(files[file].path)}">${escapeHtml(files[file].name)}</span>`;
  if (!line) return `⋯ ${plural(last - first + 1, "line")}`;
  const { lines, language } = files[file];
  const text = lines[line - 1] ?? "";
  const indent = /^\s*/.exec(text)[0].length + 4; // of what is wrapped
  const cost = costsOf(state.stage).byLine.get(`${file}:${line}`), most = mostOfLines(state.stage);
  const key = `${file}:${line}`;
  return lineDigits(key) + lineTime(key) + lineCost(cost, "flops", most) + lineCost(cost, "bytes", most)
    + `<span class="count" title="${cost ? plural(cost.operations, "operation") : ""}">${cost?.operations ?? ""}</span>`
    + `<span class="number">${line}</span><code style="--indent:${indent}ch">${sourceHtml(text, language)}</code>`;
}

function lineCost(cost, kind, most) {
  const number = cost?.[kind] ?? 0, elements = kind === "flops" ? (cost?.transcendentals ?? 0) : 0;
  if (!number && !elements) return `<span class="cost ${kind}"></span>`;
  const title = plural(number, kind === "flops" ? "flop" : "byte")
    + (elements ? `, ${plural(elements, "transcendental element")}` : "");
  const text = number ? short(number) : `${short(elements)}ᵗ`;
  return `<span class="cost ${kind}" title="${title}">${heat(number, most[kind])}${text}</span>`;
}

const findLine = (key) => sourceList.rows.findIndex((row) => keyOf(row) === key);

// Shows the line, for which more of the file may have to be shown.
function scrollToLine(key) {
  if (findLine(key) < 0) {
    const [file, line] = key.split(":").map(Number);
    const row = sourceList.rows.find((r) => r.file === file && r.first <= line && line <= r.last);
    if (!row) return;
    expandLines(row);
  }
  sourceList.moveTo(findLine(key), true);
}

function expandLines({ file, first, last }) {
  shownLines[file] = [...shownLines[file], [first, last]].sort(([a], [b]) => a - b);
  showSource();
}

function chooseLine(row) {
  if (row.first) expandLines(row);
  else if (row.line) selectSource(keyOf(row));
}

const sourceRowAt = (target) => {
  const index = target.closest("[data-index]")?.dataset.index;
  return index === undefined ? null : sourceList.rows[Number(index)];
};

$("source").addEventListener("click", (event) => {
  const row = sourceRowAt(event.target);
  if (row) chooseLine(row);
});
$("source").addEventListener("mouseover", (event) => {
  const row = sourceRowAt(event.target);
  hover(row ? keyOf(row) : "");
});
$("source").addEventListener("mouseleave", () => hover(""));

// From one line with operations to the next.
$("source").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const { byLine } = costsOf(state.stage);
  const used = sourceList.rows.filter((row) => byLine.has(keyOf(row)));
  const at = used.findIndex((row) => keyOf(row) === state.source);
  const next = used[at < 0 ? 0 : Math.max(0, Math.min(used.length - 1, at + step))];
  if (next && keyOf(next) !== state.source) {
    selectSource(keyOf(next));
    scrollToLine(keyOf(next));
  }
  event.preventDefault();
});

// Marks what belongs together. `keys`: lines, as lineKey writes them, with spaces between.
function hover(keys) {
  if (keys === hover.last) return;
  hover.last = keys;
  const wanted = new Set(keys.split(" ").filter(Boolean)), [first] = wanted;
  for (const line of sourceList.some.children) {
    line.classList.toggle("hovered", wanted.has(line.dataset.key));
  }
  for (const row of list.some.children) {
    row.classList.toggle("hovered", first !== undefined && row.dataset.from.split(" ").includes(first));
  }
}

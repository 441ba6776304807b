// The lines that operations come from, beside what they cost.

function buildSource() {
  $("source").innerHTML = files.length
    ? files.map((file, i) => fileHtml(file, i)).join("")
    : '<p class="none">The operations do not say which lines they come from.</p>';
}

function fileHtml(file, index) {
  const head = `<h2 title="${escapeHtml(file.path)}">${escapeHtml(file.name)}</h2>`;
  if (!file.lines.length) {
    return `${head}<p class="none">The file is not there to be shown.</p>` + missingLines(index);
  }
  let html = head, next = 1;
  for (const [first, last] of [...file.shown, [file.lines.length + 1, 0]]) {
    if (first > next) {
      html += `<button class="more" data-file="${index}" data-first="${next}" data-last="${first - 1}">⋯ ${plural(first - next, "line")}</button>`;
    }
    html += linesHtml(index, first, last);
    next = last + 1;
  }
  return html;
}

function linesHtml(file, first, last) {
  let html = "";
  for (let line = first; line <= last; line++) {
    const { lines, language } = files[file];
    html += lineHtml(file, line, sourceHtml(lines[line - 1], language) || " ");
  }
  return html;
}

const lineHtml = (file, line, html) =>
  `<div class="line" role="option" data-key="${file}:${line}"><span class="cost"></span><span class="cost"></span>`
  + `<span class="count"></span><span class="number">${line}</span><code>${html}</code></div>`;

function missingLines(file) {
  const lines = new Set(locations.flat().filter(([f]) => f === file).map(([, line]) => line));
  return [...lines].sort((a, b) => a - b).map((line) => lineHtml(file, line, "")).join("");
}

function showSource() {
  const { byLine } = costsOf(state.stage);
  const most = { flops: 1, bytes: 1 };
  for (const cost of byLine.values()) {
    most.flops = Math.max(most.flops, cost.flops);
    most.bytes = Math.max(most.bytes, cost.bytes);
  }
  for (const element of $("source").querySelectorAll(".line")) {
    const cost = byLine.get(element.dataset.key), [flops, bytes, count] = element.children;
    element.classList.toggle("used", Boolean(cost));
    fillCost(flops, cost?.flops, most.flops, "flop");
    fillCost(bytes, cost?.bytes, most.bytes, "byte");
    if (cost && !cost.flops && cost.transcendentals) flops.textContent = `${short(cost.transcendentals)}ᵗ`;
    if (cost?.transcendentals) flops.title += `, ${plural(cost.transcendentals, "transcendental element")}`;
    count.textContent = cost ? cost.operations : "";
    count.title = cost ? plural(cost.operations, "operation") : "";
    const isSelected = element.dataset.key === state.source;
    element.classList.toggle("linked", isSelected);
    element.setAttribute("aria-selected", isSelected);
  }
}

function fillCost(cell, number, most, unit) {
  cell.innerHTML = number ? heat(number, most) + short(number) : "";
  cell.title = number ? plural(number, unit) : "";
}

const lineElement = (key) => $("source").querySelector(`.line[data-key="${key}"]`);

// Shows the line, for which more of the file may have to be shown.
function scrollToLine(key) {
  if (!lineElement(key)) {
    const [file, line] = key.split(":").map(Number);
    for (const more of $("source").querySelectorAll(`.more[data-file="${file}"]`)) {
      if (more.dataset.first <= line && line <= more.dataset.last) expandLines(more);
    }
  }
  lineElement(key)?.scrollIntoView({ block: "nearest" });
}

function expandLines(more) {
  const { file, first, last } = more.dataset;
  more.outerHTML = linesHtml(Number(file), Number(first), Number(last));
  showSource();
}

$("source").addEventListener("click", (event) => {
  const more = event.target.closest(".more"), line = event.target.closest(".line");
  if (more) expandLines(more);
  if (line) selectSource(line.dataset.key);
});

$("source").addEventListener("mouseover", (event) => hover(event.target.closest(".line")?.dataset.key ?? ""));
$("source").addEventListener("mouseleave", () => hover(""));

$("source").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.target !== $("source") || !step) return;
  const used = [...$("source").querySelectorAll(".line.used")];
  const at = used.findIndex((line) => line.dataset.key === state.source);
  const next = used[at < 0 ? 0 : Math.max(0, Math.min(used.length - 1, at + step))];
  if (next) {
    selectSource(next.dataset.key);
    next.scrollIntoView({ block: "nearest" });
  }
  event.preventDefault();
});

// `keys`: the lines, as lineKey writes them, with spaces between.
function hover(keys) {
  if (keys === hover.last) return;
  hover.last = keys;
  const wanted = new Set(keys.split(" ").filter(Boolean));
  for (const line of $("source").querySelectorAll(".line")) {
    line.classList.toggle("hovered", wanted.has(line.dataset.key));
  }
  const [first] = wanted;
  for (const row of list.some.children) {
    row.classList.toggle("hovered", first !== undefined && row.dataset.from.split(" ").includes(first));
  }
}

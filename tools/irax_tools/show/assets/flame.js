// The dispatches that run, below the lines they come from: as wide as the time that they take.

const runs = PAGE.runs ?? [];

const ORDER = ["s", "ms", "µs", "ns"];
function timeText(seconds) {
  let unit = 0, number = seconds;
  while (number < 0.9995 && unit < ORDER.length - 1) [number, unit] = [number * 1000, unit + 1];
  return `${number.toPrecision(3)} ${ORDER[unit]}`;
}

const secondsOf = (run) => run.seconds ?? 0;
const inDispatches = runs.reduce((sum, run) => sum + secondsOf(run), 0);

// The lines of source that each dispatch is from, and the time of those of a line.
const timeOfLine = new Map();
const keysOfRun = (run) => [...new Set([...run.stack, ...run.lines].map(lineKey))];
for (const run of runs) {
  for (const key of keysOfRun(run)) timeOfLine.set(key, (timeOfLine.get(key) ?? 0) + secondsOf(run));
}
const mostOfLine = Math.max(0, ...timeOfLine.values());

// The tree: calls of lines, then the lines of a dispatch, then the dispatch.
function flameTree() {
  const root = { key: "", label: "a call", seconds: 0, children: new Map() };
  for (const run of [...runs].sort((a, b) => secondsOf(b) - secondsOf(a))) {
    const path = run.stack.map((frame) => [lineKey(frame), frameText(frame), [lineKey(frame)]]);
    if (run.lines.length) {
      const keys = run.lines.map(lineKey);
      path.push([keys.join(" "), linesText(run.lines), keys]);
    }
    let node = root;
    root.seconds += secondsOf(run);
    for (const [key, label, lines] of path) {
      if (!node.children.has(key)) node.children.set(key, { label, lines, seconds: 0, children: new Map() });
      node = node.children.get(key);
      node.seconds += secondsOf(run);
    }
    node.children.set(run, { label: run.name, run, lines: keysOfRun(run), seconds: secondsOf(run), children: new Map() });
  }
  const rest = PAGE.seconds - root.seconds;
  if (rest > 0) {
    root.children.set("rest", { label: "launches, copies, the host", rest: true, lines: [], seconds: rest, children: new Map() });
    root.seconds = PAGE.seconds;
  }
  return root;
}

// `model.py:4,5`, and the text of the line where it is one.
function linesText(frames) {
  const [first] = frames, same = frames.filter((frame) => frame[0] === first[0]);
  const place = `${files[first[0]].name}:${same.map((frame) => frame[1]).join(",")}`;
  const text = frames.length === 1 ? files[first[0]].lines[first[1] - 1]?.trim() : undefined;
  return text ? `${place}  ${text}` : place;
}

function boxesOf(node, left, level, rows) {
  (rows[level] ??= []).push({ node, left });
  let at = left;
  for (const child of [...node.children.values()].sort((a, b) => b.seconds - a.seconds)) {
    boxesOf(child, at, level + 1, rows);
    at += child.seconds;
  }
  return rows;
}

function titleOf({ label, run, seconds }, total) {
  const share = `${timeText(seconds)}, ${(100 * seconds / total).toPrecision(3)}%`;
  if (!run) return `${label}\n${share}`;
  const work = run.flops + run.transcendentals;
  return [
    `${run.name}: ${run.operations.join(", ")}`,
    run.seconds === null ? "not measured" : share,
    `should take ${timeText(run.expected)}, bound by ${run.bound}`,
    `${short(work)} operations, ${short(run.bytes)} bytes, ${plural(run.runs, "run")}`,
  ].join("\n");
}

function buildFlame() {
  if (!runs.length) return;
  const root = flameTree(), rows = boxesOf(root, 0, 0, []), total = root.seconds || 1;
  $("flame").hidden = false;
  $("flame").innerHTML = rows.map((row) => `<div class="level">${row.map(({ node, left }) => {
    const kind = node.run ? `dispatch ${node.run.bound}` : node.rest ? "rest" : "frame";
    const place = `left:${(100 * left / total).toFixed(3)}%;width:${(100 * node.seconds / total).toFixed(3)}%`;
    const title = escapeHtml(titleOf(node, total));
    const lines = (node.lines ?? []).join(" ");
    return `<button class="box ${kind}" style="${place}" title="${title}" data-lines="${lines}">`
      + `${escapeHtml(node.label)} <span>${timeText(node.seconds)}</span></button>`;
  }).join("")}</div>`).join("");
}

function showFlame() {
  for (const box of $("flame").querySelectorAll(".box")) {
    const isOf = state.source !== null && box.dataset.lines.split(" ").includes(state.source);
    box.classList.toggle("linked", isOf);
  }
}

// The time of the dispatches that a line has a part in.
function lineTime(key) {
  if (!runs.length) return "";
  const seconds = timeOfLine.get(key);
  if (!seconds) return '<span class="cost"></span>';
  const names = runs.filter((run) => keysOfRun(run).includes(key)).map((run) => run.name);
  const title = escapeHtml(`${names.join(", ")}: the time of all that they do`);
  return `<span class="cost" title="${title}">${heat(seconds, mostOfLine)}${timeText(seconds)}</span>`;
}

$("flame").addEventListener("click", (event) => {
  const box = event.target.closest(".box");
  if (box?.dataset.lines) selectSource(box.dataset.lines.split(" ").at(-1));
});

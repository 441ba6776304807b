// The operations of a stage, or what it changed in them.

let rows = []; // all of them; `list.rows` are those in sight or near

const list = new VirtualList($("ir"), "row", irHtml, irAttributes);
list.onshow = markMatches;

function showModule() {
  rows = allRows(state.stage, state.base);
  const found = matcher(state.query);
  $("search").classList.toggle("broken", found === undefined);
  state.matches = found ?? null;
  const wanted = state.filter && (state.matches || state.source !== null)
    ? (row) => (!state.matches || state.matches(row)) && (state.source === null || isFrom(row, state.source))
    : null;
  const shown = visibleRows(rows, state.folded, wanted, state.expanded, state.base !== null);
  const longest = Math.min(LONGEST_SHOWN, shown.reduce((most, { body, line }) =>
    Math.max(most, bodies[body].text[line].length), 0));
  list.setRows(shown, longest + 36, (a, b) =>
    bodies[a.body].name === bodies[b.body].name && bodies[a.body].text[a.line] === bodies[b.body].text[b.line]);
  const changed = rows.some((row) => row.sign !== " ");
  $("stage").textContent =
    state.base === null ? "" : `${changed ? "changed" : "nothing changed"} since ${stageTitle(state.base)}`;
  $("ir").classList.toggle("empty", !shown.length);
  $("ir").classList.toggle("searched", state.matches !== null);
  state.hits = hits();
  $("found").textContent = state.matches ? `${exact(state.hits.length)}` : "";
  drawRuler();
}

const isFrom = ({ body, line }, source) => framesOf(body, line).some((f) => lineKey(f) === source);

// The places that `n` and `p` go to: matches, else the selected line's operations, else changes.
function hits() {
  const wanted = state.matches
    ?? (state.source !== null ? (row) => isFrom(row, state.source) : null)
    ?? ((row) => row.sign !== " ");
  const found = [];
  list.rows.forEach((row, i) => {
    const startsChange = state.matches || state.source !== null || list.rows[i - 1]?.sign === " ";
    if (!row.hidden && wanted(row) && (startsChange || i === 0)) found.push(i);
  });
  return found;
}

function goToHit(step) {
  if (!state.hits.length) return;
  const next = step > 0
    ? state.hits.find((i) => i > list.current) ?? state.hits[0]
    : state.hits.findLast((i) => i < list.current) ?? state.hits.at(-1);
  list.moveTo(next, true);
}

function irAttributes(row, index, current) {
  const { body, line, sign } = row;
  const frames = row.hidden ? [] : framesOf(body, line);
  const classes = ["row"];
  const kinds = { "+": "added", "-": "removed", "~": "changed" };
  if (sign !== " ") classes.push(kinds[sign]);
  if (row.hidden) classes.push("gap");
  if (line === 0) classes.push("function");
  if (!row.hidden && state.source !== null && frames.some((f) => lineKey(f) === state.source)) {
    classes.push(frames.length && lineKey(frames[0]) === state.source ? "linked" : "around");
  }
  const isSelected = state.row !== null && state.row.body === body && state.row.line === line && !row.hidden;
  if (isSelected) classes.push("selected");
  const level = Math.floor(/^\s*/.exec(bodies[body].text[line])[0].length / 2) + 1;
  const expanded = opensRegion(row) && !row.hidden ? ` aria-expanded="${!state.folded.has(foldKey(row))}"` : "";
  return `class="${classes.join(" ")}${current}" role="treeitem" aria-level="${level}" aria-selected="${isSelected}"`
    + `${expanded} data-from="${frames.map(lineKey).join(" ")}"`;
}

function irHtml(row) {
  const { body: index, line, sign } = row;
  const body = bodies[index];
  if (row.hidden) return `<span class="gutter"></span><code>⋯ ${plural(row.hidden, "unchanged line")}</code>`;
  const folds = opensRegion(row), isFolded = folds && state.folded.has(foldKey(row));
  const text = isFolded ? `${body.text[line].replace(/\s*\{$/, "")} {…}` : body.text[line];
  const frame = framesOf(index, line)[0];
  const tags = frame ? frame[2].map((tag) => `<span class="tag">${escapeHtml(tag)}</span>`).join("") : "";
  return `<span class="gutter"><span class="sign">${sign === " " ? "" : sign === "-" ? "−" : sign}</span>`
    + costCells(row)
    + `<span class="place" title="${frame ? escapeHtml(framesOf(index, line).map(frameText).join(", called at ")) : ""}">${frame ? placeHtml(frame) : ""}</span></span>`
    + (folds ? `<button class="fold" tabindex="-1" aria-label="Collapse or expand">${isFolded ? "▸" : "▾"}</button>` : '<span class="fold"></span>')
    + (line ? "" : functionTag(row))
    + `<code>${mlirHtml(text, body.operation[line], row.rewired)}${line ? tags : ""}</code>`;
}

const placeHtml = (frame) => files.length === 1 ? frame[1] : escapeHtml(frameText(frame));

// A function's own costs stand at its first line, those of its operations at theirs: of all the
// times that the program runs them.
function costCells({ body: index, line, calls, sign }) {
  const { byFunction, most } = costsOf(state.stage);
  const body = bodies[index], times = stages[state.stage].entry ? calls || 1 : 1;
  const own = line === 0 && sign !== "-" ? byFunction.find((f) => f.index === index)?.own : null;
  const idle = calls === 0 ? " idle" : "";
  return ["flops", "bytes"].map((kind) => {
    const each = own ? own[kind] : body[kind][line];
    const transcendental = kind === "flops" ? (own ? own.transcendentals : body.transcendentals[line]) : 0;
    if (!each && !transcendental) return '<span class="cost"></span>';
    const ground = own || idle ? "" : heat(each * times, most[kind]);
    const what = kind === "bytes" ? plural(each * times, "byte") : `${plural(each * times, "flop")}`
      + (transcendental ? `, ${plural(transcendental * times, "transcendental element")}` : "");
    const number = each ? short(each * times) : `${short(transcendental * times)}ᵗ`;
    return `<span class="cost${own ? " total" : ""}${idle}" title="${what}">${ground}${number}</span>`;
  }).join("");
}

function functionTag({ body, calls, sign }) {
  if (bodies[body].operation[0] !== "func.func" || !stages[state.stage].entry || sign === "-") return "";
  if (bodies[body].name === stages[state.stage].entry) return "";
  return calls === 1 ? "" : `<span class="tag">${calls === 0 ? "not called" : `called ${exact(calls)} times`}</span>`;
}

// Where in the module there is something to see.
function drawRuler() {
  const canvas = $("ruler"), { clientWidth: width, clientHeight: height } = canvas;
  const scale = window.devicePixelRatio;
  [canvas.width, canvas.height] = [width * scale, height * scale];
  const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name);
  const each = height / Math.max(list.rows.length, height / ROW);
  const mark = (i, name, x, w) => {
    context.fillStyle = colour(name);
    context.fillRect(x * scale, i * each * scale, w * scale, Math.max(2, each - 1) * scale);
  };
  list.rows.forEach((row, i) => {
    if (row.hidden) return;
    if (row.sign !== " ") mark(i, { "+": "--added-ink", "-": "--removed-ink", "~": "--changed-ink" }[row.sign], 0, 4);
    if (state.matches?.(row)) mark(i, "--accent", 4, 4);
    if (state.source !== null && isFrom(row, state.source)) mark(i, "--mark-edge", 8, 4);
  });
}

function markMatches() {
  if (!CSS.highlights) return;
  CSS.highlights.delete("match");
  const regex = state.matches?.regex;
  if (!regex) return;
  const ranges = [];
  for (const code of list.some.querySelectorAll("code")) {
    const nodes = [...textsIn(code)];
    for (const match of code.textContent.matchAll(regex)) {
      if (match[0]) ranges.push(rangeOf(nodes, match.index, match.index + match[0].length));
    }
  }
  CSS.highlights.set("match", new Highlight(...ranges));
}

// From one place in the text of some nodes to another.
function rangeOf(nodes, from, to) {
  const range = new Range();
  let before = 0;
  for (const node of nodes) {
    const { length } = node.data;
    if (before <= from && from < before + length) range.setStart(node, from - before);
    if (before < to && to <= before + length) range.setEnd(node, to - before);
    before += length;
  }
  return range;
}

function* textsIn(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) yield walker.currentNode;
}

function toggleFold(row) {
  const key = foldKey(row);
  if (!opensRegion(row)) return;
  if (!state.folded.delete(key)) state.folded.add(key);
  showModule();
}

// The row of a line, made visible if it is inside of something collapsed.
function reveal(body, line) {
  const find = () => list.rows.findIndex((r) => !r.hidden && r.body === body && r.line === line && r.sign !== "-");
  if (find() < 0) {
    state.folded.delete(bodies[body].name);
    for (const start of Object.keys(bodies[body].regions)) state.folded.delete(`${body}:${start}`);
    if (find() < 0) state.filter = false;
    showModule();
    for (const row of list.rows.filter((r) => r.hidden && r.body === body)) {
      if (row.line <= line && line < row.line + row.hidden) state.expanded.add(row.key);
    }
    showModule();
  }
  const index = find();
  if (index >= 0) list.moveTo(index, true);
}

$("ir").addEventListener("click", (event) => {
  const element = event.target.closest(".row");
  if (!element) return;
  const index = Number(element.dataset.index), row = list.rows[index];
  list.current = index;
  if (event.target.closest("button.fold")) return toggleFold(row);
  const called = event.target.closest(".symbol") && functionNamed(event.target.textContent.slice(1));
  if (called !== null && called !== row.body) return reveal(called, 0);
  choose(row);
});

const functionNamed = (name) =>
  stages[state.stage].bodies.find(([index]) => bodies[index].name === name)?.[0] ?? null;

function choose(row) {
  if (row.hidden) {
    state.expanded.add(row.key);
    return showModule();
  }
  selectRow(row);
}

$("ir").addEventListener("dblclick", (event) => {
  const element = event.target.closest(".row");
  if (element && !event.target.closest("button")) toggleFold(list.rows[Number(element.dataset.index)]);
});

$("ir").addEventListener("keydown", (event) => {
  const row = list.rows[list.current];
  const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: list.page, PageUp: -list.page, Home: -Infinity, End: Infinity };
  if (event.key in moves) list.moveTo(list.current + moves[event.key]);
  else if (event.key === "Enter" || event.key === " ") row && choose(row);
  else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    const isFolded = row && state.folded.has(foldKey(row));
    if (row && opensRegion(row) && isFolded === (event.key === "ArrowRight")) toggleFold(row);
    else return;
  } else return;
  event.preventDefault();
});

// Hovering shows what belongs together, values as well as lines.
$("ir").addEventListener("mouseover", (event) => {
  const row = event.target.closest(".row");
  hover(row?.dataset.from ?? "");
  const value = event.target.dataset?.value;
  const { body, line } = list.rows[Number(row?.dataset.index)] ?? {};
  if (value) event.target.title = bodies[body].text[Math.max(0, definitionOf(body, value, line))].trim();
  for (const each of list.some.querySelectorAll(".value")) {
    const there = list.rows[Number(each.closest(".row").dataset.index)];
    each.classList.toggle("same", value !== undefined && each.dataset.value === value && there?.body === body);
  }
});
$("ir").addEventListener("mouseleave", () => hover(""));

$("ruler").addEventListener("click", (event) => {
  const { clientHeight } = $("ruler");
  const each = clientHeight / Math.max(list.rows.length, clientHeight / ROW);
  list.moveTo(Math.floor(event.offsetY / each), true);
});

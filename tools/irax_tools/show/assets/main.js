// What is shown, and how that changes.

const state = {
  stage: PAGE.opens,
  base: null, // the stage to compare with, or null
  follow: true, // the comparison is with the stage before
  source: null, // the selected line of source, as lineKey writes it
  row: null, // the selected row of the module
  query: "",
  sort: "flops", // what tables are sorted by
  filter: false,
  folded: new Set(),
  expanded: new Set(), // the unchanged lines that are shown in spite of that
  matches: null,
  hits: [],
};

function showAll() {
  showStages();
  showTotals();
  showModule();
  showSource();
  showDetails();
  showFlame();
  writeHash();
}

function showStage(stage) {
  state.stage = Math.max(0, Math.min(stages.length - 1, stage));
  if (state.base !== null && state.follow) state.base = Math.max(0, state.stage - 1);
  state.row = null;
  state.expanded.clear();
  showAll();
}

function selectSource(key) {
  state.source = state.source === key && state.row === null ? null : key;
  state.row = null;
  showAll();
  if (state.source !== null) showFirst();
}

// Goes to the first operation of the selected line that computes something, or else to any.
function showFirst() {
  const own = state.hits.filter((i) => isFrom(list.rows[i], state.source));
  const first = own.find((i) => bodies[list.rows[i].body].flops[list.rows[i].line] > 0) ?? own[0];
  if (first !== undefined) list.moveTo(first, true);
}

function selectRow(row) {
  const frame = framesOf(row.body, row.line)[0];
  state.row = row;
  state.source = frame ? lineKey(frame) : null;
  showAll();
  if (state.source !== null) scrollToLine(state.source);
}

function selectNothing() {
  [state.row, state.source] = [null, null];
  showAll();
}

function compare(base) {
  state.base = base;
  state.follow = base === null || base === Math.max(0, state.stage - 1);
  state.expanded.clear();
  showAll();
}

function toggleFolds() {
  const names = stages[state.stage].bodies.map(([index]) => bodies[index].name);
  const all = names.every((name) => state.folded.has(name));
  for (const name of names) {
    if (all) state.folded.delete(name);
    else state.folded.add(name);
  }
  showModule();
}

function toggleFilter() {
  state.filter = !state.filter;
  showAll();
}

function showTotals() {
  const { total } = costsOf(state.stage), { entry, uncounted, group } = stages[state.stage];
  const item = (number, what) => `<span><b>${number}</b> ${what}</span>`;
  const parts = [item(exact(total.operations), total.operations === 1 ? "op" : "ops")];
  if (group !== "iree") {
    const least = uncounted ? "≥ " : "";
    parts.push(item(least + short(total.flops), "flops"));
    if (total.transcendentals) parts.push(item(least + short(total.transcendentals), "transcendental"));
    parts.push(item(least + short(total.bytes), "bytes"));
  }
  $("totals").innerHTML = parts.join("");
  $("totals").dataset.totals = JSON.stringify(total);
  $("totals").title = group === "iree" ? "Costs are counted in StableHLO"
    : entry ? `What a call of @${entry} costs, each operation for itself`
      + (uncounted ? `; without ${plural(uncounted, "operation")} of other dialects than StableHLO's` : "")
    : "What a call of each function costs, together";
}

function showTitle() {
  const [stage] = stages, name = stage.entry;
  const index = stage.bodies.find(([i]) => bodies[i].name === name)?.[0];
  const header = index === undefined ? "" : bodies[index].text[0];
  $("title").textContent = PAGE.title;
  const signature = /\((.*)\)\s*(->.*?)?\s*(?:attributes.*)?\{$/.exec(header);
  const types = (signature?.[1] ?? "").replace(/%\w+: /g, "");
  $("signature").innerHTML = signature ? mlirHtml(`(${types}) ${signature[2] ?? ""}`, "") : "";
  $("signature").title = $("signature").textContent;
}

// The address says what is shown, so that it can be kept.
function writeHash() {
  if (location.protocol === "about:") return; // in a frame of a notebook there is no address
  const parts = new URLSearchParams(PAGES.length > 1 ? { function: PAGES.indexOf(PAGE) } : {});
  parts.set("stage", state.stage);
  if (state.base !== null) parts.set("since", state.base);
  if (state.source !== null) parts.set("line", state.source);
  if (state.row) parts.set("row", `${state.row.body}:${state.row.line}`);
  if (state.query) parts.set("search", state.query);
  if (state.filter) parts.set("filter", 1);
  history.replaceState(null, "", `#${parts}`);
}

function readHash() {
  const parts = new URLSearchParams(location.hash.slice(1));
  if (stages[parts.get("stage")]) state.stage = Number(parts.get("stage"));
  if (stages[parts.get("since")]) state.base = Number(parts.get("since"));
  state.follow = state.base === null || state.base === Math.max(0, state.stage - 1);
  state.source = /^\d+:\d+$/.test(parts.get("line") ?? "") ? parts.get("line") : null;
  state.query = $("search").value = parts.get("search") ?? "";
  state.filter = parts.has("filter");
  showAll();
  const [body, line] = (parts.get("row") ?? "").split(":").map(Number);
  if (bodies[body]?.text[line] !== undefined) {
    reveal(body, line);
    const row = list.rows[list.current];
    if (row?.body === body && row.line === line) selectRow(row);
  } else if (state.source !== null) {
    scrollToLine(state.source);
    showFirst();
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  if (list.rows.length) drawRuler();
}

const toggleTheme = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");

const KEYS = {
  "[": () => showStage(state.stage - 1),
  "]": () => showStage(state.stage + 1),
  d: () => compare(state.base === null ? Math.max(0, state.stage - 1) : null),
  n: () => goToHit(1),
  p: () => goToHit(-1),
  f: toggleFilter,
  c: toggleFolds,
  t: toggleTheme,
  m: showMatrix,
  s: () => $("source").focus(),
  i: () => $("ir").focus(),
  "/": () => $("search").select(),
  "?": () => $("keys").showModal(),
  Escape: selectNothing,
};

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input, select");
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping || document.querySelector("dialog[open]")) return;
  if (!(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});

let typed;
$("search").addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(() => searchFor($("search").value), 80);
});
function searchFor(query) {
  state.query = query;
  if ($("search").value !== query) $("search").value = query;
  showAll();
  if (state.matches && state.hits.length) {
    list.moveTo(state.hits.find((i) => i >= list.current) ?? state.hits[0], true);
  }
}
$("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter") goToHit(event.shiftKey ? -1 : 1);
  if (event.key === "Escape") {
    $("search").value = state.query = "";
    $("ir").focus();
    showAll();
  }
});

$("filter").addEventListener("click", KEYS.f);
$("diff").addEventListener("click", KEYS.d);
$("fold").addEventListener("click", KEYS.c);
$("theme").addEventListener("click", KEYS.t);
$("help").addEventListener("click", KEYS["?"]);
$("base").addEventListener("change", () => compare(Number($("base").value)));
window.addEventListener("hashchange", readHash);
window.addEventListener("resize", drawRuler);
let themeOnScreen;
window.addEventListener("beforeprint", () => {
  sourceList.print(true);
  themeOnScreen = document.documentElement.dataset.theme;
  setTheme("light");
  list.print(true);
});
window.addEventListener("afterprint", () => {
  setTheme(themeOnScreen);
  list.print(false);
  sourceList.print(false);
});

// The width of the source, as a share of the window's.
function setWidth(share) {
  const width = Math.max(15, Math.min(70, share));
  document.documentElement.style.setProperty("--source", `${width}%`);
  $("splitter").setAttribute("aria-valuenow", Math.round(width));
}
const widthAt = (x) => {
  const { left, width } = document.querySelector("main").getBoundingClientRect();
  return (100 * (x - left)) / width;
};
$("splitter").addEventListener("pointerdown", (event) => $("splitter").setPointerCapture(event.pointerId));
$("splitter").addEventListener("pointermove", (event) => {
  if ($("splitter").hasPointerCapture(event.pointerId)) setWidth(widthAt(event.clientX));
});
$("splitter").addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -2, ArrowRight: 2 }[event.key];
  if (step) setWidth(Number($("splitter").getAttribute("aria-valuenow")) + step);
});

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
prefersDark.addEventListener("change", () => setTheme(prefersDark.matches ? "dark" : "light"));
setTheme(prefersDark.matches ? "dark" : "light");
setWidth(40);
document.body.classList.toggle("one-file", files.length <= 1);
document.body.classList.toggle("timed", runs.length > 0);
document.body.classList.toggle("judged", Boolean(digits));
showTitle();
buildFunctions();
buildStages();
buildFlame();
buildMatrix();
readHash();

// What is selected, in full; without a selection, where the costs are.

function showDetails() {
  $("details").innerHTML = state.row ? operationDetails(state.row)
    : state.source !== null ? lineDetails(state.source) : summary();
}

const field = (name, html) => (html ? `<dt>${name}</dt><dd>${html}</dd>` : "");
const jump = (body, line, text) => `<button class="jump" data-body="${body}" data-line="${line}">${text}</button>`;
const toLine = (frame) => `<button class="jump" data-key="${lineKey(frame)}">${escapeHtml(frameText(frame))}</button>`;

function operationDetails({ body: index, line, calls, was, old, sign }) {
  const body = bodies[index], operation = body.operation[line];
  const where = `in @${escapeHtml(body.name)}, line ${line + 1}`;
  const name = operation ? mlirHtml(operation, operation) : "";
  return `<h2>${name} <span class="muted">${where}</span></h2>`
    + `<pre><code>${mlirHtml(body.text[line].trim(), operation)}</code></pre>`
    + "<dl>"
    + field("before", sign === "~" ? `<code>${mlirHtml(bodies[old].text[was].trim(), operation)}</code>` : "")
    + framesOf(index, line).map(frameField).join("")
    + field("cost", operation ? costText(body, line, calls) : "")
    + field("operands", operandsHtml(index, line))
    + field("used by", usersHtml(index, line))
    + "</dl>";
}

function frameField(frame, i) {
  const source = files[frame[0]].lines[frame[1] - 1]?.trim() ?? "";
  const tags = frame[2].map((tag) => `<span class="tag">${escapeHtml(tag)}</span>`).join(" of ");
  return field(i ? "called at" : "from", `${toLine(frame)} ${tags} <code>${sourceHtml(source, files[frame[0]].language)}</code>`);
}

function costText(body, line, calls) {
  const times = stages[state.stage].entry ? calls || 1 : 1;
  const [flops, elements, bytes] = ["flops", "transcendentals", "bytes"].map((k) => body[k][line] * times);
  const runs = (body.runs[line] ?? 1) * times;
  const parts = [
    flops && plural(flops, "flop"),
    elements && plural(elements, "transcendental element"),
    bytes && plural(bytes, "byte"),
    flops && bytes && `${(flops / bytes).toPrecision(2)} flops a byte`,
    runs !== 1 && `in ${plural(runs, "run")}`,
  ];
  return parts.filter(Boolean).join(", ");
}

const LONG = 12;

function operandsHtml(index, line) {
  const found = new Map();
  for (const [name] of bodies[index].text[line].matchAll(/%[\w$.-]+/g)) {
    const at = definitionOf(index, name, line);
    if (at >= 0 && at !== line) found.set(name, at);
  }
  return [...found].map(([name, at]) => `${jump(index, at, name)} <span class="muted">${definedAs(index, at)}</span>`).join("<br>");
}

function usersHtml(index, line) {
  const { defined } = valuesOf(index);
  const names = [...defined].filter(([, lines]) => lines.includes(line)).map(([name]) => name);
  const lines = [...new Set(names.flatMap((name) => usersOf(index, name, line)))].sort((a, b) => a - b);
  const shown = lines.slice(0, LONG).map((at) => jump(index, at, definedAs(index, at) || `line ${at + 1}`));
  return shown.join(", ") + (lines.length > LONG ? ` and ${lines.length - LONG} more` : "");
}

const definedAs = (index, line) =>
  line === 0 ? "argument" : bodies[index].operation[line].replace(/^(?:stablehlo|func)\./, "");

function lineDetails(key) {
  const [file, line] = key.split(":").map(Number);
  const byName = new Map();
  for (const [index, calls] of stages[state.stage].bodies) {
    const times = stages[state.stage].entry ? calls : 1;
    bodies[index].operation.forEach((operation, at) => {
      const frame = framesOf(index, at)[0];
      if (!frame || lineKey(frame) !== key || !isCode(operation)) return;
      const name = [operation, ...frame[2]].join(" ");
      add(byName.get(name) ?? byName.set(name, NOTHING()).get(name), bodies[index], at, times);
    });
  }
  const text = files[file].lines[line - 1]?.trim() ?? "";
  return `<h2>${escapeHtml(`${files[file].name}:${line}`)} <code>${sourceHtml(text, files[file].language)}</code></h2>`
    + digitsOfLine(key)
    + table("operation of this line", byName, (name) => {
      const [operation, ...tags] = name.split(" ");
      return mlirHtml(operation, operation) + tags.map((t) => `<span class="tag">${escapeHtml(t)}</span>`).join("");
    });
}

function summary() {
  const { byFunction, byOperation } = costsOf(state.stage);
  const functions = new Map();
  for (const { index, own, calls } of byFunction) {
    functions.set(index, { ...own, calls });
  }
  const name = (index) => {
    const { calls } = functions.get(index);
    const often = !stages[state.stage].entry || calls === 1 ? "" : calls ? `called ${exact(calls)} times` : "not called";
    return `${jump(index, 0, `@${escapeHtml(bodies[index].name)}`)} <span class="muted">${often}</span>`;
  };
  const search = (operation) => `<button class="jump" data-search="${operation}">${mlirHtml(operation, operation)}</button>`;
  return digitsSummary()
    + table("operation", byOperation, search)
    + table("function", functions, name);
}

// The dearest first, or what there is most of.
function table(title, costs, name) {
  const kinds = [state.sort, "flops", "bytes", "operations"];
  const more = (a, b) => kinds.reduce((found, kind) => found || b[kind] - a[kind], 0);
  const sorted = [...costs].sort(([, a], [, b]) => more(a, b));
  const most = { flops: 1, bytes: 1 };
  for (const kind of ["flops", "bytes"]) most[kind] = Math.max(1, ...sorted.map(([, c]) => c[kind]));
  const cell = (cost, kind) => {
    const number = cost[kind] ? short(cost[kind]) : kind === "flops" && cost.transcendentals ? `${short(cost.transcendentals)}ᵗ` : "";
    return `<td class="cost">${heat(cost[kind], most[kind])}${number}</td>`;
  };
  const row = ([key, cost]) =>
    `<tr>${cell(cost, "flops")}${cell(cost, "bytes")}<td class="count">${exact(cost.operations)}</td><td>${name(key)}</td></tr>`;
  const head = (kind, text) =>
    `<th aria-sort="${kind === state.sort ? "descending" : "none"}"><button data-sort="${kind}">${text}</button></th>`;
  return `<table><thead><tr>${head("flops", "flops")}${head("bytes", "bytes")}${head("operations", "ops")}<th>${title}</th></tr></thead>`
    + `<tbody>${sorted.map(row).join("")}</tbody></table>`;
}

$("details").addEventListener("click", (event) => {
  const target = event.target.closest("button");
  if (!target) return;
  const { body, line, key, sort, search } = target.dataset;
  if (sort) {
    state.sort = sort;
    return showDetails();
  }
  if (search) return searchFor(search);
  if (key) {
    selectSource(key);
    return scrollToLine(key);
  }
  reveal(Number(body), Number(line));
  const row = list.rows[list.current];
  if (row) selectRow(row);
});

// The model (model.py says what is in it), and what can be computed from it: costs, definitions.

const PAGES = JSON.parse($("data").textContent); // one of each function; the address says which
const shownFunction = Number(new URLSearchParams(location.hash.slice(1)).get("function")) || 0;
const PAGE = PAGES[shownFunction] ?? PAGES[0];
const { bodies, stages, files, locations } = PAGE;

const lineKey = (frame) => `${frame[0]}:${frame[1]}`;
const frameText = (frame) => `${files[frame[0]].name}:${frame[1]}`;

// The lines that the operation on a line of a body comes from: its own, then those of calls.
const framesOf = (body, line) => locations[bodies[body].location[line]] ?? [];

const NOTHING = () => ({ flops: 0, transcendentals: 0, bytes: 0, operations: 0 });

function add(total, body, line, times) {
  total.flops += body.flops[line] * times;
  total.transcendentals += body.transcendentals[line] * times;
  total.bytes += body.bytes[line] * times;
  total.operations += 1;
}

const isCode = (operation) => operation !== "" && operation !== "func.func";

// What a stage costs: together, by source line, by function and by operation, and the most that one
// operation does.
const costsOf = memoize((stage) => {
  const total = NOTHING(), most = NOTHING();
  const byLine = new Map(), byOperation = new Map(), byFunction = [];
  const part = (map, key) => map.get(key) ?? map.set(key, NOTHING()).get(key);
  for (const [index, calls] of stages[stage].bodies) {
    const body = bodies[index], own = NOTHING();
    const times = stages[stage].entry ? calls : 1;
    body.operation.forEach((operation, line) => {
      if (!isCode(operation)) return;
      add(own, body, line, 1);
      add(total, body, line, times);
      add(part(byOperation, operation), body, line, times);
      const frame = framesOf(index, line)[0];
      if (frame) add(part(byLine, lineKey(frame)), body, line, times);
      most.flops = Math.max(most.flops, body.flops[line] * times);
      most.bytes = Math.max(most.bytes, body.bytes[line] * times);
    });
    byFunction.push({ index, calls, own });
  }
  return { total, most, byLine, byOperation, byFunction };
});

// Where values are defined and used in a body, by name: `[line, line, ...]`.
const valuesOf = memoize((index) => {
  const defined = new Map(), used = new Map();
  const note = (map, name, line) => {
    const lines = map.get(name) ?? map.set(name, []).get(name);
    if (lines.at(-1) !== line) lines.push(line);
  };
  bodies[index].text.forEach((text, line) => {
    const results = /^\s*((?:%[\w$.-]+(?::\d+)?(?:, )?)+) = /.exec(text)?.[0].length ?? 0;
    const opens = text.endsWith("{") || /^\s*\^/.test(text) || line in bodies[index].regions;
    for (const match of text.matchAll(/%[\w$.-]+/g)) {
      const after = text.slice(match.index + match[0].length);
      const isArgument = opens && /^(?:: | = )/.test(after);
      note(match.index < results || isArgument ? defined : used, match[0], line);
    }
  });
  return { defined, used };
});

// The line that defines what a line calls `name`: names of sibling regions may be the same.
function definitionOf(index, name, line) {
  return (valuesOf(index).defined.get(name) ?? []).findLast((at) => at <= line) ?? -1;
}

function usersOf(index, name, line) {
  const { defined, used } = valuesOf(index);
  const end = (defined.get(name) ?? []).find((at) => at > line) ?? Infinity;
  return (used.get(name) ?? []).filter((at) => at > line && at <= end);
}

function memoize(compute) {
  const known = new Map();
  return (key) => {
    if (!known.has(key)) known.set(key, compute(key));
    return known.get(key);
  };
}

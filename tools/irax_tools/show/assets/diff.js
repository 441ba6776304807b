// What a stage changed. Values are numbered anew by every pass, so their names do not count: lines
// are alike that say the same of some values, and "rewired" where these are not the same ones.

const interned = new Map();
const intern = (text) => interned.get(text) ?? interned.set(text, interned.size).get(text);

const keysOf = memoize((index) =>
  Int32Array.from(bodies[index].text, (text) => intern(text.replace(/%[\w$.-]+/g, "%"))),
);

const GIVE_UP = 1200;

// Pairs of places that belong together, [of a or -1, of b or -1], in order.
function align(a, b) {
  let start = 0, endA = a.length, endB = b.length;
  while (start < endA && start < endB && a[start] === b[start]) start++;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) endA--, endB--;
  const pairs = [];
  for (let i = 0; i < start; i++) pairs.push([i, i]);
  const inner = a.subarray(start, endA), innerB = b.subarray(start, endB);
  for (const [i, j] of alignInner(inner, innerB)) {
    pairs.push([i < 0 ? -1 : i + start, j < 0 ? -1 : j + start]);
  }
  for (let i = endA, j = endB; i < a.length; i++, j++) pairs.push([i, j]);
  return pairs;
}

function alignInner(a, b) {
  if (a.length && b.length) return shortest(a, b) ?? byUnique(a, b);
  return [...Array.from(a, (_, i) => [i, -1]), ...Array.from(b, (_, j) => [-1, j])];
}

// The shortest edit script (E. Myers, 1986); null where it is too long to be worth the search.
function shortest(a, b) {
  const trail = [];
  let reach = new Int32Array(3);
  for (let d = 0; d <= Math.min(a.length + b.length, GIVE_UP); d++) {
    const next = new Int32Array(2 * d + 3);
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && reach[k - 1 + d] < reach[k + 1 + d]);
      let x = d === 0 ? 0 : down ? reach[k + 1 + d] : reach[k - 1 + d] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      next[k + d + 1] = x;
      if (x >= a.length && x - k >= b.length) return backwards(a, b, [...trail, next], d);
    }
    trail.push(next);
    reach = next;
  }
  return null;
}

// `trail[d][k + d + 1]`: how far along `a` d edits reach on diagonal k.
function backwards(a, b, trail, edits) {
  const pairs = [];
  let x = a.length, y = b.length;
  for (let d = edits; d > 0; d--) {
    const reach = (k) => (Math.abs(k) > d - 1 ? -1 : trail[d - 1][k + d]);
    const k = x - y;
    const down = k === -d || (k !== d && reach(k - 1) < reach(k + 1));
    const fromX = down ? reach(k + 1) : reach(k - 1);
    const fromY = fromX - (down ? k + 1 : k - 1);
    while (x > fromX + !down && y > fromY + down) pairs.push([--x, --y]);
    pairs.push(down ? [-1, --y] : [--x, -1]);
  }
  while (x > 0) pairs.push([--x, --y]);
  return pairs.reverse();
}

// Between lines that both have just once, in the longest order that both have them in.
function byUnique(a, b) {
  const once = (keys) => {
    const found = new Map();
    keys.forEach((key, i) => found.set(key, found.has(key) ? -1 : i));
    return found;
  };
  const inB = once(b);
  const anchors = [...once(a)].filter(([key, i]) => i >= 0 && inB.get(key) >= 0)
    .map(([key, i]) => [i, inB.get(key)]);
  const pairs = [];
  let i = 0, j = 0;
  for (const [x, y] of [...increasing(anchors), [a.length, b.length]]) {
    const gap = x - i + (y - j) < a.length + b.length;
    const inner = gap ? align(a.subarray(i, x), b.subarray(j, y)) : apart(x - i, y - j);
    for (const [p, q] of inner) pairs.push([p < 0 ? -1 : p + i, q < 0 ? -1 : q + j]);
    if (x < a.length) pairs.push([x, y]);
    i = x + 1;
    j = y + 1;
  }
  return pairs;
}

const apart = (m, n) => [
  ...Array.from({ length: m }, (_, i) => [i, -1]),
  ...Array.from({ length: n }, (_, j) => [-1, j]),
];

// The longest sequence of pairs that increases in both (by patience sorting).
function increasing(pairs) {
  const tops = [], before = new Map();
  for (const pair of pairs) {
    let low = 0, high = tops.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tops[middle][1] < pair[1]) low = middle + 1;
      else high = middle;
    }
    before.set(pair, tops[low - 1]);
    tops[low] = pair;
  }
  const found = [];
  for (let pair = tops.at(-1); pair; pair = before.get(pair)) found.push(pair);
  return found.reverse();
}

// The lines of two bodies: [{sign, old, line, rewired}], sign one of " ", "+", "-" and "~". Their
// first lines belong together, whatever they say.
const compareBodies = memoize((pair) => {
  const [before, after] = pair.split(" ").map(Number);
  const [keys, newKeys] = [keysOf(before), keysOf(after)];
  const same = new Map();
  const valuesIn = (index, line) => bodies[index].text[line].match(/%[\w$.-]+/g) ?? [];
  const inner = align(keys.subarray(1), newKeys.subarray(1));
  const next = ([i, j]) => [i < 0 ? -1 : i + 1, j < 0 ? -1 : j + 1];
  return [[0, 0], ...inner.map(next)].map(([old, line]) => {
    if (old < 0) return { sign: "+", old, line };
    if (line < 0) return { sign: "-", old, line };
    const was = valuesIn(before, old), is = valuesIn(after, line);
    const rewired = new Set();
    is.forEach((name, i) => {
      const defines =
        definitionOf(after, name, line) === line && definitionOf(before, was[i], old) === old;
      if (defines) same.set(was[i], name);
      else if (same.get(was[i]) !== name) rewired.add(i);
    });
    const isSame = !rewired.size && keys[old] === newKeys[line];
    return { sign: isSame ? " " : "~", old, line, rewired };
  });
});

// The functions of two stages: [body before or -1, body after or -1], in the order of the latter.
function pairFunctions(before, after) {
  const old = new Map(stages[before].bodies.map(([index]) => [bodies[index].name, index]));
  const names = new Set(stages[after].bodies.map(([index]) => bodies[index].name));
  const { entry } = stages[before], now = stages[after].entry;
  const renamed = entry !== now && !names.has(entry) && !old.has(now);
  const pairs = stages[after].bodies.map(([index]) => {
    const { name } = bodies[index];
    const was = renamed && name === now ? entry : name;
    const found = old.get(was) ?? -1;
    old.delete(was);
    return [found, index];
  });
  return [...pairs, ...[...old.values()].map((index) => [index, -1])];
}

// How many lines one stage adds to another, takes from it and rewires.
const changesBetween = memoize((pair) => {
  const [before, after] = pair.split(" ").map(Number);
  const counts = { "+": 0, "-": 0, "~": 0, " ": 0 };
  for (const [old, now] of pairFunctions(before, after)) {
    if (old === now) continue;
    if (old < 0) counts["+"] += bodies[now].text.length;
    else if (now < 0) counts["-"] += bodies[old].text.length;
    else for (const { sign } of compareBodies(`${old} ${now}`)) counts[sign]++;
  }
  return counts;
});

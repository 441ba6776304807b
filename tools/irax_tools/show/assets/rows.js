// Which lines are listed: those of a stage, or of two with what changed, without what is collapsed.

// A row is a line of a body, with the sign that it has in a comparison; `end` is the last line of
// the function or region that it opens. A row with `hidden` stands for so many unchanged lines.
function allRows(stage, base) {
  const calls = new Map(stages[stage].bodies);
  const row = (body, line, sign, more) => ({ body, line, sign, calls: calls.get(body) ?? 0, ...more });
  const whole = (body, sign) => bodies[body].text.map((_, line) => row(body, line, sign));
  if (base === null) return stages[stage].bodies.flatMap(([body]) => whole(body, " "));
  return pairFunctions(base, stage).flatMap(([old, now]) => {
    if (old === now) return whole(now, " ");
    if (old < 0) return whole(now, "+");
    if (now < 0) return whole(old, "-");
    return compareBodies(`${old} ${now}`).map(({ sign, old: was, line, rewired }) =>
      sign === "-" ? row(old, was, sign) : row(now, line, sign, { rewired, old, was }));
  });
}

// Functions are known by their names, so that they stay collapsed from stage to stage.
const foldKey = ({ body, line }) => (line === 0 ? bodies[body].name : `${body}:${line}`);
const opensRegion = ({ body, line }) => line in bodies[body].regions;

const AROUND_CHANGES = 3;

// The rows that are visible. `wanted` says of a row whether the filter lets it pass; null without.
function visibleRows(rows, folded, wanted, expanded, comparing) {
  if (wanted) return rows.filter((row) => row.line === 0 || wanted(row));
  const unfolded = [];
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    unfolded.push(row);
    if (!folded.has(foldKey(row)) || !opensRegion(row)) continue;
    const end = bodies[row.body].regions[row.line];
    while (i + 1 < rows.length && !(rows[i].body === row.body && rows[i].line === end)) i++;
  }
  return comparing ? withoutUnchanged(unfolded, expanded) : unfolded;
}

function withoutUnchanged(rows, expanded) {
  const near = new Uint8Array(rows.length);
  rows.forEach((row, i) => {
    if (row.line === 0) near[i] = 1;
    if (row.sign === " ") return;
    near.fill(1, Math.max(0, i - AROUND_CHANGES), i + AROUND_CHANGES + 1);
  });
  const kept = [];
  for (let i = 0; i < rows.length; ) {
    let end = i;
    while (end < rows.length && !near[end]) end++;
    const gap = rows.slice(i, end), key = gap.length ? `${gap[0].body}:${gap[0].line}` : "";
    if (gap.length > 1 && !expanded.has(key)) kept.push({ ...gap[0], hidden: gap.length, key });
    else kept.push(...gap);
    if (end < rows.length) kept.push(rows[end]);
    i = end + 1;
  }
  return kept;
}

// What a search means, as a function of rows; null for no search, undefined for a broken one.
function matcher(query) {
  if (!query.trim()) return null;
  const pattern = /^\/(.+)\/$/.exec(query)?.[1] ?? query.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  let regex;
  try {
    regex = new RegExp(pattern, "i");
  } catch {
    return undefined;
  }
  const texts = ([file, line, names]) => [frameText([file, line]), files[file].lines[line - 1] ?? "", ...names];
  const isIn = memoize((location) => locations[location].flatMap(texts).some((text) => regex.test(text)));
  const matches = ({ body, line }) => {
    const location = bodies[body].location[line];
    return regex.test(bodies[body].text[line]) || (location >= 0 && isIn(location));
  };
  return Object.assign(matches, { regex: new RegExp(pattern, "gi") });
}

// The tree of a beam search: a column for each step, the best hypothesis in a straight line on top.

const SVG = "http://www.w3.org/2000/svg";
const COLUMN = 108, LINE = 36, TOP = 24;
/** Pruned hypotheses that a step shows; the table has all. */
const PRUNED = 3;

function draw(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** Places of nodes by column and line: the path first, then what was kept, by score, then the best of the pruned. */
function placesOf(nodes, path, from) {
  const onPath = new Set(path), rank = (node) => (onPath.has(node) ? 0 : node.fate === "pruned" ? 2 : 1), places = new Map();
  const steps = new Map();
  for (const node of nodes) if (node.step >= from) steps.set(node.step, [...(steps.get(node.step) || []), node]);
  for (const [step, all] of steps) {
    const ordered = [...all].sort((a, b) => rank(a) - rank(b) || b.score - a.score), pruned = ordered.filter((node) => rank(node) === 2);
    const shown = ordered.filter((node) => rank(node) < 2 || pruned.indexOf(node) < PRUNED), first = onPath.has(shown[0]) ? 0 : 1;
    shown.forEach((node, n) => places.set(node, [step - from, n + first]));
  }
  return places;
}

/** The drawing; `piece` gives the text of a token. */
function treeOf({nodes, path}, from, piece) {
  const places = placesOf(nodes, path, from), onPath = new Set(path), at = ([column, line]) => [column * COLUMN + 12, line * LINE + TOP];
  const [columns, lines] = [0, 1].map((n) => Math.max(...[...places.values()].map((place) => place[n])) + 1);
  const width = columns * COLUMN + 12, height = lines * LINE + 12;
  const svg = draw("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "tree",
    "aria-label": "Search tree; the table below has its numbers"});
  for (const [node, place] of places) {
    const before = places.get(node.parent), style = onPath.has(node) ? "path" : node.fate, [x, y] = at(place);
    if (before) {
      const [x0, y0] = at(before), end = x - 5, start = x0 + Math.min(80, 14 + 8 * piece(node.parent.id).length);
      svg.append(draw("path", {class: style, d: `M${start} ${y0} C${(start + end) / 2} ${y0} ${(start + end) / 2} ${y} ${end} ${y}`}));
    }
    svg.append(draw("g", {class: style}, draw("text", {x, y: y + 4}, short(piece(node.id), style === "pruned" ? 11 : 9)),
      draw("text", {x, y: y + 17, class: "score"}, node.score.toFixed(2).replace("-", "\u2212") + (node.fate === "finished" ? " end" : ""))));
  }
  return svg;
}

// Beam search over a network, with the whole tree kept: what search/beam.py finds, and why; and sampling.

/** The k best [id, log-probability] of a row but for the `banned` ids; of equal ones the lower id first. */
function topK(logProbs, k, banned) {
  const best = [];
  for (let id = 0; id < logProbs.length; id++) {
    const value = logProbs[id];
    if ((best.length === k && value <= best[k - 1][1]) || banned.includes(id)) continue;
    let at = best.length;
    while (at && best[at - 1][1] < value) at--;
    best.splice(at, 0, [id, value]);
    if (best.length > k) best.pop();
  }
  return best;
}

/** The `rank` of hypotheses of different lengths, for an input of so many tokens, and its `bound`: see search/ranking.py. */
function ranking({length_penalty: penalty, length_model: lengths}, inputs) {
  const bound = (score, length) => score / ((5 + length) / 6) ** penalty, [ratio, variance] = lengths;
  if (!lengths.length) return {rank: bound, bound};
  return {rank: (score, length) => bound(score - (length - ratio * inputs) ** 2 / (2 * variance * inputs), length), bound};
}

/**
 * The best hypothesis and the tree of a search.
 *
 * Nodes: {id, parent, step, score, logProb, fate, taken, alternatives}; the fate of a node is "kept", "finished" or
 * "pruned", and of those that were read, `taken` is the step after them (network.js) and `alternatives` the best tokens
 * to follow. `forced` are tokens to begin with, and `attention` maps steps to weights that replace the computed ones.
 * `next` is awaited after every step, and ends the search by throwing.
 */
async function beamSearch(network, {memory, state}, {size, rank, bound, maxLength, forced = [], attention = {}, next}) {
  const root = {id: network.begin, parent: null, step: -1, score: 0, fate: "kept"};
  const nodes = [root];
  let live = [{node: root, state}], best = null, bestRank = -Infinity;
  for (let step = 0; live.length; step++) {
    const isForced = step < forced.length, found = [];
    const read = network.advance(memory, live.map(({node, state: before}) => ({state: before, id: node.id, override: attention[step]})));
    live.forEach(({node}, row) => {
      const taken = read[row], {logProbs} = taken, ranked = topK(logProbs, Math.max(size, 10), network.unwritten);
      Object.assign(node, {taken, alternatives: ranked.slice(0, 10)});
      const options = isForced ? [[forced[step], logProbs[forced[step]]]] : ranked.slice(0, size);
      for (const [id, logProb] of options) found.push({id, logProb, parent: node, row, step, score: node.score + logProb, state: taken.state});
    });
    found.sort((a, b) => b.score - a.score);  // the sort is stable: of equal ones the lower row, then the better token
    live = [];
    found.forEach((one, place) => {
      const {id, logProb, parent, score, state: after} = one;
      const node = {id, logProb, parent, step, score, fate: place >= size ? "pruned" : "kept"};
      nodes.push(node);
      if (node.fate === "pruned") return;
      if (id === EOS && !isForced) {
        node.fate = "finished";
        if (rank(score, step + 1) > bestRank) [best, bestRank] = [node, rank(score, step + 1)];
      } else live.push({node, state: after});
    });
    const most = live.length ? bound(live[0].node.score, maxLength) : -Infinity;
    if (!isForced && (most <= bestRank || step + 1 >= maxLength)) {
      if (!best) best = live[0].node;
      break;
    }
    if (next) await next(step);
  }
  return {...pathTo(best), nodes};
}

/** The path of a hypothesis, its tokens and its score. */
function pathTo(last) {
  const path = [];
  for (let node = last; node.parent; node = node.parent) path.unshift(node);
  return {path, ids: path.map((node) => node.id).filter((id) => id !== EOS), score: last.score};
}

/** The number from 0 to 1 that a seed has for a step: mulberry32. */
function uniform(seed, step) {
  let bits = (Math.imul(seed, 0x9e3779b1) + Math.imul(step + 1, 0x6d2b79f5)) | 0;
  bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
}

/** A token drawn from probabilities to the power of 1 / temperature. */
function drawn(logProbs, temperature, number, banned) {
  const powers = Float64Array.from(logProbs, (x, id) => (banned.includes(id) ? -Infinity : x / temperature));
  const top = powers.reduce((a, b) => Math.max(a, b)), weights = powers.map((x) => Math.exp(x - top));
  let left = number * weights.reduce(plus, 0);
  const id = weights.findIndex((weight) => (left -= weight) < 0);
  return id < 0 ? powers.indexOf(top) : id;
}

/** One hypothesis whose tokens are drawn at random, the same for the same seed; otherwise as `beamSearch`. */
async function sample(network, {memory, state}, {temperature, seed, maxLength, forced = [], attention = {}, next}) {
  let node = {id: network.begin, parent: null, step: -1, score: 0, fate: "kept"};
  const nodes = [node];
  for (let step = 0; step < maxLength; step++) {
    const isForced = step < forced.length, [taken] = network.advance(memory, [{state, id: node.id, override: attention[step]}]);
    const {logProbs} = taken, id = isForced ? forced[step] : drawn(logProbs, temperature, uniform(seed, step), network.unwritten);
    Object.assign(node, {taken, alternatives: topK(logProbs, 10, network.unwritten)});
    node = {id, logProb: logProbs[id], parent: node, step, score: node.score + logProbs[id], fate: "kept"};
    nodes.push(node);
    if (id === EOS && !isForced) break;
    ({state} = taken);
    if (next) await next(step);
  }
  return {...pathTo(node), nodes};
}

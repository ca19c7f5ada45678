// Beam search over a network, with the whole tree kept: what search/beam.py finds, and why.

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

/**
 * The best hypothesis and the tree of a search.
 *
 * Nodes: {id, parent, step, score, logProb, fate, taken, alternatives}; the fate of a node is "kept", "finished" or
 * "pruned", and of those that were read, `taken` is the step after them (network.js) and `alternatives` the best tokens
 * to follow. `forced` are tokens to begin with, and `attention` maps steps to weights that replace the computed ones.
 * `next` is awaited after every step, and ends the search by throwing.
 */
async function beamSearch(network, {memory, state}, {size, penalty, maxLength, forced = [], attention = {}, next}) {
  const root = {id: network.begin, parent: null, step: -1, score: 0, fate: "kept"};
  const nodes = [root], rank = (score, length) => score / ((5 + length) / 6) ** penalty;
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
    const bound = live.length ? rank(live[0].node.score, maxLength) : -Infinity;
    if (!isForced && (bound <= bestRank || step + 1 >= maxLength)) {
      if (!best) best = live[0].node;
      break;
    }
    if (next) await next(step);
  }
  const path = [];
  for (let node = best; node !== root; node = node.parent) path.unshift(node);
  return {path, nodes, ids: path.map((node) => node.id).filter((id) => id !== EOS), score: best.score};
}

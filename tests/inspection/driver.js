const contents = JSON.parse(require("fs").readFileSync("asked.json", "utf8"));
const sigm = (x) => 1 / (1 + Math.exp(-x)), log = (x) => (x === -Infinity ? null : x);
decodeTensors(contents.tensors, contents.chunks, () => {}).then(async (tensors) => {
  const network = new Network(contents, tensors), answers = [], {isTranslator} = network;
  const tokens = new Tokens(contents.tokenizers[isTranslator ? "source" : "text"]);
  const own = new Tokens(contents.tokenizers[network.target]);
  const again = ({op, value, terms = [], weights = [], reads, row}, of) => {
    const [x, y] = terms.map((term) => again(term, of)), [w] = weights.map((name) => tensors[name].values);
    const made = {
      sum: () => terms.reduce((total, term) => total + again(term, of), 0),
      mul: () => x * y, sub: () => x - y, tanh: () => Math.tanh(x), sigmoid: () => sigm(x),
      add_vector: () => x + w[row],
      product: () => of(reads[0]).reduce((total, z, n) => total + z * w[row * of(reads[0]).length + n], 0),
    };
    return made[op] ? made[op]() : value;
  };
  const gatesOf = ({gates, trace, step}, isFirst) => step.units.flatMap((unit) =>
    Object.entries(unit.gates).map(([letter, name]) => {
      const value = trace(), gate = gates[unit.name][letter];
      if (isFirst) gate.forEach((number, row) => {
        const worked = again(step.explain(value, name, row), value);
        if (Math.abs(worked - number) > 1e-5) throw new Error(`${name} ${row}: ${number}, but ${worked}`);
      });
      return [`${unit.name}.${letter}`, [...gate]];
    }));
  for (const text of contents.sentences) {
    const ids = tokens.encode(text), n = ids.length, steps = [];
    const start = network.start(isTranslator ? [...ids, EOS] : []);
    let {state} = start;
    for (const id of contents.forced) {
      const [taken] = network.advance(start.memory, [{state, id}]);
      const weights = taken.weights && [...taken.weights], gates = taken.step ? gatesOf(taken, !steps.length) : [];
      steps.push({log_probs: [...taken.logProbs].map(log), weights, gates});
      ({state} = taken);
    }
    const limits = isTranslator ? {maxLength: Math.min(3 * n + 10, 2 * n + 200)} : {forced: ids, maxLength: n + 20};
    const ranked = ranking({length_penalty: contents.penalty, length_model: contents.lengths}, n + 1);
    const found = await beamSearch(network, start, {size: contents.size, ...ranked, ...limits});
    const weights = found.path.map((node) => node.parent.taken.weights && [...node.parent.taken.weights]);
    answers.push({ids, steps, found: found.ids, score: found.score, weights, text: own.decode(found.ids)});
  }
  console.log(JSON.stringify(answers));
});

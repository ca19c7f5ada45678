// A network from its description (models/description): the encoder and the step of a decoder, or that of a language model.
//
// What panels build upon:
//
//   network = new Network(contents, tensors)
//     .isTranslator   true if it reads a source; else a language model
//     .target         the side of its tokenizer: "target" or "text"
//     .begin          the id that every output begins after
//     .unwritten      ids that no output has (padding, <s>)
//     .units          units of its step, bottom first: {name, kind, blocks, letters, candidate, inputs, gates, state,
//                     kept}; `blocks` are the letters of the blocks of the projected input in their order, `letters` those
//                     of its gates, `candidate` that of the new value, `inputs` the signals whose sum is that input,
//                     `gates` the names of signals by letter, `state` the signals it carries, and `kept` is
//                     [letter, false] where that gate is the fraction of the memory that is kept, [letter, true] where 1
//                     less it is, or null
//
//   start = network.start(ids)          ids of a source with </s> at its end; none for a language model
//     {memory, state}                   what the steps need
//     .scans                            recurrent layers of the encoder in the order of their work, [{name, steps}]; each
//                                       step as below, with the `position` in the source that it read
//
//   [taken] = network.advance(memory, [{state, id, override}])   one token read by each of some rows, faster than one by one;
//                                                                `override` (or nothing): attention weights to use
//     .logProbs       of every token that may come next, Float32Array
//     .state          for the next step
//     .weights        of attention by position, or null
//     .signals        every named signal: {"layer0.h": Float32Array, context, o, ..}
//     .gates          by unit and letter: {layer0: {i, f, g, o}}
//     .step           the Step: .units, and .primitives in order, each {op, part, inputs, outputs, weights, numbers, memory}:
//                     values by name in and out ("previous h" is of the step before; a name with ":" is no signal), names
//                     of tensors, numbers, the name of a memory tensor
//     .trace()        the values of all primitives, computed anew: value(name) is a Float32Array, or Rows (positions);
//                     value.memory has the memory tensors by name
//     .step.explain(value, name, row)   how one number came about, as a tree: {name, row, value} of a signal that was there
//                     or that another tree explains; with {op, part, weights, numbers, memory} beside it, of an operation, and `terms` (trees) where
//                     it depends on single numbers, `reads` (names) where on whole vectors. For `product`, the number is row
//                     `row` of the tensor weights[0] times value(reads[0]). So explain(value, "layer0.i", 7) of an LSTM is
//                     sigmoid of the sum of U[7] h, W[7] x and b[7]. Of Rows, `row` counts all numbers, row after row.
//
// The feed-forward language model has no step of a recurrent network: its signals, gates and units are empty, without trace.

/** Output layers: from the states of some rows to log-probabilities. */
const OUTPUTS = {
  softmax: ({weight, bias, never, norm, lexical_weight: lexical}, tensors) => {
    const fixed = (vectors) => vectors.map((x) => fixedNorm(x, norm)), rows = ({shape, values}) => new Rows(values, shape[0]);
    let W = tensors[weight];
    if (lexical || norm) {
      let {vectors} = rows(W);
      if (lexical) vectors = vectors.map((x, n) => join([x, rows(tensors[lexical]).row(n)]));
      if (norm) vectors = fixed(vectors);
      W = {shape: [vectors.length, vectors[0].length], values: Rows.of(vectors).values};
    }
    return (states) => affines(W, norm ? fixed(states) : states, tensors[bias]).map((z) => {
      for (const id of never) z[id] = -Infinity;
      return logSoftmax(z);
    });
  },
  adaptive: ({weights, tails, ranks}, tensors) => (states) => states.map((o) => {
    const layer = (name, x) => logSoftmax(affine(tensors[`${weights}${name}.weight`], x, tensors[`${weights}${name}.bias`]));
    const head = layer("head", o), known = head.length - tails, found = [head.subarray(0, known)];
    for (let n = 0; n < tails; n++) {
      const tail = layer(`tail${n}`, affine(tensors[`${weights}tail${n}.project`], o));
      found.push(tail.map((x) => x + head[known + n]));
    }
    const all = join(found);
    return Float32Array.from(ranks, (rank) => all[rank]);
  }),
  "class-factored": (data, tensors) => {
    const members = [];
    data.classes.forEach((one, id) => (members[one] = members[one] || []).push(id));
    return (states) => states.map((o) => {
      const z = affine(tensors[data.weight], o, tensors[data.bias]);
      const ofClasses = logSoftmax(affine(tensors[data.class_weight], o, tensors[data.class_bias]));
      members.forEach((ids, one) => logSoftmax(Float32Array.from(ids, (id) => z[id])).forEach((x, n) => { z[ids[n]] = x + ofClasses[one]; }));
      return z;
    });
  },
  hierarchical: ({nodes, bias, levels, leaves}, tensors) => (states) => affines(tensors[nodes], states, tensors[bias]).map((z) => {
    const found = [];
    let above = [0], place = 0;
    for (const level of levels) {
      above = level.flatMap((node, n) => [z[place + n], -z[place + n]].map((turn) => above[node] + logSigmoid(turn)));
      place += level.length;
      found.push(...above);
    }
    return Float32Array.from(leaves, (leaf) => found[leaf]);
  }),
};

/** Recurrent layers that read by themselves. */
class Recurrence {
  constructor({size, first, step}, tensors) {
    Object.assign(this, {step: new Step(step, tensors)});
    this.initial = Object.fromEntries(this.step.carried.map((name) => [name, first[name] ? tensors[first[name]].values : zeros(size)]));
  }
}

class Network {
  constructor(description, tensors) {
    const [, pad, , bos, eos] = description.symbols, {kind} = description;
    Object.assign(this, {description, tensors, unwritten: [pad, bos], isTranslator: kind === "encoder-decoder"});
    this.target = this.isTranslator ? "target" : "text";
    this.begin = this.isTranslator || description.reads === "sentences" ? bos : eos;
    this.output = OUTPUTS[description.output.kind](description.output, tensors);
    if (kind === "feed-forward-language-model") this.window = new Graph(description.window, tensors);
    else this.embedding = new Graph(description.embedding, tensors);
    if (kind === "recurrent-language-model") this.layers = new Recurrence(description.recurrence, tensors);
    if (this.isTranslator) {
      this.encoder = new Graph(description.encoder, tensors);
      this.layers = {step: new Step(description.decoder.step, tensors)};
    }
    const beside = description.language_model;
    if (beside) this.beside = {...new Recurrence(beside, tensors), embedding: new Graph(beside.embedding, tensors), begin: beside.begin};
    this.units = this.layers ? this.layers.step.units : [];
  }

  start(ids = []) {
    if (this.window) return {memory: {}, state: Array(this.description.steps - 1).fill(this.begin), scans: []};
    if (!this.isTranslator) return {memory: {}, state: this.layers.initial, scans: []};
    const {outputs, scans} = this.encoder.run(ids), groups = {memory: {}, state: {}};
    for (const [name, value] of Object.entries(outputs)) {
      const [group] = name.split(" ", 1);
      groups[group][name.slice(group.length + 1)] = value;
    }
    if (this.beside) groups.state.beside = this.beside.initial;
    return {...groups, scans};
  }

  advance(memory, rows) {
    if (this.window) {
      return rows.map(({state, id}) => {
        const read = [...state, id], [logProbs] = this.output([this.window.run(read).outputs.states.row(0)]);
        return {logProbs, state: read.slice(1), weights: null, signals: {}, gates: {}};
      });
    }
    const {beside, layers: {step}} = this, word = (graph, id) => graph.run([id]).outputs.x.row(0);
    const besides = beside && beside.step.take(rows.map(({state, id}) =>
      ({inputs: {x: word(beside.embedding, id === this.begin ? beside.begin : id)}, state: state.beside, memory: {}})));
    const taken = step.take(rows.map(({state, id, override}, k) => ({state, memory, override, inputs: {
      x: word(this.embedding, id), ...(beside && {language: besides[k].signals[beside.step.returns[0]]})}})));
    const logProbs = this.output(taken.map(({signals}) => signals[step.returns[0]]));
    return taken.map((one, k) =>
      ({...one, logProbs: logProbs[k], state: {...one.state, ...(beside && {beside: besides[k].state})}}));
  }
}

// Operations on whole sequences, which a description lists: see inference/operations.py. A signal is a vector, or Rows.

const range = (length) => Array.from({length}, (_, n) => n);
/** Sums over as many rows that follow each other as `scales` has, number by number times these. */
const weightedWindows = (x, scales) => Rows.of(range(x.rows - scales.length + 1).map((t) =>
  x.row(t).map((_, c) => scales.reduce((total, scale, n) => total + x.row(t + n)[c] * scale[c], 0))));
const padded = (x, left, right) => {
  const values = zeros((left + x.rows + right) * x.width);
  values.set(x.values, left * x.width);
  return new Rows(values, left + x.rows + right);
};
const windows = (x, width) => Rows.of(range(x.rows - width + 1).map((t) => x.values.slice(t * x.width, (t + width) * x.width)));

/** The kernels that fold so many columns to one, or to no more than `enough` (kernels/convolution_plan.py). */
function folding(left, widest, folds = 0, enough = 0) {
  const kernels = [];
  for (let width = 2; ; width = Math.min(width + 1, widest)) {
    if (left <= width) return {kernels: [...kernels, `close${left}`], columns: 1};
    kernels.push(`fold${width}`);
    left -= width - 1;
    if (enough && kernels.length >= folds && left <= enough) return {kernels, columns: left};
  }
}

/** Columns after all kernels. */
function layAlong(x, kernels, weight) {
  for (const kernel of kernels) {
    const {shape: [size, columns], values} = weight(`${kernel}.kernel`), beyond = columns - 1;
    let scales = range(columns).map((n) => Float32Array.from({length: size}, (_, c) => values[c * columns + n]));
    if (/^(open|unfold)/.test(kernel)) [x, scales] = [padded(x, beyond, beyond), scales.reverse()];
    x = each(weightedWindows(x, scales), Math.tanh);
  }
  return x;
}

/** The length expected of a translation, from the lengths of training pairs (kernels/convolution_plan.py). */
function expectedLength(source, [pairs, targets]) {
  const ratio = (targets.reduce(plus, 0) + 1) / (pairs.reduce((total, count, n) => total + count * n, 0) + 1);
  const expected = ((targets[source] || 0) + ratio * source) / ((pairs[source] || 0) + 1), low = Math.floor(expected);
  return Math.max(1, expected - low === 0.5 ? low + (low % 2) : Math.round(expected));
}

/** Each operation: signals, its options with weights by name, and the graph. */
const OPERATIONS = {
  embed: ([ids], {table, scale, norm}, {tensors}) => {
    const {shape: [, width], values} = tensors[table];
    const vector = (x) => (norm ? fixedNorm(x, {radius: norm, first: 0}) : x).map((one) => one * scale);
    const rows = Rows.of([...ids].map((id) => vector(values.subarray(id * width, (id + 1) * width))));
    return [Object.assign(rows, {places: range(rows.rows)})];
  },
  spell: ([ids], {words, weights, widths, highways}, {tensors, spelt}) => {
    const layer = (name, x) => affine(tensors[`${weights}${name}.weight`], x, tensors[`${weights}${name}.bias`]);
    const characters = tensors[`${weights}characters.weight`], size = characters.shape[1];
    const vector = (word) => {
      const rows = Rows.of(word.map((one) => characters.values.subarray(one * size, (one + 1) * size)));
      const wide = padded(rows, 0, widths - 1);
      const tops = range(widths).map((n) => {
        const a = layer(`width${n + 1}`, windows(wide, n + 1)).vectors.slice(0, word.length);
        return a.reduce((top, row) => both(top, row, Math.max)).map(Math.tanh);
      });
      let y = join(tops);
      for (let n = 0; n < highways; n++) {
        const t = layer(`transform${n}`, y).map(sigmoid), g = layer(`hidden${n}`, y).map(relu);
        y = y.map((old, c) => old + t[c] * (g[c] - old));
      }
      return y;
    };
    const known = (id) => spelt.get(id) || (spelt.set(id, vector(words[id])), spelt.get(id));
    return [Object.assign(Rows.of([...ids].map(known)), {places: range(ids.length)})];
  },
  scan: ([x], {name, size, first}, {tensors, scans}, step) => {
    let state = Object.fromEntries(step.carried.map((one) => [one, first[one] ? tensors[first[one]].values : zeros(size)]));
    const steps = x.vectors.map((vector, t) => {
      const taken = {...step.take([{inputs: {x: vector}, state, memory: {}}])[0], position: x.places[t]};
      state = taken.state;
      return taken;
    });
    scans.push({name, steps});
    const outputs = Rows.of(steps.map((taken) => taken.signals[step.returns[0]]));
    return [Object.assign(outputs, {places: x.places}), ...step.carried.map((one) => state[one])];
  },
  reverse: ([x], {but}) => [x.at([...range(x.rows - but).reverse(), ...range(but).map((n) => x.rows - but + n)])],
  join: (signals) => [join(signals)],
  add: ([a, b]) => [both(a, b, plus)],
  project: ([x], {weight, bias}, {tensors}) => [affine(tensors[weight], x, tensors[bias])],
  tanh: ([x]) => [each(x, Math.tanh)],
  relu: ([x]) => [each(x, relu)],
  normalize: ([x], {gain, bias}, {tensors}) => [normalised(x, tensors[gain], tensors[bias])],
  mean: ([x]) => [mixed(x, zeros(x.rows).fill(1 / x.rows))],
  last: ([x]) => [x.row(x.rows - 1)],
  convolve: ([x], {weight, bias, width}, {tensors}) => {
    const left = (width - 1) >> 1;
    return [affine(tensors[weight], windows(padded(x, left, width - 1 - left), width), tensors[bias])];
  },
  windows: ([x], {words}) => [windows(x, words)],
  diagonal_windows: ([x], {weight}, {tensors}) => {
    const {shape: [count], values} = tensors[weight];
    return [weightedWindows(x, new Rows(values, count).vectors)];
  },
  gated_convolution: ([h], {weights}, {tensors}) => {
    const [parent, choice] = ["parent", "choice"].map((name) => tensors[`${weights}${name}.weight`]);
    const [ofParent, ofChoice] = ["parent", "choice"].map((name) => tensors[`${weights}${name}.bias`]);
    const size = h.width, kinds = choice.shape[0] / 2;
    for (; h.rows > 1;) {
      const p = affine(parent, h), q = affine(choice, h), below = h;
      h = Rows.of(range(h.rows - 1).map((t) => {
        const a = zeros(size), g = zeros(kinds);
        for (let n = 0; n < size; n++) a[n] = p.row(t)[n] + p.row(t + 1)[size + n] + (ofParent ? ofParent.values[n] : 0);
        for (let n = 0; n < kinds; n++) g[n] = q.row(t)[n] + q.row(t + 1)[kinds + n] + (ofChoice ? ofChoice.values[n] : 0);
        const w = softmax(g);
        return a.map((x, n) => w[0] * Math.tanh(x) + w[1] * below.row(t)[n] + w[2] * below.row(t + 1)[n]);
      }));
    }
    return [h.row(0)];
  },
  convolution: ([x], {weights, widest}, {tensors}) =>
    [layAlong(x, folding(x.rows, widest).kernels, (name) => tensors[weights + name]).row(0)],
  ngram_convolution: ([x], {weights, widest, folds, lengths}, {tensors}) => {
    const weight = (name) => tensors[weights + name], wanted = expectedLength(x.rows, lengths);
    const {kernels, columns} = folding(x.rows, widest, folds, wanted);
    const grams = each(affine(weight("translation.weight"), layAlong(x, kernels, weight)), Math.tanh);
    const back = folding(wanted - columns + 1, widest).kernels.reverse();
    return [layAlong(grams, back.map((one) => one.replace("close", "open").replace("fold", "unfold")), weight)];
  },
  rows_first: ([x]) => [x],
  closed: ([x], {reach}) => [Float32Array.from({length: x.rows}, (_, s) => +(reach > 0 && s >= reach))],
  length: ([x], {reach}) => [Float32Array.of(reach ? Math.min(x.rows, reach) : x.rows)],
  zeros: (_, {width}) => [zeros(width)],
  zero_positions: ([x]) => [zeros(x.rows)],
  first_position: ([x]) => [zeros(x.rows).fill(1, 0, 1)],
};

/** Operations in order, with their weights. */
class Graph {
  constructor({operations, outputs}, tensors) {
    Object.assign(this, {outputs, tensors, spelt: new Map()});
    this.operations = operations.map(([name, inputs, options, made]) =>
      ({compute: OPERATIONS[name], inputs, options, made, step: options.step && new Step(options.step, tensors)}));
  }

  /** The outputs by name over a list of ids; and of its recurrent layers {name, steps} in the order of their work. */
  run(ids) {
    const signals = {ids}, scans = [], around = {tensors: this.tensors, spelt: this.spelt, scans};
    for (const {compute, inputs, options, made, step} of this.operations) {
      const found = compute(inputs.map((name) => signals[name]), options, around, step);
      made.forEach((name, n) => { signals[name] = found[n]; });
    }
    return {outputs: Object.fromEntries(Object.entries(this.outputs).map(([name, signal]) => [name, signals[signal]])), scans};
  }
}

// A step as an ordered list of parts with named signals: the same list that training runs (kernels/parts.py).

/**
 * One step. `signals` has what the parts read from outside; "previous h" is looked up in `state`.
 * Returns every signal of the step, and what units and attention did on the way: {gates, weights}.
 * `override` (or nothing) gives attention weights instead of the computed ones.
 */
function runStep(program, tensors, state, memory, inputs, override) {
  const signals = {...inputs}, gates = {};
  const weight = (name) => tensors[program.weights[name]];
  for (const part of program.parts) {
    const read = part.reads.map((name) =>
      name.startsWith("previous ") ? state[name.slice("previous ".length)] : signals[name]);
    const written = PARTS[part.kind](part, read, weight, memory, {gates, override});
    part.writes.forEach((name, i) => { signals[name] = written[i]; });
  }
  return {signals, gates};
}

/** The signals that the next step looks back at. */
const carried = (program, signals) => Object.fromEntries(program.carried.map((name) => [name, signals[name]]));

/** gain * normal(a) (+ bias): layer normalisation (Ba et al. 2016). */
function normalised(a, gain, bias) {
  const mean = a.reduce((x, y) => x + y, 0) / a.length;
  const scale = 1 / Math.sqrt(a.reduce((x, y) => x + (y - mean) ** 2, 0) / a.length + 1e-5);
  return a.map((x, i) => (x - mean) * scale * gain.values[i] + (bias ? bias.values[i] : 0));
}

const PARTS = {
  project: (part, [x], weight) => [affine(weight(`${part.name}.weight`), x, part.bias ? weight(`${part.name}.bias`) : null)],
  tanh: (part, read) => [sum(read).map(Math.tanh)],
  add: (part, read) => [sum(read)],
  maxout: (part, read) => {
    const t = sum(read);
    return [Float32Array.from({length: t.length / 2}, (_, i) => Math.max(t[2 * i], t[2 * i + 1]))];
  },
  normalise: (part, read, weight) =>
    [normalised(sum(read), weight(`${part.name}.gain`), part.bias ? weight(`${part.name}.bias`) : null)],
  unit: (part, read, weight, memory, seen) => {
    const product = (name, x) => {
      const y = affine(weight(`${part.name}.${name}`), x);
      return part.norm ? normalised(y, weight(`${part.name}.${name}_gain`)) : y;
    };
    const bias = part.cell.recurrent_bias ? weight(`${part.name}.bias`) : null;
    const {state, gates} = CELLS[part.cell.kind](part.cell, sum(read.slice(0, part.inputs)), read.slice(part.inputs), product, bias);
    seen.gates[part.name] = gates;
    return state;
  },
  attend: (part, [query, coverage], weight, memory, seen) => {
    const scores = SCORES[part.score](part, query, coverage, weight, memory).map((e) => e * part.scale);
    const weights = seen.override || softmax(scores);
    const context = new Float32Array(memory.values[0].length);
    memory.values.forEach((value, s) => { for (let i = 0; i < context.length; i++) context[i] += weights[s] * value[i]; });
    return [context, weights];
  },
};

const dot = (a, b) => { let y = 0; for (let i = 0; i < a.length; i++) y += a[i] * b[i]; return y; };

const SCORES = {
  dot: (part, query, coverage, weight, memory) => memory.values.map((value) => dot(query, value)),
  general: (part, query, coverage, weight, memory) => memory.keys.map((key) => dot(query, key)),
  concat: (part, query, coverage, weight, memory) => {
    const q = affine(weight(`${part.name}.query`), query), v = weight(`${part.name}.v`).values;
    const covered = coverage ? weight(`${part.name}.coverage`).values : null;
    return memory.keys.map((key, s) => {
      let e = 0;
      for (let i = 0; i < q.length; i++) e += v[i] * Math.tanh(q[i] + key[i] + (covered ? covered[i] * coverage[s] : 0));
      return e;
    });
  },
};

/** What attention computes once a sentence: annotations, and their keys (kernels/scores). */
function remember(program, tensors, annotations) {
  const part = program.parts.find((one) => one.kind === "attend");
  if (!part) return {};
  const name = program.weights[`${part.name}.memory`];
  return {values: annotations, keys: name ? annotations.map((value) => affine(tensors[name], value)) : null};
}

const block = (x, size, n) => x.subarray(n * size, (n + 1) * size);

const CELLS = {
  elman: (cell, x, [before], product) => {
    const f = {tanh: Math.tanh, sigmoid, relu: (a) => Math.max(a, 0)}[cell.activation];
    const h = sum([product("h", before), x]).map(f);
    return {state: [h], gates: {h}};
  },
  lstm: (cell, x, [before, memory], product) => {
    const size = before.length, a = sum([product("h", before), x]);
    const i = block(a, size, 0).map(sigmoid), f = block(a, size, 1).map(sigmoid);
    const g = block(a, size, 2).map(Math.tanh), o = block(a, size, 3).map(sigmoid);
    const c = g.map((_, k) => f[k] * memory[k] + i[k] * g[k]);
    return {state: [c.map((value, k) => o[k] * Math.tanh(value)), c], gates: {i, f, g, o, c}};
  },
  gru: (cell, x, [before], product, bias) => {
    const size = before.length, a = product("h", before);
    if (bias) bias.values.forEach((value, k) => { a[2 * size + k] += value; });
    const gate = (n) => block(a, size, n).map((value, k) => sigmoid(value + x[n * size + k]));
    const r = gate(0), z = gate(1);
    const u = cell.reset === "after"
      ? r.map((value, k) => value * a[2 * size + k])
      : product("rh", r.map((value, k) => value * before[k]));
    const g = u.map((value, k) => Math.tanh(value + x[2 * size + k]));
    const h = cell.update === "new"
      ? before.map((old, k) => old + z[k] * (g[k] - old))
      : g.map((fresh, k) => fresh + z[k] * (before[k] - fresh));
    return {state: [h], gates: {r, z, g}};
  },
};

// A step as a list of primitive operations over named values: what forward(ops, ..) of its parts wrote down (steps.py).

/** Each primitive: from what it reads, and {weights, numbers, memory, positions}, to the list of what it makes. */
const PRIMITIVES = {
  product: ([a], {weights: [W]}) => [affine(W, a)],
  add_vector: ([a], {weights: [b]}) => {
    const y = Float32Array.from(a), less = y.length - b.values.length;
    for (let n = 0; n < b.values.length; n++) y[less + n] += b.values[n];
    return [y];
  },
  vector: (_, {weights: [w]}) => [w.values],
  normal: ([a], {weights: [gain, bias]}) => [normalised(a, gain, bias)],
  sentences: (_, {memory}) => [memory],
  whole: (_, {memory}) => [memory],
  number: (_, {numbers}) => [Float32Array.from(numbers)],
  mix: ([a], {memory}) => [mixed(memory, a)],
  dot: ([a], {memory}) => [affine({shape: [memory.rows, memory.width], values: memory.values}, a)],
  column: ([clock], {memory}) => [memory.row(Math.min(clock[0] - 1, memory.rows - 1))],
  split: ([a], {numbers}) => {
    const one = a.length / numbers.reduce(plus, 0);
    let place = 0;
    return numbers.map((blocks) => a.subarray(place, (place += blocks * one)));
  },
  join: (parts) => [join(parts)],
  sum: ([first, ...more]) => [more.reduce((a, b) => both(a, b, plus), first)],
  sub: ([a, b]) => [both(a, b, (x, y) => x - y)],
  mul: ([a, b]) => [both(a, b, (x, y) => x * y)],
  minimum: ([a, b]) => [both(a, b, Math.min)],
  tanh: ([a]) => [each(a, Math.tanh)],
  sigmoid: ([a]) => [each(a, sigmoid)],
  relu: ([a]) => [each(a, relu)],
  exp: ([a]) => [each(a, Math.exp)],
  log_sigmoid: ([a]) => [each(a, logSigmoid)],
  scale: ([a], {numbers: [factor]}) => [each(a, (x) => x * factor)],
  add_number: ([a], {numbers: [number]}) => [each(a, (x) => x + number)],
  capped_exp: ([a], {numbers: [largest]}) => [each(a, (x) => Math.exp(Math.min(x, largest)))],
  maxout: ([t]) => [Float32Array.from({length: t.length / 2}, (_, n) => Math.max(t[2 * n], t[2 * n + 1]))],
  softmax: ([e, closed], {numbers: [scale]}) => [softmax(e.map((x, s) => (closed[s] ? -Infinity : x * scale)))],
  // over the positions of a sentence
  squeeze: ([a]) => [a.values],
  at_positions: ([a]) => [new Rows(a, a.length)],
  over_positions: ([a]) => [new Rows(a, 1)],
  sum_positions: ([a]) => [mixed(a, zeros(a.rows).fill(1))],
  places: (_, {memory}) => [Float32Array.from({length: memory.rows}, (_, n) => n + 1)],
  near: ([distance], {memory, numbers: [first, last]}) => [distance.map((x, s) => +(memory[s] > 0 || x < first || x > last))],
  only_open: ([a, closed]) => [a.map((x, s) => (closed[s] ? 0 : x))],
  median: ([weights]) => {
    const half = weights.reduce(plus, 0) / 2;
    let total = 0, place = 1;
    for (const weight of weights) { total += weight; if (total < half) place++; }
    return [Float32Array.of(place)];
  },
  neighbours: ([a], {numbers: [radius]}) => [Rows.of(Array.from(a, (_, s) =>
    Float32Array.from({length: 2 * radius + 1}, (_, n) => a[s + n - radius] || 0)))],
  cut_or_pad: ([a], {memory}) => [Float32Array.from({length: memory.rows}, (_, n) => a[n] || 0)],
};

/** Primitives of whose output a number depends on the numbers at the same place of what they read. */
const BY_NUMBER = new Set(["sum", "sub", "mul", "minimum", "tanh", "sigmoid", "relu", "exp", "log_sigmoid", "scale",
  "add_number", "capped_exp", "add_vector"]);

/** Primitives that put the same numbers into another shape. */
const SAME_NUMBERS = new Set(["squeeze", "at_positions", "over_positions"]);

/**
 * The values of a unit's gates by letter: functions of sums that one block of the projected input, or of a product, is a
 * term of; of a new value without a function, the sum itself. A sum that is a state is none of them.
 */
function gatesOf({name, blocks, letters: all, products, candidate, inputs, state}, primitives) {
  const own = primitives.filter((one) => one.part === name), gates = new Map(), logs = new Map();
  const sums = new Map([[inputs.length === 1 ? inputs[0] : own[0].outputs[0], blocks]]);
  for (const {op, inputs: read, outputs, numbers, weights} of own) {
    const of = op === "product" && products[weights[0].split(".").pop()];
    if (of && ![...of].some((letter) => blocks.includes(letter))) sums.set(outputs[0], of);
    if (op === "sub" && logs.has(read[0])) sums.set(outputs[0], logs.get(read[0]));
    if (op === "split") {
      for (const letters of [sums, gates]) {
        if (!letters.has(read[0])) continue;
        const of = letters.get(read[0]), one = of.length / numbers.reduce(plus, 0);
        let place = 0;
        outputs.forEach((value, n) => letters.set(value, of.slice(place, (place += one * numbers[n]))));
      }
      continue;
    }
    const term = read.find((value) => sums.has(value));
    const into = {sum: sums, log_sigmoid: logs, tanh: gates, sigmoid: gates, relu: gates}[op];
    if (op === "sum" && state.includes(outputs[0])) continue;
    if (term !== undefined && into && outputs[0] !== [...sums.keys()][0]) into.set(outputs[0], sums.get(term));
  }
  const found = {};
  for (const letter of all) {
    const [value] = [...gates].find(([, letters]) => letters === letter) || [];
    const [fresh] = letter === candidate ? [...sums].reverse().find(([, letters]) => letters === letter) || [] : [];
    if (value || fresh) found[letter] = value || fresh;
  }
  return found;
}

/** Primitives without those that split the same again; the others read the values of the first. */
function withoutRepeats(primitives) {
  const first = new Map(), names = new Map();
  return primitives.flatMap((one) => {
    const inputs = one.inputs.map((name) => names.get(name) || name), key = JSON.stringify([inputs, one.numbers]);
    const before = one.op === "split" && one.outputs.every((name) => name.includes(":")) && first.get(key);
    if (before) one.outputs.forEach((name, n) => names.set(name, before[n]));
    else if (one.op === "split") first.set(key, one.outputs);
    return before ? [] : [{...one, inputs}];
  });
}

const sizeOf = (value) => (value instanceof Rows ? [value.rows, value.width] : [1, value.length]);

/** The place in a value that broadcasts to the number at `place` of a whole. */
function placeIn(value, whole, place) {
  const [rows, width] = sizeOf(value), [, columns] = sizeOf(whole);
  return (rows === 1 ? 0 : Math.floor(place / columns)) * width + (width === 1 ? 0 : place % columns);
}

/** The primitives that lead to values that are wanted. */
function leadingTo(wanted, primitives) {
  const needed = new Set(wanted);
  return [...primitives].reverse().filter(({inputs, outputs}) => {
    const leads = outputs.some((name) => needed.has(name));
    if (leads) inputs.forEach((name) => needed.add(name));
    return leads;
  }).reverse();
}

/** One step of a recurrent network. */
class Step {
  constructor({primitives, units, returns, carried}, tensors) {
    const names = new Map();
    units = units.map((unit) => ({...unit, gates: Object.fromEntries(Object.entries(gatesOf(unit, primitives)).map(([letter, value]) => {
      if (value.includes(":")) names.set(value, `${unit.name}.${letter}`);
      return [letter, names.get(value) || value];
    }))}));
    const named = (values) => values.map((value) => names.get(value) || value);
    primitives = leadingTo([...returns, ...carried, ...units.flatMap(({gates}) => Object.values(gates))],
      primitives.map((one) => ({...one, inputs: named(one.inputs), outputs: named(one.outputs)})));
    primitives = withoutRepeats(primitives);
    const data = {primitives, units, returns, carried};
    Object.assign(this, data);
    const places = new Map(), place = (name) => places.get(name) ?? (places.set(name, places.size), places.size - 1);
    this.places = places;
    this.plan = data.primitives.map((one) => ({
      op: one.op, inputs: one.inputs.map(place), outputs: one.outputs.map(place), memory: one.memory,
      given: {weights: (one.weights || []).map((name) => tensors[name]), numbers: one.numbers},
    }));
    this.makers = new Map(data.primitives.flatMap((one) => one.outputs.map((name, n) => [name, {...one, n}])));
    this.named = [...places.keys()].filter((name) => !name.includes(":") && !name.startsWith("previous "));
    this.leaves = new Set([...data.carried, ...data.returns,
      ...data.units.flatMap((unit) => [...Object.values(unit.gates), ...unit.state])]);
  }

  /** All values of the steps of several rows, by place; each row is {inputs, state, memory, override}. */
  compute(rows) {
    const all = rows.map(({inputs, state}) => {
      const values = new Array(this.places.size);
      const give = (name, value) => { const place = this.places.get(name); if (place !== undefined) values[place] = value; };
      for (const name of Object.keys(inputs)) give(name, inputs[name]);
      for (const name of this.carried) give(`previous ${name}`, state[name]);
      return values;
    });
    const weights = this.places.get("weights");
    for (const {op, inputs: read, outputs, memory: name, given} of this.plan) {
      if (op === "product" && !(all[0][read[0]] instanceof Rows)) {
        affines(given.weights[0], all.map((values) => values[read[0]])).forEach((y, k) => { all[k][outputs[0]] = y; });
        continue;
      }
      all.forEach((values, k) => {
        const {memory, override} = rows[k];
        const made = PRIMITIVES[op](read.map((place) => values[place]), name ? {...given, memory: memory[name]} : given);
        outputs.forEach((place, n) => { values[place] = override && place === weights ? override : made[n]; });
      });
    }
    return all;
  }

  /** The steps of several rows and what can be seen of them: see network.js. */
  take(rows) {
    return this.compute(rows).map((values, k) => {
      const signals = Object.fromEntries(this.named.map((name) => [name, values[this.places.get(name)]]));
      const gates = Object.fromEntries(this.units.map((unit) => [unit.name,
        Object.fromEntries(Object.entries(unit.gates).map(([letter, name]) => [letter, signals[name]]))]));
      const after = Object.fromEntries(this.carried.map((name) => [name, signals[name]]));
      const trace = () => { const [all] = this.compute([rows[k]]); return Object.assign((name) => all[this.places.get(name)], {memory: rows[k].memory}); };
      return {step: this, signals, gates, weights: signals.weights || null, state: after, trace};
    });
  }

  /** How one number of a value came about, as a tree: see network.js. */
  explain(value, name, row = 0, root = true) {
    const whole = value(name), made = this.makers.get(name), at = whole.length === 1 ? 0 : row;
    const node = {name, row: at, value: whole instanceof Rows ? whole.values[at] : whole[at]};
    if (!made || (!root && this.leaves.has(name))) return node;
    const {op, inputs, n, numbers, weights = [], memory, part} = made;
    const further = (input, place = at) => this.explain(value, input, place, false);
    if (op === "split") {
      const one = value(inputs[0]).length / numbers.reduce(plus, 0);
      return {...further(inputs[0], at + one * numbers.slice(0, n).reduce(plus, 0)), ...(root ? {name, row: at} : {})};
    }
    if (op === "join") {
      let place = at;
      for (const input of inputs) {
        const size = value(input).length;
        if (place < size) return further(input, place);
        place -= size;
      }
    }
    if (SAME_NUMBERS.has(op)) return {...further(inputs[0]), ...(root ? {name, row: at} : {})};
    Object.assign(node, {op, weights, numbers, memory, part});
    if (BY_NUMBER.has(op)) node.terms = inputs.map((input) => further(input, placeIn(value(input), whole, at)));
    else if (op === "maxout") node.terms = [further(inputs[0], 2 * at), further(inputs[0], 2 * at + 1)];
    else node.reads = inputs;
    return node;
  }
}

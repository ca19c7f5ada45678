// The formula of a number, typeset and worked out, from the tree of Step.explain: any unit, score or readout has its own.

const MATH = "http://www.w3.org/1998/Math/MathML";

function math(tag, ...children) {
  const node = document.createElementNS(MATH, tag);
  node.append(...children.flat());
  return node;
}
const sign = (text) => math("mo", text);
const name = (text) => math("mi", text);
const figure = (x) => math("mn", x.toFixed(3).replace("-", "\u2212"));
const inside = (parts) => [sign("("), parts, sign(")")].flat();
/** A number within a sum or product: in brackets where it is negative. */
const factor = (one) => (one.textContent.startsWith("\u2212") ? inside([one]) : [one]);
const indexed = (row) => [sign("["), math("mn", row), sign("]")];
/** A chain of equations that may break before each sign of equality. */
const equation = (first, ...more) => el("p", {}, math("math", first), more.flatMap((one) => [" ", math("math", sign("="), one)]));
const withMarks = (base, low, high) => (high === "" ? math("msub", base, math("mrow", low)) : math("msubsup", base, math("mrow", low), math("mrow", name(high))));

const FUNCTIONS = {sigmoid: "\u03c3", tanh: "tanh", relu: "relu", exp: "exp", capped_exp: "exp", log_sigmoid: "log \u03c3",
  normal: "norm", maxout: "max", minimum: "min"};
/** Names of signals as formulas have them; the readout and the output gate are both `o` in the model. */
const WORDS = {o: "readout"};
/** Matrices by what they are multiplied with. */
const MATRICES = {context: "C", "previous o": "F"};
/** The products shown of a sum. */
const LARGEST = 5;

class Formula {
  constructor({step, trace}, tensors) { Object.assign(this, {step, value: trace(), tensors}); }

  explain(of, row) { return this.step.explain(this.value, of, row); }

  /** A signal: its letter, with the step below and the layer, where there are several, above. */
  symbol(of) {
    const before = of.startsWith("previous "), own = of.replace("previous ", "");
    const [, layer, tail] = /^(?:layer(\d+)\.)?(.*)$/.exec(own);
    const letter = tail.includes(":") ? "e" : (!layer && WORDS[tail]) || tail.replace(/^\w+\./, "");
    const when = before ? [name("t"), sign("\u2212"), math("mn", "1")] : [name("t")];
    return withMarks(name(letter), when, layer && this.step.units.length > 1 ? `(${Number(layer) + 1})` : "");
  }

  /** The matrix of a product or the vector of a bias; `letter` is the gate that they are of. */
  weight({op, part, weights: [of], reads}, letter) {
    const tail = of.split(".").pop(), isOwn = this.step.units.some((unit) => unit.name === part);
    if (op === "vector") return math("msub", name("w"), name(tail.replaceAll("_", "")));
    const base = op !== "product" ? (tail === "bias" ? "b" : tail) : tail === "v" ? "v" : MATRICES[reads[0]] || (isOwn ? "U" : "W");
    if (base === "v") return math("msup", name("v"), sign("\u22a4"));
    return letter ? math("msub", name(base), name(letter)) : name(base);
  }

  /** The number that `add_vector` adds, or null: a short vector is added to the last numbers only. */
  bias({name: of, row, weights: [weight]}) {
    const {values} = this.tensors[weight];
    return values[row - (this.value(of).length - values.length)] ?? null;
  }

  /** A vector that an operation reads, by name, or by its formula where it has none. */
  vector(of, letter, isFactor = true) {
    const {leaves, makers} = this.step;
    return of.includes(":") || (!isFactor && makers.has(of) && !leaves.has(of)) ? this.symbols(this.explain(of, 0), letter, isFactor) : [this.symbol(of)];
  }

  /** The formula of a tree; in brackets where it is a factor and a sum. */
  symbols(node, letter, isFactor = false) {
    const {op, terms = [], reads = [], memory} = node, sums = (parts) => (isFactor ? inside(parts) : parts);
    const held = (of) => math("msub", name(of.split(".").pop()), name("s"));
    switch (op) {
      case undefined: return [this.symbol(node.name)];
      case "sum": return sums(terms.flatMap((term, n) => [...(n ? [sign("+")] : []), ...this.symbols(term, letter)]));
      case "add_vector":
        return this.bias(node) === null ? this.symbols(terms[0], letter, isFactor)
          : sums([...this.symbols(terms[0], letter), sign("+"), this.weight(node, letter)]);
      case "add_number": return sums([...this.symbols(terms[0], letter), sign("+"), math("mn", node.numbers[0])]);
      case "sub": return sums([...this.symbols(terms[0], letter), sign("\u2212"), ...this.symbols(terms[1], letter, true)]);
      case "mul": return [...this.symbols(terms[0], letter, true), sign("\u2299"), ...this.symbols(terms[1], letter, true)];
      case "scale": return [math("mn", node.numbers[0]), ...this.symbols(terms[0], letter, true)];
      case "product": return [this.weight(node, letter), ...this.vector(reads[0])];
      case "vector": return [this.weight(node, letter)];
      case "number": return [math("mn", node.numbers[0])];
      case "sentences": case "whole": return [held(memory)];
      case "mix": return [math("munder", sign("\u2211"), name("s")), ...this.vector(reads[0]), held(memory)];
      case "dot": return [held(memory), sign("\u00b7"), ...this.vector(reads[0])];
      case "softmax": return [name("softmax"), ...inside(withMarks(name("e"), [name("t")], ""))];
      default: {
        const given = terms.length ? terms.map((term) => this.symbols(term, letter)) : reads.map((read) => this.vector(read, letter, false));
        return [name(FUNCTIONS[op] || op.replaceAll("_", " ")), ...inside(given.flatMap((one, n) => [...(n ? [sign(",")] : []), ...one]))];
      }
    }
  }

  /** The same with numbers; products and all that read whole vectors are one number each. */
  numbers(node, isFactor = false) {
    const {op, terms, value} = node, sums = (parts) => (isFactor ? inside(parts) : parts);
    const term = (one) => { const [first, ...rest] = this.numbers(one); return [...factor(first), ...rest]; };
    if (!terms) return isFactor ? factor(figure(value)) : [figure(value)];
    switch (op) {
      case "sum": return sums(terms.flatMap((one, n) => (n ? [sign("+"), ...term(one)] : this.numbers(one))));
      case "add_vector": {
        const bias = this.bias(node);
        if (bias === null) return this.numbers(terms[0], isFactor);
        return sums([...this.numbers(terms[0]), sign("+"), ...factor(figure(bias))]);
      }
      case "add_number": return sums([...this.numbers(terms[0]), sign("+"), math("mn", node.numbers[0])]);
      case "sub": return sums([...this.numbers(terms[0]), sign("\u2212"), ...this.numbers(terms[1], true)]);
      case "mul": return [...this.numbers(terms[0], true), sign("\u00b7"), ...this.numbers(terms[1], true)];
      case "scale": return [math("mn", node.numbers[0]), sign("\u00b7"), ...this.numbers(terms[0], true)];
      default: return [name(FUNCTIONS[op] || op), ...inside(terms.flatMap((one, n) => [...(n ? [sign(",")] : []), ...this.numbers(one)]))];
    }
  }

  /** What a number that reads whole vectors is the sum of: [label, number, weight] each, or nothing. */
  factors({op, weights, reads, row, memory}) {
    const label = (of) => (of.includes(":") ? "" : this.symbol(of).firstChild.textContent);
    if (op === "product") {
      const W = this.tensors[weights[0]], given = this.value(reads[0]), [rows] = W.shape;
      const x = given instanceof Rows ? given.row(Math.floor(row / rows)) : given, at = (row % rows) * x.length;
      return [...x].map((number, n) => [`${label(reads[0])}[${n}]`, number, W.values[at + n]]);
    }
    if (op === "mix") return [...this.value(reads[0])].map((number, s) => [`${label(reads[0])}[${s}]`, number, this.value.memory[memory].row(s)[row]]);
    if (op === "dot") return [...this.value(reads[0])].map((number, n) => [`[${n}]`, number, this.value.memory[memory].row(row)[n]]);
    return null;
  }

  /** The largest products of a sum, and the rest as one number; drawn when a reader asks. */
  products(node, letter) {
    const ranked = this.factors(node).map(([label, x, w]) => [label, x, w, x * w]).sort((a, b) => Math.abs(b[3]) - Math.abs(a[3]));
    const box = el("details", {}, el("summary", {}, math("math", this.symbols(node, letter), sign("="), figure(node.value)),
      ` \u2014 ${ranked.length} products`));
    box.addEventListener("toggle", () => {
      if (box.childElementCount > 1) return;
      const rest = ranked.slice(LARGEST), total = rest.reduce((sum, [, , , x]) => sum + x, 0);
      const rows = ranked.slice(0, LARGEST).map(([label, ...three]) => [label, ...three.map(number)]);
      box.append(plainTable("Largest products", ["Of", "Number", "Weight", "Product"],
        rest.length ? [...rows, [`${rest.length} others`, "", "", number(total)]] : rows));
    });
    return box;
  }

  /** One line: the formula, the number worked out, and its products. */
  line(node, letter = "", of = this.symbol(node.name)) {
    const left = math("mrow", of.cloneNode(true)), products = [], softmaxes = [];
    const walk = (one) => {
      if (one.op === "softmax") softmaxes.push(one);
      if (["product", "mix", "dot"].includes(one.op)) products.push(one);
      if (one.op === "normal") walk(this.explain(one.reads[0], one.row));
      (one.terms || []).forEach(walk);
    };
    walk(node);
    const {terms = [], op, value, row} = node, isFunction = terms.length === 1 && FUNCTIONS[op];
    const worked = terms.length ? [this.numbers(node)] : [];
    if (isFunction) worked.push([name(FUNCTIONS[op]), ...inside([figure(terms[0].value)])]);
    if (op === "softmax") {
      const e = this.value(node.reads[0])[row] * node.numbers[0], others = Math.exp(e) / value;
      worked.push([math("mfrac", math("mrow", name("exp"), inside([figure(e)])), figure(others))]);
    }
    const further = softmaxes.filter((one) => this.step.makers.has(one.reads[0])).map((one) =>
      this.line(this.explain(one.reads[0], one.row), "", withMarks(name("e"), [name("t")], "")));
    return el("div", {className: "lines"},
      el("div", {className: "line", tabIndex: products.length ? -1 : 0},
        equation([of], this.symbols(node, letter)),
        equation([left, ...indexed(row)], ...worked, [figure(value)]),
        ...products.map((one) => this.products(one, letter))), ...further);
  }

  /** The lines of a signal's number. */
  of(signal, row) {
    const unit = this.step.units.find(({gates}) => Object.values(gates).includes(signal)), node = this.explain(signal, row);
    const letter = unit && unit.letters.length > 1 ? Object.keys(unit.gates).find((one) => unit.gates[one] === signal) : "";
    return this.line(node, letter);
  }
}

/** The probability of a token from its logit, where the output is one softmax. */
function outputFormula(description, tensors, {step, trace, signals, logProbs}, id) {
  if (description.output.kind !== "softmax" || !step) return [];
  const formula = new Formula({step, trace}, tensors), {weight, bias} = description.output, read = step.returns[0];
  if (description.output.norm || description.output.lexical_weight) return [formula.of(read, largestOf(signals[read]))];
  const W = tensors[weight], b = bias && tensors[bias] ? tensors[bias].values : null, o = signals[read];
  const node = {name: "z", row: id, op: "product", part: "", weights: [weight], reads: [read]};
  const product = dot(W.values, id * o.length, o, 0, o.length), z = product + (b && b.length ? b[id] : 0), p = Math.exp(logProbs[id]);
  const term = b && b.length ? [sign("+"), name("b")] : [], added = term.length ? [sign("+"), ...factor(figure(b[id]))] : [];
  return [el("div", {className: "line"},
    equation([name("p")], [name("softmax"), ...inside([name("z")])]),
    equation([name("z")], [name("W"), formula.symbol(read), ...term]),
    equation([name("z"), ...indexed(id)], [figure(product), ...added], ...(added.length ? [[figure(z)]] : [])),
    equation([name("p"), ...indexed(id)], [name("exp"), ...inside([figure(z), sign("\u2212"), figure(z - logProbs[id])])], [figure(p)]),
    formula.products({...node, value: product}, "")), formula.of(read, largestOf(o))];
}

const largestOf = (values) => values.reduce((best, x, n) => (Math.abs(x) > Math.abs(values[best]) ? n : best), 0);

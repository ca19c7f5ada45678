// The encoder, the bridge and the step of the decoder; or the step of a language model. See nn/ and models/.

const zeros = (width) => new Float32Array(width);

/** What a network computes, from its description and its tensors. */
class Network {
  constructor(description, tensors) {
    Object.assign(this, {description, tensors});
    this.isTranslator = description.kind === "translator";
    this.decoder = description.decoder;
    this.target = this.isTranslator ? "target" : "text";
  }

  vector(side, id) {
    const {weight, scale} = this.description.embeddings[side], {shape: [, width], values} = this.tensors[weight];
    return values.subarray(id * width, (id + 1) * width).map((x) => x * scale);
  }

  /** The states of one layer of the encoder in one direction, step by step: [{signals, gates}]. */
  walk(program, vectors) {
    let state = this.blank(program, this.tensors[program.weights["layer0.h"]].shape[1]);
    return vectors.map((x) => {
      const step = runStep(program, this.tensors, state, {}, {x});
      state = carried(program, step.signals);
      return step;
    });
  }

  /** Read a sentence, `</s>` at its end: what the decoder attends to, its first state, and the states on the way. */
  read(ids) {
    const {encoder} = this.description, last = ids.length - 1;
    const turned = (list) => [...list.slice(0, last).reverse(), list[last]];
    let x = ids.map((id) => this.vector("source", id));
    if (encoder.reversed) x = turned(x);
    const summaries = [], steps = [];
    encoder.layers.forEach((layer, depth) => {
      const outputs = [], states = {}, seen = {};
      for (const way of Object.keys(layer)) {
        const back = way === "right_to_left";
        let walked = this.walk(layer[way], back ? [...x].reverse() : x);
        states[way] = carried(layer[way], walked[last].signals);
        if (back) walked = [...walked].reverse();
        seen[way] = walked;
        outputs.push(walked.map((step) => step.signals[layer[way].returns[0]]));
      }
      const both = x.map((_, s) => Float32Array.from(outputs.flatMap((output) => [...output[s]])));
      x = encoder.residual && depth ? both.map((h, s) => sum([h, x[s]])) : both;
      const of = Object.keys(layer).length === 1 ? Object.keys(layer)
        : {both: ["right_to_left", "left_to_right"], backward: ["right_to_left"], forward: ["left_to_right"]}[encoder.encodes];
      const fields = Object.keys(states[of[0]]).map((name) => name.split(".")[1]);
      summaries.push(Object.fromEntries(fields.map((field) =>
        [field, Float32Array.from(of.flatMap((way) => [...states[way][`layer0.${field}`]]))])));
      steps.push(seen);
    });
    if (encoder.reversed) x = turned(x);
    const memory = remember(this.decoder, this.tensors, x);
    return {memory, state: this.first(summaries, x), steps};
  }

  /** The decoder's first state: nn/bridge.py. */
  first(summaries, annotations) {
    const {bridge, widths} = this.description, state = {};
    const projected = (name, x) => affine(this.tensors[bridge.weights[`${name}.weight`]], x, this.tensors[bridge.weights[`${name}.bias`]]);
    if (bridge.layer) summaries = [{h: projected("summary", summaries[summaries.length - 1].h).map(Math.tanh)}];
    if (bridge.kind === "mean") summaries = [{h: sum(annotations).map((value) => value / annotations.length)}];
    const above = Math.max(0, summaries.length - bridge.layers);
    for (let layer = 0; layer < bridge.layers; layer++) {
      const summary = summaries[Math.min(above + layer, summaries.length - 1)];
      for (const field of bridge.fields) {
        const whole = summary[field] || summary.h;
        let value = whole;
        if (bridge.kind === "zero") value = zeros(widths.state);
        else if (bridge.kind !== "copy") {
          value = projected(`start${layer}_${field}`, whole);
          if (bridge.tanh) value = value.map(Math.tanh);
        }
        state[`layer${layer}.${field}`] = value;
      }
    }
    for (const name of this.decoder.carried) {
      if (!(name in state)) state[name] = zeros(name === "coverage" ? annotations.length : widths.fed);
    }
    return state;
  }

  /** The state of a stack before it has read anything: learned, or zero. */
  blank(program = this.decoder, width = this.description.widths.state) {
    const learned = (name) => this.tensors[program.initial[name]]?.values;
    return Object.fromEntries(program.carried.map((name) => [name, learned(name) || zeros(width)]));
  }

  /** One token read: the log-probabilities of the next, the new state, gates and attention. */
  step(memory, state, id, override) {
    const {signals, gates} = runStep(this.decoder, this.tensors, state, memory, {x: this.vector(this.target, id)}, override);
    const {weight, bias} = this.description.output;
    const logProbs = logSoftmax(affine(this.tensors[weight], signals[this.decoder.returns[0]], bias && this.tensors[bias]));
    return {logProbs, state: carried(this.decoder, signals), gates, weights: signals.weights || null};
  }
}

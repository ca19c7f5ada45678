// What a reader sees: text in, tokens out, and for each of them attention, gates, probabilities and the beam.

const $ = (id) => document.getElementById(id);

/** An element with properties and children; properties that begin with "aria-" or are "role", "style" .. are attributes. */
function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in node && name !== "style") node[name] = value; else node.setAttribute(name, value);
  }
  node.append(...children.flat());
  return node;
}

const shown = (piece) => piece.replace(/ /g, SPACE) || "(nothing)";
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}\u2026` : text);
/** A token within a sentence of another direction: Unicode isolates keep the numbers beside it in their place. */
const apart = (text) => `\u2068${text}\u2069`;
const percent = (p) => (p < 0.001 ? "<0.1%" : `${(100 * p).toFixed(1)}%`);
const number = (x) => x.toFixed(3).replace("-", "\u2212");

/** Arrow keys move between the cells of a grid; focus and hover show what a cell says, and Enter or a click chooses it. */
function walkable(grid, says, pick) {
  grid.forEach((row, r) => row.forEach((cell, c) => {
    const show = () => { $("value").textContent = says(r, c); };
    cell.tabIndex = r || c ? -1 : 0;
    cell.addEventListener("mouseenter", show);
    cell.addEventListener("focus", show);
    if (pick) cell.addEventListener("click", () => pick(r, c));
    cell.addEventListener("keydown", (event) => {
      if (pick && event.key === "Enter") pick(r, c);
      const move = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]}[event.key];
      const to = move && grid[r + move[0]] && grid[r + move[0]][c + move[1]];
      if (!to) return;
      event.preventDefault();
      [cell.tabIndex, to.tabIndex] = [-1, 0];
      to.focus();
    });
  }));
}

const strength = (value, largest = 1) => `--v: ${Math.min(1, Math.abs(value) / Math.max(1, largest)).toFixed(3)}`;

/** A heat map that is a table: every value is text, shown on focus and hover; `chosen` is the row and column of a cell. */
function heatTable({caption, rows, columns, values, pick = null, selected = -1, chosen = [], lang = ["", ""], kind = "", says}) {
  const largest = Math.max(1e-9, ...values.flatMap((row) => [...row].map(Math.abs)));
  const cells = values.map((row, r) => [...row].map((value, c) => el("td", {
    className: `${value < 0 ? "below " : ""}${pick ? "pick " : ""}${r === chosen[0] && c === chosen[1] ? "now" : ""}`.trim(),
    style: strength(value, largest)}, el("span", {}, number(value)))));
  walkable(cells, says || ((r, c) => `${apart(rows[r])} / ${apart(columns[c])}: ${number(values[r][c])}`), pick);
  return el("div", {className: "wide"}, el("table", {className: `heat ${kind}`}, el("caption", {}, caption),
    el("thead", {}, el("tr", {}, el("td", {className: "corner"}),
      columns.map((column) => (column ? el("th", {scope: "col", lang: lang[1]}, column) : el("td", {className: "corner"}))))),
    el("tbody", {}, cells.map((row, r) => el("tr", {"aria-selected": String(r === selected)},
      el("th", {scope: "row", lang: lang[0]}, rows[r]), row)))));
}

const plainTable = (caption, head, rows) => el("div", {className: "wide", tabIndex: 0}, el("table", {className: "plain"},
  el("caption", {}, caption), el("thead", {}, el("tr", {}, head.map((name) => el("th", {scope: "col"}, name)))),
  el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, cell)))))));

/** A part that folds; what is in it is made when it is first open. */
function details(summary, make, properties = {}) {
  const box = el("details", properties, el("summary", {}, summary));
  const fill = () => { if (box.open && box.childElementCount === 1) box.append(...[make()].flat().filter(Boolean)); };
  box.addEventListener("toggle", fill);
  fill();
  return box;
}

const options = (names, chosen) => names.map((text, n) => el("option", {value: n, selected: n === chosen}, text));
const beside = (...parts) => el("div", {className: "beside"}, parts);
const hint = (text) => el("p", {className: "hint"}, text);

class Stale extends Error {}

class Page {
  constructor(contents, tensors) {
    this.contents = contents;
    this.network = new Network(contents, tensors);
    this.tokens = Object.fromEntries(Object.entries(contents.tokenizers).map(([side, table]) => [side, new Tokens(table)]));
    this.asked = 0;
    this.numbers = false;
    this.folded = new Set();
    this.cell = {place: -1, signal: "", row: 0, position: 0};
    this.reset();
  }

  reset() { Object.assign(this, {forced: [], attention: {}, selected: -1, position: -1}); $("undo").disabled = true; }

  get output() { return this.tokens[this.network.target]; }

  /** Read the text and search, or sample; whatever was asked before and is not finished yet stops. */
  async answer(text, beam, sampling = null, more = Number($("more").value)) {
    const asked = ++this.asked, started = performance.now(), {search} = this.contents;
    let breath = started;
    const next = async () => {
      if (performance.now() - breath > 12) { await new Promise((go) => setTimeout(go)); breath = performance.now(); }
      if (asked !== this.asked) throw new Stale();
    };
    const given = {size: beam, ...sampling, attention: this.attention, next};
    const find = sampling ? sample : beamSearch;
    let result;
    if (this.network.isTranslator) {
      const ids = this.tokens.source.encode(text), n = ids.length;
      if (!n) return null;
      const start = this.network.start([...ids, EOS]);
      result = {source: [...ids, EOS], scans: start.scans, ...await find(this.network, start,
        {...given, ...ranking(search, n + 1), forced: this.forced, maxLength: Math.max(Math.min(3 * n + 10, 2 * n + 200), this.forced.length)})};
    } else {
      const prompt = this.output.encode(text), length = prompt.length + this.forced.length;
      result = {prompt: prompt.length, ...await find(this.network, this.network.start(), {...given, ...ranking(search, 0),
        forced: [...prompt, ...this.forced], maxLength: length + more})};
    }
    const seconds = (performance.now() - started) / 1000;
    return {...result, sampled: Boolean(sampling), text: this.output.decode(result.ids), seconds, steps: result.path.length};
  }

  async show() {
    const within = (id, low, high) => Math.min(high, Math.max(low, Number($(id).value) || low));
    const sampling = $("way").value === "sample" ? {temperature: within("temperature", 0.05, 5), seed: within("seed", 0, 2 ** 31)} : null;
    try {
      this.result = await this.answer($("text").value, within("beam", 1, 12), sampling, within("more", 1, 1000));
    } catch (error) {
      if (error instanceof Stale) return;
      throw error;
    }
    if (!this.result) {
      $("status").textContent = "Type a sentence above: its translation and every step to it appear here.";
      $("answer").replaceChildren(); $("pictures").replaceChildren();
      return;
    }
    const {steps, seconds, score} = this.result;
    $("status").textContent = `${steps} tokens in ${Math.round(1000 * seconds)} ms; log-probability ${score.toFixed(2).replace("-", "\u2212")}.`;
    this.selected = Math.min(this.selected < 0 ? this.result.prompt || 0 : this.selected, steps - 1);
    this.draw();
  }

  piece(id) { return shown(this.output.label(id)); }

  sourcePiece(id) { return shown(this.tokens.source.label(id)); }

  draw() {
    const {path, text} = this.result, lang = this.contents.languages[this.network.target] || "";
    $("answer").replaceChildren(
      el("p", {className: "text", lang, dir: "auto", id: "output"}, text),
      el("ol", {className: "tokens", lang, dir: "auto", "aria-label": "Tokens: choose one to see how it was predicted"},
        path.map((node, t) => el("li", {}, el("button", {type: "button", "aria-pressed": String(t === this.selected),
          className: t < this.fixed || this.attention[t] ? "chosen" : "",
          onclick: () => { this.selected = t; this.draw(); $("answer").querySelectorAll("button")[t].focus(); }},
        this.piece(node.id))))));
    this.drawPanels();
  }

  /** The panels anew; a reader who moves by keyboard stays where they were, and what was folded stays so. */
  drawPanels() {
    const places = () => [...$("pictures").querySelectorAll("button, input, select, [tabindex], summary")];
    const held = places().indexOf(document.activeElement), {path, source} = this.result, hasUnits = this.network.units.length;
    const panels = {
      [`Token ${this.selected + 1}: probabilities`]: () => this.probabilities(),
      ...(path[0].parent.taken.weights && {Attention: () => this.alignment()}),
      ...(hasUnits && {Cells: () => this.cells(), Gates: () => this.gates()}),
      ...(source && this.result.scans.length && {Reading: () => this.reading()}),
      ...(!this.result.sampled && {"Search tree": () => this.tree()}),
    };
    $("pictures").replaceChildren(...Object.entries(panels).map(([name, make], n) => {
      const box = details(el("h2", {}, name), make, {className: "panel", open: !this.folded.has(n)});
      box.addEventListener("toggle", () => this.folded[box.open ? "delete" : "add"](n));
      return box;
    }));
    const to = held < 0 ? null : places()[held];
    if (to) {
      to.tabIndex = 0;
      to.focus({preventScroll: true});
    }
  }

  /** Tokens at the beginning that are given: those of a prompt, and those a reader chose. */
  get fixed() { return (this.result.prompt || 0) + this.forced.length; }

  /** What else could have come at the selected place; choosing one predicts the rest anew. */
  probabilities() {
    const node = this.result.path[this.selected], {alternatives} = node.parent;
    const rows = alternatives.map(([id, logProb]) => {
      const p = Math.exp(logProb);
      return [el("button", {type: "button", onclick: () => this.choose(id)}, this.piece(id)),
        el("span", {}, el("span", {className: "bar", style: `width: ${(8 * p).toFixed(2)}rem`}), ` ${percent(p)}`)];
    });
    const {description, tensors} = this.network;
    return [hint(this.result.sampled ? "Of the model, before temperature. Choose another token, and the rest is sampled anew."
      : "Choose another token, and the rest is predicted anew."), beside(
      plainTable(`Most probable tokens in place of ${apart(this.piece(node.id))} (${percent(Math.exp(node.logProb))})`, ["Token", "Probability"], rows),
      el("div", {className: "formula", id: "output-formula"}, outputFormula(description, tensors, node.parent.taken, node.id)))];
  }

  choose(id) {
    const before = this.result.path.slice(this.result.prompt || 0, this.selected).map((node) => node.id);
    if (this.selected < (this.result.prompt || 0)) return;
    this.forced = [...before, id];
    for (const step of Object.keys(this.attention)) if (step > this.selected) delete this.attention[step];
    $("undo").disabled = false;
    this.show();
  }

  alignment() {
    const {path, source: read} = this.result, {source, target} = this.contents.languages;
    const {taken} = path[this.selected].parent, columns = read.map((id) => this.sourcePiece(id));
    const position = this.position < 0 ? largestOf(taken.weights) : Math.min(this.position, read.length - 1);
    const table = el("div", {className: this.numbers ? "numbers" : ""}, heatTable({
      caption: "Attention weights: a row for each output token, a column for each input token",
      rows: path.map((node) => this.piece(node.id)), columns, values: path.map((node) => node.parent.taken.weights),
      selected: this.selected, lang: [target, source], pick: (t, s) => this.attend(t, s)}));
    const formula = taken.signals.context && new Formula(taken, this.network.tensors);
    return [hint("Choose a cell to make that output token attend to that input token alone; the rest is predicted anew."),
      beside(el("div", {}, table, el("label", {className: "hint"}, el("input", {type: "checkbox", checked: this.numbers,
        onchange: (event) => table.classList.toggle("numbers", this.numbers = event.target.checked)}), " Show numbers")),
      el("div", {className: "formula", id: "attention-formula"},
        el("label", {className: "hint"}, "Weight of ", el("select", {onchange: (event) => {
          this.position = Number(event.target.value);
          this.drawPanels();
        }}, options(columns, position))),
        this.attention[this.selected] ? hint("This weight was chosen by you.") : formula && formula.of("weights", position),
        formula && formula.of("context", largestOf(taken.signals.context))))];
  }

  attend(step, position) {
    this.attention[step] = Float32Array.from(this.result.source, (_, s) => (s === position ? 1 : 0));
    this.forced = this.result.path.slice(0, step).map((node) => node.id);
    for (const other of Object.keys(this.attention)) if (other > step) delete this.attention[other];
    this.selected = step;
    $("undo").disabled = false;
    this.show();
  }

  /** How much every state of the encoder changed as the sentence was read. */
  reading() {
    const {scans, source} = this.result;
    const rows = [], values = [];
    for (const {name, steps} of scans) {
      const change = zeros(source.length);
      steps.forEach((taken, t) => {
        const h = taken.signals["layer0.h"], before = t ? steps[t - 1].signals["layer0.h"] : zeros(h.length);
        change[taken.position] = Math.sqrt(h.reduce((total, x, n) => total + (x - before[n]) ** 2, 0) / h.length);
      });
      rows.push(layerOf(name));
      values.push(change);
    }
    return heatTable({caption: "Root mean square change of the encoder's state at each token", rows, values,
      columns: source.map((id) => this.sourcePiece(id)), lang: ["", this.contents.languages.source]});
  }

  /** The units of the network, each with its steps in the order of a text: {label, unit, pieces, steps, selected, select}. */
  get unitsOfTexts() {
    const {path, source, scans = []} = this.result, {languages} = this.contents, {units} = this.network;
    const written = units.map((unit, n) => ({unit, label: `${source ? "decoder" : "model"}, layer ${n + 1} (${unit.kind})`,
      pieces: path.map((node) => this.piece(node.id)), steps: path.map((node) => node.parent.taken), selected: this.selected,
      lang: languages[this.network.target], select: (t) => { this.selected = t; this.draw(); }}));
    const read = scans.flatMap(({name, steps}) => steps[0].step.units.map((unit) => ({unit,
      label: `encoder, ${layerOf(name)} (${unit.kind})`, pieces: source.map((id) => this.sourcePiece(id)),
      steps: [...steps].sort((a, b) => a.position - b.position), selected: Math.min(this.cell.position, steps.length - 1),
      lang: languages.source, select: (s) => { this.cell.position = s; this.drawPanels(); }})));
    return [...read, ...written];
  }

  /** One cell of a unit: its text coloured by it, its formula, and all cells of the same signal. */
  cells() {
    const all = this.unitsOfTexts, {cell} = this, first = all.findIndex(({unit}) => this.network.units[0] === unit);
    const place = all[cell.place] ? cell.place : first;
    const {unit, pieces, steps, selected, lang, select} = all[place];
    const named = {...unit.gates, ...Object.fromEntries(unit.state.map((name) => [name.split(".").pop(), name]))}, letters = Object.keys(named);
    const letter = letters.find((one) => named[one] === cell.signal) || letters[0], signal = named[letter];
    const values = steps.map((taken) => taken.signals[signal]), now = values[selected];
    const row = Math.min(cell.row, now.length - 1), columns = 32;
    const choose = (change) => { Object.assign(this.cell, {place, signal, row}, change); this.drawPanels(); };
    const numbered = el("input", {type: "number", id: "cell", min: 0, max: now.length - 1, value: row, onchange: (event) =>
      choose({row: Math.max(0, Math.min(now.length - 1, Number(event.target.value) || 0))})});
    const spans = pieces.map((piece, t) => el("span", {className: values[t][row] < 0 ? "below" : "", style: strength(values[t][row]),
      ...(t === selected && {"aria-current": "true"})}, piece));
    walkable([spans], (_, t) => `${apart(pieces[t])}: ${letter}[${row}] = ${number(values[t][row])}`, (_, t) => select(t));
    const lines = Array.from({length: Math.ceil(now.length / columns)}, (_, n) => now.subarray(n * columns, (n + 1) * columns));
    return [hint(all[place].steps === steps && place >= first ? "Each token has the value of the step that predicts it: blue is positive, orange negative."
      : "Each token has the value of the step that reads it: blue is positive, orange negative."),
    el("p", {className: "row"},
      el("label", {}, "Unit ", el("select", {id: "unit", onchange: (event) => choose({place: Number(event.target.value), signal: ""})},
        options(all.map(({label}) => label), place))),
      el("label", {}, "Signal ", el("select", {id: "signal", onchange: (event) => choose({signal: named[letters[event.target.value]]})},
        options(letters, letters.indexOf(letter)))),
      el("label", {}, "Cell ", numbered)),
    el("p", {className: "coloured", dir: "auto", lang: lang || ""}, spans),
    beside(heatTable({caption: `${letter} at \u201c${pieces[selected]}\u201d: all ${now.length} cells; choose one`, kind: "small",
      rows: lines.map((_, n) => String(n * columns)), columns: [...lines[0]].map((_, c) => (c % 8 ? "" : String(c))), values: lines,
      chosen: [Math.floor(row / columns), row % columns], pick: (r, c) => choose({row: r * columns + c}),
      says: (r, c) => `${letter}[${r * columns + c}] = ${number(lines[r][c])}`}),
    el("div", {className: "formula", id: "cell-formula"}, new Formula(steps[selected], this.network.tensors).of(signal, row)))];
  }

  /** Means of the gates over the cells of a unit, for the whole output. */
  gates() {
    const {path} = this.result, mean = (x) => x.reduce(plus, 0) / x.length;
    const first = this.unitsOfTexts.length - this.network.units.length;
    return [hint("Choose a mean to see its cells above."), this.network.units.map(({name, gates}, n) => heatTable({
      caption: `layer ${n + 1}: mean of each gate over all cells`, rows: Object.keys(gates), columns: path.map((node) => this.piece(node.id)),
      values: Object.keys(gates).map((letter) => path.map((node) => mean(node.parent.taken.gates[name][letter]))),
      pick: (r, t) => {
        Object.assign(this.cell, {place: first + n, signal: Object.values(gates)[r]});
        this.selected = t;
        this.draw();
      }}))].flat();
  }

  /** The search tree, and all of it as a table. */
  tree() {
    const {nodes, path} = this.result, from = this.result.prompt || 0, onPath = new Set(path);
    const why = {kept: "kept", finished: "finished", pruned: "pruned: better ones filled the beam"};
    const rows = () => nodes.filter((node) => node.step >= from).map((node) => [String(node.step + 1), this.piece(node.id),
      percent(Math.exp(node.logProb)), number(node.score), onPath.has(node) ? `${why[node.fate]}; best` : why[node.fate]]);
    return [hint("Bold, on top: the result. Small: pruned, the best three of a step. Below each token: the sum of log-probabilities."),
      el("div", {className: "wide", tabIndex: 0, role: "region", "aria-label": "Search tree"},
        treeOf(this.result, from, (id) => this.piece(id))),
      details("The whole tree as a table", () => plainTable("Hypotheses of the search", ["Step", "Token", "Probability", "Score", "Fate"], rows()))];
  }
}

/** The layer and direction of a recurrence of the encoder. */
function layerOf(name) {
  const [, layer, way] = /layers\.(\d+)\.(\w+)/.exec(name);
  return `layer ${Number(layer) + 1}, ${way.replaceAll("_", " ")}`;
}

/** The alignments of a few validation pairs at each validation of the training; a slider goes through them. */
function training({records, languages}) {
  if (!records.length) return;
  const table = el("div");
  const slider = el("input", {type: "range", id: "when", min: 0, max: records.length - 1, value: records.length - 1});
  const pairs = el("select", {id: "pair"}, records[0].pairs.map((one, n) =>
    el("option", {value: n}, one.source.filter((piece) => piece !== "</s>").join("").replaceAll("\u2581", " ").trim())));
  const says = el("output", {htmlFor: "when"});
  const draw = () => {
    const {update, pairs: all} = records[slider.value], one = all[pairs.value];
    says.textContent = `Validation ${Number(slider.value) + 1} of ${records.length}, after update ${update}`;
    slider.setAttribute("aria-valuetext", says.textContent);
    table.replaceChildren(heatTable({caption: "Attention weights over the given translation", rows: one.target.map(shown),
      columns: one.source.map(shown), values: one.weights, lang: [languages.target, languages.source]}));
  };
  slider.addEventListener("input", draw);
  pairs.addEventListener("change", draw);
  $("training").append(details(el("h2", {}, "Training"), () => [
    hint("Alignments of pairs that were not trained on, as training recorded them."),
    el("p", {className: "row"}, el("label", {}, "Pair ", pairs), el("label", {}, "Validation ", slider), says), table],
  {className: "panel", open: true}));
  draw();
}

async function main() {
  const contents = JSON.parse($("network").textContent);
  const chunks = [...document.querySelectorAll("script.weights")].map((node) => node.textContent.trim());
  const tensors = await decodeTensors(contents.tensors, chunks, async (part) => {
    $("status").textContent = `Reading the weights: ${Math.round(100 * part)}% ...`;
    await new Promise((go) => setTimeout(go));
  });
  const page = window.microscope = new Page(contents, tensors);
  $("about").textContent = contents.about;
  $("text-label").textContent = page.network.isTranslator ? "Text to translate" : "Beginning of a text";
  $("text").lang = contents.languages.source || contents.languages.text || "";
  $("beam").value = page.network.isTranslator ? contents.search.beam : 1;
  $("examples").parentElement.hidden = !contents.examples.length;
  $("examples").append(...contents.examples.map((text) => el("option", {value: text}, text)));
  const {isTranslator} = page.network;
  $("more").value = page.output.kind === "character" ? 100 : 30;
  $("more").parentElement.hidden = $("continue").hidden = isTranslator;
  const fit = () => {
    const isSampling = $("way").value === "sample";
    $("beam").parentElement.hidden = isSampling;
    for (const id of ["temperature", "seed"]) $(id).parentElement.hidden = !isSampling;
  };
  fit();
  let timer = 0;
  const ask = (wait) => { clearTimeout(timer); timer = setTimeout(() => page.show(), wait); };
  const changed = () => { page.reset(); ask(300); };
  $("text").addEventListener("input", (event) => { if (!event.isComposing) changed(); });
  $("text").addEventListener("compositionend", changed);
  $("examples").addEventListener("change", () => { $("text").value = $("examples").value; page.reset(); ask(0); });
  for (const id of ["beam", "temperature", "seed", "more"]) $(id).addEventListener("input", () => ask(300));
  $("way").addEventListener("change", () => { fit(); ask(0); });
  $("continue").addEventListener("click", () => {
    page.forced = page.result.path.slice(page.result.prompt).map((node) => node.id);
    $("undo").disabled = false;
    ask(0);
  });
  $("undo").addEventListener("click", () => { page.reset(); ask(0); });
  $("input").addEventListener("submit", (event) => event.preventDefault());
  $("text").value = contents.examples[0] || "";
  training(contents);
  await page.show();
}

main().catch((error) => {
  $("status").textContent = `This page cannot show its model: ${error.message}. Try a current browser.`;
  throw error;
});

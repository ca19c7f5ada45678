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
const short = (text) => (text.length > 10 ? `${text.slice(0, 9)}\u2026` : text);
/** A token within a sentence of another direction: Unicode isolates keep the numbers beside it in their place. */
const apart = (text) => `\u2068${text}\u2069`;
const percent = (p) => (p < 0.001 ? "<0.1%" : `${(100 * p).toFixed(1)}%`);
const number = (x) => x.toFixed(3);

/** A heat map that is a table: every value is text, shown on focus and hover; arrow keys move between cells. */
function heatTable({caption, rows, columns, values, corner = "", pick = null, selected = -1, lang = ["", ""]}) {
  const largest = Math.max(1e-9, ...values.flatMap((row) => [...row].map(Math.abs)));
  const cells = values.map((row, r) => [...row].map((value, c) => {
    const says = `${apart(rows[r])} / ${apart(columns[c])}: ${number(value)}`;
    const cell = el("td", {className: (value < 0 ? "below " : "") + (pick ? "pick" : ""), tabIndex: r || c ? -1 : 0,
      style: `--v: ${Math.min(1, Math.abs(value) / Math.max(1, largest)).toFixed(3)}`}, el("span", {}, number(value)));
    cell.addEventListener("mouseenter", () => { $("value").textContent = says; });
    cell.addEventListener("focus", () => { $("value").textContent = says; });
    if (pick) {
      cell.addEventListener("click", () => pick(r, c));
      cell.addEventListener("keydown", (event) => { if (event.key === "Enter") pick(r, c); });
    }
    cell.addEventListener("keydown", (event) => {
      const move = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]}[event.key];
      const to = move && cells[r + move[0]] && cells[r + move[0]][c + move[1]];
      if (!to) return;
      event.preventDefault();
      [cell.tabIndex, to.tabIndex] = [-1, 0];
      to.focus();
    });
    return cell;
  }));
  return el("div", {className: "wide"}, el("table", {className: "heat"}, el("caption", {}, caption),
    el("thead", {}, el("tr", {}, el("td", {style: "border: 0; background: none"}, corner),
      columns.map((column) => el("th", {scope: "col", lang: lang[1]}, column)))),
    el("tbody", {}, cells.map((row, r) => el("tr", {"aria-selected": String(r === selected)},
      el("th", {scope: "row", lang: lang[0]}, rows[r]), row)))));
}

const plainTable = (caption, head, rows) => el("div", {className: "wide"}, el("table", {className: "plain"},
  el("caption", {}, caption), el("thead", {}, el("tr", {}, head.map((name) => el("th", {scope: "col"}, name)))),
  el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, cell)))))));

const details = (summary, ...children) => el("details", {}, el("summary", {}, summary), ...children);

class Stale extends Error {}

class Page {
  constructor(contents, tensors) {
    this.contents = contents;
    this.network = new Network(contents, tensors);
    this.tokens = Object.fromEntries(Object.entries(contents.tokenizers).map(([side, table]) => [side, new Tokens(table)]));
    this.asked = 0;
    this.numbers = false;
    this.reset();
  }

  reset() { Object.assign(this, {forced: [], attention: {}, selected: 0}); $("undo").disabled = true; }

  get output() { return this.tokens[this.network.target]; }

  /** Read the text and search; whatever was asked before and is not finished yet stops. */
  async answer(text, beam) {
    const asked = ++this.asked, started = performance.now(), {search} = this.contents;
    let breath = started;
    const next = async () => {
      if (performance.now() - breath > 12) { await new Promise((go) => setTimeout(go)); breath = performance.now(); }
      if (asked !== this.asked) throw new Stale();
    };
    const options = {size: beam, penalty: search.length_penalty, attention: this.attention, next};
    let result;
    if (this.network.isTranslator) {
      const ids = this.tokens.source.encode(text), n = ids.length;
      if (!n) return null;
      const start = this.network.start([...ids, EOS]);
      result = {source: [...ids, EOS], scans: start.scans, ...await beamSearch(this.network, start,
        {...options, forced: this.forced, maxLength: Math.max(Math.min(3 * n + 10, 2 * n + 200), this.forced.length)})};
    } else {
      const prompt = this.output.encode(text), more = this.output.kind === "character" ? 100 : 30;
      result = {prompt: prompt.length, ...await beamSearch(this.network, this.network.start(), {...options,
        forced: [...prompt, ...this.forced], maxLength: prompt.length + this.forced.length + more})};
    }
    const seconds = (performance.now() - started) / 1000;
    return {...result, text: this.output.decode(result.ids), seconds, steps: result.path.length};
  }

  async show() {
    const beam = Math.min(12, Math.max(1, Number($("beam").value) || 1));
    try {
      this.result = await this.answer($("text").value, beam);
    } catch (error) {
      if (error instanceof Stale) return;
      throw error;
    }
    if (!this.result) {
      $("status").textContent = "Type a text to see it being read.";
      $("answer").replaceChildren(); $("pictures").replaceChildren();
      return;
    }
    const {steps, seconds, score} = this.result;
    $("status").textContent = `${steps} tokens in ${Math.round(1000 * seconds)} ms; log-probability ${score.toFixed(2)}.`;
    this.selected = Math.min(this.selected, steps - 1);
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
    // a reader who moves by keyboard stays where they were
    const places = () => [...$("pictures").querySelectorAll("button, input, td[tabindex], summary")];
    const held = places().indexOf(document.activeElement);
    $("pictures").replaceChildren(...[this.probabilities(), this.alignment(), this.reading(), this.gates(), this.tree()].filter(Boolean));
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
    return el("section", {}, el("h2", {}, `Token ${this.selected + 1}: probabilities`),
      el("p", {className: "hint"}, "Choose another token, and the rest is predicted anew."),
      plainTable(`Most probable tokens in place of ${apart(this.piece(node.id))} (${percent(Math.exp(node.logProb))})`, ["Token", "Probability"], rows));
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
    const {path, source: read} = this.result;
    if (!path[0].parent.taken.weights) return null;
    const {source, target} = this.contents.languages;
    const box = el("section", {className: this.numbers ? "numbers" : ""}, el("h2", {}, "Attention"),
      el("p", {className: "hint"}, "Choose a cell to make that output token attend to that input token alone; the rest is predicted anew."),
      heatTable({caption: "Attention weights: a row for each output token, a column for each input token",
        rows: path.map((node) => this.piece(node.id)), columns: read.map((id) => this.sourcePiece(id)),
        values: path.map((node) => node.parent.taken.weights), selected: this.selected, lang: [target, source],
        pick: (t, s) => this.attend(t, s)}));
    box.append(el("label", {className: "hint"}, el("input", {type: "checkbox", checked: this.numbers,
      onchange: (event) => box.classList.toggle("numbers", this.numbers = event.target.checked)}), " Show numbers"));
    return box;
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
    if (!scans || !scans.length) return null;
    const rows = [], values = [];
    for (const {name, steps} of scans) {
      const change = zeros(source.length);
      steps.forEach((taken, t) => {
        const h = taken.signals["layer0.h"], before = t ? steps[t - 1].signals["layer0.h"] : zeros(h.length);
        change[taken.position] = Math.sqrt(h.reduce((total, x, n) => total + (x - before[n]) ** 2, 0) / h.length);
      });
      const [, layer, way] = /layers\.(\d+)\.(\w+)/.exec(name);
      rows.push(`layer ${Number(layer) + 1}, ${way.replaceAll("_", " ")}`);
      values.push(change);
    }
    return el("section", {}, el("h2", {}, "Reading"), heatTable({
      caption: "Root mean square change of the encoder's state at each token", rows, values,
      columns: source.map((id) => this.sourcePiece(id)), lang: ["", this.contents.languages.source]}));
  }

  /** Gates of the selected step, unit by unit, and their means over the whole output. */
  gates() {
    const {path} = this.result, of = (t) => path[t].parent.taken.gates, box = el("section", {}, el("h2", {}, "Gates"));
    if (!this.network.units.length) return null;
    for (const unit of Object.keys(of(0))) {
      const names = Object.keys(of(0)[unit]), mean = (x) => x.reduce((a, b) => a + b, 0) / x.length;
      box.append(heatTable({caption: `${unit}: mean of each gate over all cells`, rows: names,
        columns: path.map((node) => this.piece(node.id)), values: names.map((name) => path.map((_, t) => mean(of(t)[unit][name])))}));
      const now = of(this.selected)[unit];
      box.append(details(`${unit}: every cell at token ${this.selected + 1}`, ...names.map((name) => el("figure", {style: "margin: .5rem 0"},
        el("figcaption", {}, `${name}: ${now[name].filter((x) => Math.abs(x) > 0.9).length} of ${now[name].length} above 0.9 in size`),
        el("div", {className: "cells", "aria-hidden": "true"}, [...now[name]].map((x) =>
          el("i", {className: x < 0 ? "below" : "", style: `--v: ${Math.min(1, Math.abs(x)).toFixed(2)}`}))),
        details("Numbers", el("p", {}, [...now[name]].map(number).join(" ")))))));
    }
    return box;
  }

  /** The search tree: a column for each step, the best on top; pruned branches are struck through. */
  tree() {
    const {nodes, path} = this.result, from = this.result.prompt || 0, onPath = new Set(path);
    const steps = new Map();
    for (const node of nodes) {
      if (node.step < from || (node.fate === "pruned" && (steps.get(node.step) || []).length > 11)) continue;
      steps.set(node.step, [...(steps.get(node.step) || []), node]);
    }
    const X = 120, Y = 22, NS = "http://www.w3.org/2000/svg", place = new Map();
    for (const [step, list] of steps) list.forEach((node, i) => place.set(node, [(step - from) * X + 10, i * Y + 20]));
    const make = (tag, attributes, text) => {
      const node = document.createElementNS(NS, tag);
      for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
      if (text) node.textContent = text;
      return node;
    };
    const deepest = Math.max(...[...steps.values()].map((list) => list.length)), width = steps.size * X + 20, height = deepest * Y + 20;
    const svg = make("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Search tree; the table below has its numbers"});
    for (const [node, [x, y]] of place) {
      const of = place.get(node.parent), style = onPath.has(node) ? "path" : node.fate;
      if (of) svg.append(make("line", {x1: of[0] + 78, y1: of[1] - 4, x2: x - 4, y2: y - 4, class: style}));
      svg.append(make("text", {x, y, class: style}, `${short(this.piece(node.id))}${node.fate === "finished" ? " ." : ""}`));
    }
    const why = {kept: "kept", finished: "finished", pruned: "pruned: better ones filled the beam"};
    const rows = [...place.keys()].map((node) => [String(node.step + 1), this.piece(node.id), percent(Math.exp(node.logProb)),
      node.score.toFixed(2), onPath.has(node) ? `${why[node.fate]}; best` : why[node.fate]]);
    return el("section", {}, el("h2", {}, "Search tree"),
      el("p", {className: "hint"}, "Bold: the result. Struck through: pruned. A full stop: finished."),
      el("div", {className: "wide", tabIndex: 0}, svg),
      details("The tree as a table", plainTable("Hypotheses of the search", ["Step", "Token", "Probability", "Score", "Fate"], rows)));
  }
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
  $("training").append(el("h2", {}, "Training"),
    el("p", {className: "hint"}, "Alignments of pairs that were not trained on, as training recorded them."),
    el("p", {className: "row"}, el("label", {}, "Pair ", pairs), el("label", {}, "Validation ", slider), says), table);
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
  let timer = 0;
  const ask = (wait) => { clearTimeout(timer); timer = setTimeout(() => page.show(), wait); };
  const changed = () => { page.reset(); ask(300); };
  $("text").addEventListener("input", (event) => { if (!event.isComposing) changed(); });
  $("text").addEventListener("compositionend", changed);
  $("examples").addEventListener("change", () => { $("text").value = $("examples").value; page.reset(); ask(0); });
  $("beam").addEventListener("input", () => ask(300));
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

"use strict";

/* The page of the server: a text becomes segments, one for each sentence, each beside its translation.
 *
 * Text is sent WAIT milliseconds after the last key, and only the answer to the latest text is shown: an older request
 * is aborted. While an input method composes a character, nothing is sent. What could not be sent is sent again every
 * AGAIN milliseconds. A segment that was changed or confirmed is kept for as long as the page is open, and comes back
 * with its sentence. Texts of the server are put into the page as text, never as markup. */

const WAIT = 300;
const AGAIN = 3000;
const DOUBLE = 220;  // milliseconds in which a second click makes a double one
const TOGETHER = 16;  // segments of one request, so that the first ones are soon there
const ALTERNATIVES = 4;
const CONTINUATIONS = 6;  // asked for; of them OFFERED are shown, those of different words first
const OFFERED = 5;
const LINES = 8;  // of a document that are named for each reason
const SURE = 0.5;  // from here on a word is shown without a line
const DOUBTFUL = 0.25;
const at = (id) => document.getElementById(id);

let languages = [];
let settings = {};
let key = "";
let limit = -1;
let timer = 0;
let request = null;
let rows = [];
let gaps = [""];
let current = null;
let note = "";
let opening = 0;
let pressed = false;  // between a press of the pointer and its click, nothing may move
const kept = new Map();

/* Talking to the server */

async function call(path, fields, signal) {
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  const isForm = fields instanceof FormData;
  if (fields && !isForm) headers["Content-Type"] = "application/json";
  const body = isForm ? fields : fields && JSON.stringify(fields);
  const response = await fetch(path, { method: fields ? "POST" : "GET", headers, signal, body }).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw Object.assign(new Error("The server cannot be reached."), { isAway: true });
  });
  const value = await response.json().catch(() => ({ error: `The server answered with status ${response.status}.` }));
  if (!response.ok) throw Object.assign(new Error(value.error), { status: response.status });
  return value;
}

function say(text, isError = false) {
  at("status").textContent = text;
  at("status").classList.toggle("error", isError);
}

const needsKey = (error) => (error.status === 400 || error.status === 403) && /key/i.test(error.message);

function fail(error) {
  if (error.name === "AbortError") return;
  at("key-form").hidden = !needsKey(error) && !key;
  say(error.message, true);
}

/* Elements and words */

function element(tag, properties = {}, ...children) {
  const { dataset = {}, ...others } = properties;
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(others)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  Object.assign(made.dataset, dataset);
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
}

const button = (text, act, properties = {}) => element("button", { type: "button", onclick: act, ...properties }, text);
const isDone = (row) => row.state === "Confirmed" || row.state === "Done";
const percent = (value) => `${Math.round(100 * value)}%`;
const SPACES = /([ \n\r\t]+)/;  // words are what stands between these, as the server counts them
const wordsOf = (text) => text.split(SPACES).filter((part, place) => place % 2 === 0 && part);
const bare = (word) => word.replace(/^[\p{P}\p{S}]+|[\p{P}\p{S}]+$/gu, "");

/* The words of two texts as [kind, word, place in a, place in b], by their longest common subsequence: "same" in both,
 * "old" in a alone, "new" in b alone. */
function differences(a, b) {
  const [before, after] = [wordsOf(a), wordsOf(b)];
  const longest = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      longest[i][j] = before[i] === after[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  const found = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) found.push(["same", before[i], i++, j++]);
    else if (i < before.length && (j === after.length || longest[i + 1][j] >= longest[i][j + 1])) found.push(["old", before[i], i++, -1]);
    else found.push(["new", after[j], -1, j++]);
  }
  return found;
}

/* Text b with what is not in a marked; with "old", what a alone has is struck through. */
function marked(a, b, showsOld) {
  const found = differences(a, b);
  const all = showsOld || !found.some(([kind]) => kind === "new");
  const runs = [];
  for (const [kind, word] of found.filter(([kind]) => all || kind !== "old")) {
    if (runs.length && runs.at(-1)[0] === kind) runs.at(-1)[1] += ` ${word}`;
    else runs.push([kind, word]);
  }
  const parts = runs.map(([kind, words]) => (kind === "same" ? words : element(kind === "new" ? "mark" : "del", {}, words)));
  return parts.flatMap((part) => [part, " "]).slice(0, -1);
}

/* Languages */

const nameOf = (code) => (languages.find((one) => one.code === code) || { name: code }).name;

function option(code, name) {
  const made = new Option(name, code);
  made.lang = "en";
  return made;
}

async function begin() {
  try {
    [settings, languages] = await Promise.all([call("frontend/settings"), call("languages")]);
    limit = settings.charLimit;
    at("open").hidden = !settings.filesTranslation;
    at("document").accept = settings.supportedFilesFormat.join();
    at("formats").textContent = settings.filesTranslation ? settings.supportedFilesFormat.join("\u2002") : "";
    const sources = languages.filter((one) => one.targets.length);
    at("from").replaceChildren(option("auto", "Detect language"), ...sources.map((one) => option(one.code, one.name)));
    at("from").value = settings.language.source.code;
    at("key-form").hidden = true;
    showTargets(settings.language.target.code);
    changed();
  } catch (error) {
    fail(error);
    if (error.isAway) setTimeout(begin, AGAIN);
  }
}

function showTargets(wanted) {
  const from = languages.find((one) => one.code === at("from").value);
  const codes = from ? from.targets : [...new Set(languages.flatMap((one) => one.targets))];
  at("to").replaceChildren(...codes.map((code) => option(code, nameOf(code))));
  if (codes.includes(wanted)) at("to").value = wanted;
  const back = languages.find((one) => one.code === at("to").value);
  at("swap").hidden = !(from && back && back.targets.includes(from.code));
}

function swap() {
  const [from, to] = [at("from").value, at("to").value];
  if (rows.length && rows.every((row) => row.ready)) at("source").value = translation();
  at("from").value = to;
  showTargets(from);
  changed();
}

/* The text: wait for a pause in typing, then translate what is new in it */

function changed() {
  const text = at("source").value;
  at("source").lang = at("from").value === "auto" ? "" : at("from").value;
  const length = text.replace(/[\uD800-\uDBFF]/g, "").length;  // in characters, as the server counts
  const [counted, most] = [length, limit].map((number) => number.toLocaleString("en"));
  const unit = element("span", { className: "unseen" }, " characters");
  at("count").replaceChildren(...(length ? [limit > 0 ? `${counted} of ${most}` : counted, unit] : []));
  at("count").classList.toggle("error", limit > 0 && length > limit);
  at("clear").hidden = !length;
  clearTimeout(timer);
  if (request) request.abort();
  if (!languages.length) return;
  if (!text.trim()) return empty();
  if (limit > 0 && length > limit) {
    empty();
    const instead = at("open").hidden ? "" : ", or open it as a document (.txt)";
    return say(`The text has ${counted} characters, but at most ${most} are translated at once: shorten it${instead}.`, true);
  }
  at("segments").setAttribute("aria-busy", "true");
  timer = setTimeout(translate, WAIT);
}

function empty() {
  lay([], [""], "", "");
  at("segments").removeAttribute("aria-busy");
  at("detected").textContent = "";
  say("");
}

async function translate(isAgain = false) {
  const sent = { q: at("source").value, source: at("from").value, target: at("to").value };
  request = new AbortController();
  const mine = request;
  if (!isAgain) say("Translating ...");
  try {
    const found = await call("segments", sent, mine.signal);
    const source = found.detectedLanguage ? found.detectedLanguage.language : sent.source;
    at("detected").textContent = found.detectedLanguage ? `Detected: ${nameOf(source)}` : "";
    lay(found.segments, found.gaps, source, sent.target);
    const waiting = rows.filter((row) => !row.ready);
    for (let first = 0; first < waiting.length; first += TOGETHER) {
      await fill(waiting.slice(first, first + TOGETHER), mine.signal);
    }
    say("");
    at("spoken").textContent = waiting.length > 3 ? `${waiting.length} segments are translated.`
      : waiting.map((row) => row.put).join(" ");
  } catch (error) {
    if (mine.signal.aborted) return;
    if (!isAgain || !error.isAway) fail(error);
    if (error.isAway) timer = setTimeout(translate, AGAIN, true);
    else at("segments").removeAttribute("aria-busy");
    return;
  }
  at("segments").removeAttribute("aria-busy");
}

/* Ask for the translations of some segments; where one of them is refused, for each by itself. */
async function fill(some, signal) {
  const { source, target } = some[0];
  const asked = { alternatives: ALTERNATIVES, alignment: true, confidence: true, memory: true, terms: true };
  try {
    const found = await call("translate", { q: some.map((row) => row.text), source, target, ...asked }, signal);
    const of = (name, place) => (found[name] ? found[name][place] : null);
    some.forEach((row, place) => {
      Object.assign(row, {
        ready: true,
        error: "",
        put: found.translatedText[place],
        others: of("alternatives", place) || [],
        links: of("alignment", place),
        confidence: of("confidence", place),
        sure: of("wordConfidences", place) || [],
        terms: of("terms", place) || [],
        missing: of("missing_terms", place) || [],
        memory: of("memory", place),
        from: of("from", place),
        model: of("model", place),
      });
      row.state = row.memory === "exact" ? "From the memory" : "";
      draw(row);
    });
    note = of("note", 0) || "";
    drawDesk();
  } catch (error) {
    if (error.status !== 400 || needsKey(error)) throw error;
    if (some.length > 1) for (const row of some) await fill([row], signal);
    else draw(Object.assign(some[0], { error: error.message.replace(/^Line 1 /, "This sentence ") }));
  }
}

/* Segments */

function lay(texts, between, source, target) {
  const known = new Map([...kept, ...rows.map((row) => [row.key, row])]);
  rows = texts.map((text) => {
    const its = `${source} ${target} ${text}`;
    const found = known.get(its);
    known.delete(its);  // a sentence that stands twice is two segments
    return found || made(its, text, source, target);
  });
  gaps = between;
  at("segments").replaceChildren(...rows.map((row) => row.box));
  rows.forEach(number);
  if (!rows.includes(current)) current = null;
  open(current || rows.find((row) => !isDone(row)) || rows[0] || null);
  drawDesk();
}

function made(its, text, source, target) {
  const row = { key: its, text, source, target, put: "", state: "", chosen: -1 };
  Object.assign(row, { past: [], offers: new Map(), sure: [], terms: [], missing: [], others: [] });
  row.left = element("p", { className: "source", lang: source, dir: "auto" });
  row.words = element("p", { className: "words", lang: target, dir: "auto", role: "group" });
  row.field = element("textarea", { className: "field", lang: target, dir: "auto", rows: 1, hidden: true });
  row.meta = element("p", { className: "meta" });
  row.panel = element("div", { className: "panel", hidden: true });
  const right = element("div", { className: "target" }, row.words, row.field, row.meta);
  row.box = element("li", { className: "segment" }, row.left, right, row.panel);
  row.box.addEventListener("focusin", () => { if (!pressed) open(row); });
  row.box.addEventListener("click", (event) => press(row, placeOf(event.target)));
  row.panel.addEventListener("keydown", (event) => walkChoices(row, event));
  row.panel.addEventListener("mousedown", (event) => { if (event.target.closest("button")) event.preventDefault(); });
  row.words.addEventListener("dblclick", () => edit(row));
  row.words.addEventListener("mouseover", (event) => link(row, placeOf(event.target)));
  row.words.addEventListener("mouseout", () => link(row, row.chosen));
  row.words.addEventListener("focusin", (event) => link(row, placeOf(event.target)));
  row.words.addEventListener("focusout", () => link(row, row.chosen));
  row.words.addEventListener("keydown", (event) => walk(row, event));
  row.field.addEventListener("blur", (event) => { if (!row.box.contains(event.relatedTarget)) keep(row); });
  row.field.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") row.field.value = row.put;
    if (event.key !== "Escape" && event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    keep(row);
    focusOn(row);
  });
  draw(row);
  return row;
}

function number(row, place) {
  row.words.setAttribute("aria-label", `Translation ${place + 1}`);
  row.field.setAttribute("aria-label", `Your translation ${place + 1}`);
}

const placeOf = (target) => (target.dataset && target.dataset.place !== undefined ? Number(target.dataset.place) : -1);

/* Make a segment the one whose tools are shown. */
function open(row) {
  if (current === row) return;
  const before = current;
  current = row;
  if (before) draw(Object.assign(before, { chosen: -1 }));
  if (row) draw(row);
}

/* A click on a segment, perhaps on a word of it. Another one opens a moment later, since tools above it may close and
 * move it, and a second click should still meet it; then it stays under the pointer where the page can be scrolled. */
function press(row, place) {
  clearTimeout(opening);
  if (row === current && place >= 0) choose(row, place);
  if (row === current) return;
  opening = setTimeout(() => {
    const before = row.box.getBoundingClientRect().top;
    open(row);
    scrollBy({ top: row.box.getBoundingClientRect().top - before, behavior: "instant" });
    choose(row, place);
  }, DOUBLE);
}

function draw(row) {
  const isCurrent = row === current;
  const focused = document.activeElement.parentElement === row.words ? placeOf(document.activeElement) : -1;
  let place = -1;
  row.left.replaceChildren(...wordsOf(row.text).flatMap((word) => [element("span", {}, word), " "]).slice(0, -1));
  row.words.replaceChildren(...row.put.split(SPACES).map((part) => (wordsOf(part).length ? wordElement(row, part, ++place) : part)));
  row.words.classList.toggle("waiting", !row.ready && !row.error);
  row.words.classList.toggle("error", Boolean(row.error));
  if (!row.ready) row.words.textContent = row.error || "\u2026";
  drawMeta(row);
  row.box.classList.toggle("current", isCurrent);
  row.panel.hidden = !isCurrent || !row.ready;
  if (!row.panel.hidden) drawPanel(row);
  if (focused >= 0) focusOn(row, focused);
  link(row, row.chosen);
}

/* What a segment is, in words. */
function drawMeta(row) {
  const isKnown = row.ready && row.confidence !== null && row.confidence !== undefined;
  const missing = row.terms.filter((term) => isMissing(row, term)).map(({ source }) => source);
  const state = row.state || ((isKnown && row.confidence < SURE) || missing.length ? "Check" : "");
  const words = [
    isKnown && !row.past.length && `Confidence ${percent(row.confidence)}`,
    row.from && row.memory !== "exact" && `Memory ${row.memory.replace("fuzzy ", "")}`,
    row.terms.length > missing.length && `Glossary ${row.terms.length - missing.length}`,
    missing.length > 0 && `Missing ${missing.length === 1 ? "term" : "terms"}: ${missing.join(", ")}`,
  ].filter(Boolean);
  const shown = element("span", { className: isDone(row) ? "state done" : "state" }, isDone(row) ? `\u2713 ${state}` : state);
  row.meta.replaceChildren(...(state ? [shown] : []), ...words.map((one) => element("span", {}, one)));
}

function wordElement(row, word, place) {
  const sure = row.sure[place];
  const known = sure !== null && sure !== undefined && sure < SURE;
  return element("span", {
    role: "button",
    tabIndex: place === Math.max(0, row.chosen) ? 0 : -1,
    className: !known ? "" : sure < DOUBTFUL ? "doubtful" : "unsure",
    "aria-pressed": String(place === row.chosen),
    dataset: { place },
    ...(known ? { title: `${sure < DOUBTFUL ? "Doubtful" : "Unsure"}: ${percent(sure)} probably right` } : {}),
  }, word);
}

/* Mark the words of the text that a word of the translation comes from. */
function link(row, place) {
  const chosen = new Set((row.links || []).filter(([, target]) => target === place).map(([source]) => source));
  [...row.left.children].forEach((word, source) => word.classList.toggle("linked", chosen.has(source)));
}

function focusOn(row, place = Math.max(0, row.chosen)) {
  const words = row.words.querySelectorAll("[role=button]");
  const word = words[Math.min(place, words.length - 1)];
  if (!word) return;
  words.forEach((one) => { one.tabIndex = one === word ? 0 : -1; });
  word.focus();
}

/* Keys on the words of a translation. */
function walk(row, event) {
  const place = placeOf(event.target);
  const ahead = getComputedStyle(row.words).direction === "rtl" ? -1 : 1;
  const sideways = { ArrowLeft: place - ahead, ArrowRight: place + ahead, Home: 0, End: Infinity }[event.key];
  const up = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter" || event.key === " ") choose(row, place);
  else if (event.key === "Escape") choose(row, -1);
  else if (sideways !== undefined) focusOn(row, Math.max(0, sideways));
  else if (up > 0 && row.chosen >= 0 && choicesOf(row).length) choicesOf(row)[0].focus();
  else if (up) focusOn(rows[rows.indexOf(row) + up] || row);
  else return;
  event.preventDefault();
}

/* Keys among alternatives. */
function walkChoices(row, event) {
  const choices = choicesOf(row);
  const place = choices.indexOf(event.target);
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (place < 0 || !step) return;
  event.preventDefault();
  if (place + step < 0) focusOn(row);
  else (choices[place + step] || event.target).focus();
}

/* Changes of a segment: each can be undone */

function remember(row) {
  const { put, state, links, sure, others, confidence } = row;
  row.past.push({ put, state, links, sure, others, confidence, token: "" });
  kept.set(row.key, row);
}

/* Put another translation; what is known of words that stay goes with them. */
function change(row, text) {
  text = text.trim();
  if (!text || text === row.put) return;
  remember(row);
  const same = differences(row.put, text).filter(([kind]) => kind === "same");
  const stays = new Map(same.map(([, , from, to]) => [from, to]));
  const sure = [];
  row.sure.forEach((value, place) => { if (stays.has(place)) sure[stays.get(place)] = value; });
  row.others = [row.put, ...row.others.filter((one) => one !== text)];
  const links = (row.links || []).filter(([, target]) => stays.has(target));
  row.links = row.links && links.map(([source, target]) => [source, stays.get(target)]);
  Object.assign(row, { put: text, sure, state: "Changed", chosen: -1 });
  draw(row);
  drawDesk();
}

async function undo(row) {
  if (!row || row.busy || !row.past.length) return;
  const last = row.past.at(-1);
  row.busy = true;
  try {
    if (last.token) await call("suggest/undo", { token: last.token });
    row.past.pop();
    Object.assign(row, last, { chosen: -1 });
    say(last.token ? "Taken back from the memory." : "Undone.");
  } catch (error) {
    fail(error);
  }
  row.busy = false;
  draw(row);
  drawDesk();
  focusOn(row);
}

function edit(row) {
  if (!row || !row.ready || !row.field.hidden) return;
  clearTimeout(opening);
  open(row);
  row.field.value = row.put;
  row.field.hidden = false;
  row.words.hidden = true;
  row.chosen = -1;
  drawPanel(row);
  row.field.focus();
}

function keep(row) {
  if (row.field.hidden) return;
  row.field.hidden = true;
  row.words.hidden = false;
  change(row, row.field.value);
  draw(row);
}

async function confirm(row, goesOn) {
  if (!row || !row.ready || row.busy) return say(row ? "" : "There is no segment to confirm.");
  const inside = row.box.contains(document.activeElement);
  keep(row);
  const { text: q, put: s, source, target } = row;
  row.busy = true;
  try {
    if (!isDone(row)) {
      const told = settings.suggestions ? await call("suggest", { q, s, source, target, undo: true }) : {};
      remember(row);
      row.past.at(-1).token = told.undo || "";
      row.state = settings.suggestions ? "Confirmed" : "Done";
      const added = told.undo ? "Added to the memory." : "The memory had it already.";
      say(settings.suggestions ? added : "Done, on this page alone: the server learns nothing.");
    }
  } catch (error) {
    row.busy = false;
    return fail(error);
  }
  row.busy = false;
  const next = goesOn && [...rows.slice(rows.indexOf(row) + 1), ...rows].find((one) => !isDone(one));
  draw(row);
  drawDesk();
  if (next) {
    open(next);
    next.box.scrollIntoView({ block: "nearest" });
  }
  if (inside) focusOn(next || row);
}

/* Tools of the current segment */

function drawPanel(row) {
  const word = row.chosen >= 0 ? wordsOf(row.put)[row.chosen] : "";
  const learns = settings.suggestions;
  const effect = learns
    ? `Confirming adds this pair to the memory of ${row.model}: from now on, everybody who translates this text with it gets your translation.`
    : "The segment is marked on this page alone: this server does not learn.";
  const main = { className: "main", title: "Ctrl+Enter", "aria-describedby": "effect" };
  const write = row.field.hidden ? button("Edit", () => edit(row), { title: "F2" })
    : button("Keep", () => { keep(row); focusOn(row); }, { title: "Enter" });
  const tools = element("p", { className: "tools" },
    isDone(row) ? "" : button(learns ? "Confirm" : "Done", () => confirm(row, true), main),
    write,
    row.past.length ? button("Undo", () => undo(row), { className: "undo", title: "Ctrl+Z" }) : "",
    isDone(row) ? "" : element("span", { className: "small", id: "effect" }, effect));
  const left = element("div", { className: "of-source" }, ...memoryHit(row), ...glossaryHits(row));
  const right = element("div", { className: "of-target" }, tools, ...(word ? wordTools(row, word) : alternatives(row)));
  row.panel.replaceChildren(left, right);
}

function choiceList(row, texts, label) {
  const choice = (text) => element("button", {
    type: "button",
    className: "choice",
    lang: row.target,
    dir: "auto",
    onclick: (event) => take(row, text, event),
  }, element("span", {}, ...marked(row.put, text)));
  return element("ol", { className: "choices", "aria-label": label }, ...texts.map((text) => element("li", {}, choice(text))));
}

/* Take another translation; with Ctrl confirm it, too. */
function take(row, text, event) {
  change(row, text);
  focusOn(row);
  if (event.ctrlKey || event.metaKey) confirm(row, true);
}

const choicesOf = (row) => [...row.panel.querySelectorAll(".choice")];

function alternatives(row) {
  const others = row.others.filter((one) => one !== row.put);
  return others.length ? [element("div", {}, element("h3", {}, "Alternatives"), choiceList(row, others, "Alternatives"))] : [];
}

function memoryHit(row) {
  if (!row.from) return [];
  const { source, target, origin, added } = row.from;
  const where = `${origin || "the memory"}, ${added}`;
  if (row.memory === "exact") return [element("p", { className: "hit" }, `From the memory (${where}).`)];
  return [element("div", { className: "hit memory" },
    element("h3", {}, `Memory, ${row.memory.replace("fuzzy ", "")} alike`),
    element("p", { lang: row.source, dir: "auto" }, ...marked(source, row.text, true)),
    element("p", { lang: row.target, dir: "auto", className: "hit-target" }, target),
    element("p", { className: "small" }, button("Use it", (event) => take(row, target, event)), ` ${where}`))];
}

const hasForm = (row, form) => row.put.toLowerCase().includes(form.toLowerCase());

/* True if the translation lacked a term, and still does. */
const isMissing = (row, { source, targets }) => row.missing.includes(source) && !targets.some((form) => hasForm(row, form));

function glossaryHits(row) {
  if (!row.terms.length) return [];
  const term = (source, form) => button(hasForm(row, form) ? `\u2713 ${form}` : form, () => useTerm(row, source, form), {
    className: "term",
    lang: row.target,
    title: hasForm(row, form) ? "It is in the translation" : "Put it into the translation",
  });
  const items = row.terms.map(({ source, targets, forbidden }) => element("li", {},
    element("span", { lang: row.source }, source),
    " \u2192 ",
    ...targets.flatMap((form) => [term(source, form), " "]),
    isMissing(row, { source, targets }) ? "missing " : "",
    forbidden.length ? `not ${forbidden.join(", ")}` : ""));
  return [element("div", { className: "hit" }, element("h3", {}, "Glossary"), element("ul", { className: "terms" }, ...items))];
}

/* Put a term in place of the chosen word, or of the words that come from its source; else where it is written. */
function useTerm(row, source, form) {
  const [terms, words] = [wordsOf(source.toLowerCase()), wordsOf(row.text.toLowerCase()).map(bare)];
  const begin = words.findIndex((_, place) => terms.every((term, step) => words[place + step] === term));
  const isOfTerm = ([from]) => begin >= 0 && from >= begin && from < begin + terms.length;
  const places = row.chosen >= 0 ? [row.chosen] : (row.links || []).filter(isOfTerm).map(([, to]) => to);
  if (places.length) return replaceWords(row, Math.min(...places), Math.max(...places), form);
  edit(row);
  row.field.setRangeText(` ${form}`, row.put.length, row.put.length, "select");
}

/* Put text in place of some words, with the signs around them. */
function replaceWords(row, first, last, text) {
  const parts = row.put.split(SPACES);
  const offset = parts[0] ? 0 : 2;
  const [begin, end] = [first, last].map((place) => 2 * place + offset);
  const before = parts[begin].match(/^[\p{P}\p{S}]*/u)[0];
  const behind = parts[end].slice(before.length && begin === end ? before.length : 0).match(/[\p{P}\p{S}]*$/u)[0];
  parts.splice(begin, end - begin + 1, before + text + behind);
  change(row, parts.join(""));
  focusOn(row, first);
}

function choose(row, place) {
  if (place < 0 && row.chosen < 0) return;
  row.chosen = place;
  row.words.querySelectorAll("[role=button]").forEach((word) => word.setAttribute("aria-pressed", String(placeOf(word) === place)));
  drawPanel(row);
  link(row, place);
  focusOn(row, Math.max(0, place));
}

/* What the chosen word comes from, other translations from it on, a word of one's own, and where it was learnt. */
function wordTools(row, word) {
  const place = row.chosen;
  const linked = new Set((row.links || []).filter(([, target]) => target === place).map(([source]) => source));
  const from = wordsOf(row.text).filter((_, source) => linked.has(source));
  const none = row.memory === "exact" ? "What comes from the memory has no word alignments."
    : row.links ? "No word of the text is linked to it." : "This model has no word alignments.";
  const offers = element("div", { className: "offers", role: "status" }, element("p", { className: "small" }, "Looking ..."));
  const own = element("input", { type: "text", lang: row.target, dir: "auto", placeholder: "another word" });
  own.setAttribute("aria-label", `Instead of ${bare(word)}`);
  const form = element("form", { className: "own" }, own, element("button", {}, "Replace"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (own.value.trim()) replaceWords(row, place, place, own.value.trim());
  });
  const learnt = element("div", { className: "learnt" });
  offer(row, place, offers);
  if (settings.neighbours) showLearnt(row, place, learnt);
  const found = element("div", {},
    element("h3", {}, "Instead of ", element("q", { lang: row.target }, bare(word) || word)),
    element("p", { className: "small linked-words" }, from.length ? `Comes from: ${from.join(" ")}` : none),
    offers);
  return [found, form, learnt];
}

/* Other translations that have the same words up to a place, and another one there. */
async function continuations(row, place) {
  const parts = row.put.split(SPACES);
  const prefix = parts.slice(0, 2 * place + (parts[0] ? 0 : 2)).join("").trim();
  const word = bare(wordsOf(row.put)[place]);
  const isBefore = prefix.toLowerCase().includes(word.toLowerCase());  // what stands before it cannot be avoided
  const asked = { q: row.text, source: row.source, target: row.target, alternatives: CONTINUATIONS, prefix };
  const its = `${place} ${row.put}`;
  if (!row.offers.has(its)) row.offers.set(its, call("translate", word && !isBefore ? { ...asked, avoid: word } : asked));
  const answer = await row.offers.get(its).catch((error) => {
    row.offers.delete(its);
    throw error;
  });
  const begin = (text) => wordsOf(text).slice(0, place).join(" ");
  const wordAt = (text) => bare(wordsOf(text)[place] || "").toLowerCase();
  const all = [...row.others.filter((text) => begin(text) === begin(row.put)), answer.translatedText, ...answer.alternatives];
  const texts = [...new Set(all)].filter((text) => text !== row.put && wordAt(text) !== word.toLowerCase());
  const firsts = texts.filter((text, number) => texts.findIndex((other) => wordAt(other) === wordAt(text)) === number);
  return [...new Set([...firsts, ...texts])].slice(0, OFFERED);
}

async function offer(row, place, list) {
  try {
    const texts = await continuations(row, place);
    list.replaceChildren(texts.length ? choiceList(row, texts, "Other translations from this word on")
      : element("p", { className: "small" }, "The model has no other word here."));
  } catch (error) {
    list.replaceChildren(element("p", { className: "small error" }, error.message));
  }
}

/* The training pairs of all words come with one request, which is made for the first word that is chosen. */
async function showLearnt(row, place, box) {
  const { text, put, source, target } = row;
  try {
    if (!row.learnt || row.learnt.put !== put) {
      row.learnt = { put, found: call("neighbours", { q: text, s: put, source, target }) };
    }
    const pairs = (await row.learnt.found).neighbours[place] || [];
    if (!pairs.length) return;
    const side = (lang, words) => element("p", { lang, dir: "auto" }, words);
    const items = pairs.map((pair) => element("li", {}, side(target, pair.target), side(source, pair.source)));
    box.replaceChildren(element("h3", {}, "Where the model learnt this word"),
      element("p", { className: "small" }, "Pairs of the training data in which it was in the most similar state."),
      element("ul", { className: "pairs" }, ...items));
  } catch (error) {
    fail(error);
  }
}

/* The desk as a whole */

const translation = () => gaps[0] + rows.map((row, place) => row.put + gaps[place + 1]).join("");

function drawDesk() {
  at("desk").hidden = !rows.length;
  at("empty").hidden = rows.length > 0 || !at("documents").hidden;
  document.body.classList.toggle("idle", !at("empty").hidden);
  const done = rows.filter(isDone).length;
  at("progress").textContent = done ? `${done} of ${rows.length} ${settings.suggestions ? "confirmed" : "done"}` : "";
  at("copy").disabled = !rows.length || !rows.every((row) => row.ready);
  const isCalibrated = rows.some((row) => row.confidence !== null && row.confidence !== undefined);
  const lines = [
    element("span", { className: "unsure" }, "Unsure"), ` is below ${percent(SURE)} probable, `,
    element("span", { className: "doubtful" }, "doubtful"), ` below ${percent(DOUBTFUL)}.`,
  ];
  const without = note ? ["No confidence is shown: it was not calibrated (anaphora calibrate)."] : [];
  at("legend").replaceChildren(...(isCalibrated ? lines : without));
}

async function copy() {
  try {
    await navigator.clipboard.writeText(translation());
    say("Copied.");
  } catch {  // without HTTPS the clipboard is closed to pages: select the text for the keyboard
    at("source").blur();
    const shown = element("textarea", { value: translation(), "aria-label": "Translation", className: "copied" });
    at("desk").append(shown);
    shown.select();
    shown.addEventListener("blur", () => shown.remove());
    say("Selected: copy it with Ctrl+C.");
  }
}

/* Documents */

/* Bytes as text; null where they are not UTF-8, which the server says more of. */
function decoded(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/* A plain text that is not too long is put where text is typed; of any other document a translation is saved. */
async function openAll(files) {
  const [first] = files;
  if (files.length === 1 && /\.txt$/i.test(first.name) && (limit < 0 || first.size <= limit)) {
    const text = decoded(await first.arrayBuffer());
    if (text !== null) {
      at("source").value = text;
      return changed();
    }
  }
  for (const file of files) await translateDocument(file);
}

async function translateDocument(file) {
  const sources = languages.filter((one) => one.targets.includes(at("to").value));
  const source = at("from").value !== "auto" ? at("from").value : sources.length === 1 ? sources[0].code : "";
  if (!source) {
    at("from").focus();
    return say("Choose the language of the document first.", true);
  }
  const name = element("strong", { dir: "auto" }, file.name);
  const box = element("li", { className: "document", "aria-busy": "true" }, name, element("p", {}, "Translating ..."));
  at("documents").prepend(box);
  at("documents").hidden = false;
  drawDesk();
  const form = new FormData();
  for (const [field, value] of Object.entries({ file, source, target: at("to").value })) form.append(field, value);
  say(`Translating ${file.name} ...`);
  try {
    showDocument(box, name, file, await call("translate_file", form));
  } catch (error) {
    box.replaceChildren(name, element("p", { className: "error" }, error.message), closing(box));
    if (needsKey(error)) fail(error);
    else say(`${file.name} was not translated.`, true);
  }
  box.removeAttribute("aria-busy");
}

function showDocument(box, name, file, { translatedFileUrl, filled, left, missing_terms: missing = {} }) {
  const href = `download_file/${translatedFileUrl.split("/").pop()}`;  // by the address of the page, which a proxy may have changed
  const count = Object.values(left).reduce((sum, lines) => sum + lines.length, 0);
  const outcome = `${filled.toLocaleString("en")} filled, ${count.toLocaleString("en")} left.`;
  const reasons = Object.entries(left).map(([why, lines]) => {
    const which = `${lines.slice(0, LINES).join(", ")}${lines.length > LINES ? ", .." : ""}`;
    return element("li", {}, `${lines.length} ${lines.length === 1 ? "entry" : "entries"} ${why} (line ${which})`);
  });
  for (const [text, terms] of Object.entries(missing).slice(0, LINES)) {
    reasons.push(element("li", {}, `Missing ${terms.length === 1 ? "term" : "terms"}: ${terms.join(", ")} (${text})`));
  }
  const save = element("a", { className: "button main", href, download: file.name }, `Save ${file.name}`);
  box.replaceChildren(name, element("p", { className: "outcome" }, outcome),
    element("ul", { className: "reasons" }, ...reasons),
    element("p", { className: "tools" }, save, closing(box)));
  say(`${file.name}: ${outcome}`);
  if (filled) save.click();
  save.focus();
}

const closing = (box) => button("Close", () => {
  box.remove();
  at("documents").hidden = !at("documents").children.length;
  drawDesk();
  at("source").focus();
}, { className: "plain" });

/* Events */

document.addEventListener("pointerdown", (event) => {
  pressed = true;
  if (!at("shortcuts").contains(event.target)) at("shortcuts").open = false;
}, true);
document.addEventListener("pointerup", () => { pressed = false; }, true);
document.addEventListener("pointercancel", () => { pressed = false; }, true);

const carriesFiles = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
let dragged = 0;  // elements under what is dragged
document.addEventListener("dragenter", (event) => {
  if (carriesFiles(event) && ++dragged) document.body.classList.add("dropping");
});
document.addEventListener("dragleave", (event) => {
  if (carriesFiles(event) && --dragged <= 0) document.body.classList.remove("dropping");
});
document.addEventListener("dragover", (event) => { if (carriesFiles(event)) event.preventDefault(); });
document.addEventListener("drop", (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  dragged = 0;
  document.body.classList.remove("dropping");
  openAll([...event.dataTransfer.files]);
});
document.addEventListener("keydown", (event) => {
  const isCommand = event.ctrlKey || event.metaKey;
  const letter = event.key.toLowerCase();
  const isInside = current && current.box.contains(document.activeElement);
  const writes = /^(TEXTAREA|INPUT|SELECT)$/.test(document.activeElement.tagName);
  const numbered = /^[1-9]$/.test(event.key) && isInside && !writes && !isCommand && !event.altKey && choicesOf(current)[event.key - 1];
  if (isCommand && event.key === "Enter" && document.activeElement.matches(".choice")) return;  // it is pressed
  if (isCommand && event.key === "Enter") confirm(current, true);
  else if (isCommand && letter === "s") confirm(current, false);
  else if (event.key === "F2") edit(current);
  else if (isCommand && letter === "z" && !event.shiftKey && !writes) undo(current);
  else if (numbered) numbered.click();
  else if (event.key === "Escape" && current && current.chosen >= 0) choose(current, -1);
  else return;
  event.preventDefault();
});
at("source").addEventListener("input", (event) => { if (!event.isComposing) changed(); });
at("source").addEventListener("compositionend", changed);
at("source").addEventListener("paste", (event) => {
  if (!event.clipboardData.files.length) return;
  event.preventDefault();
  openAll([...event.clipboardData.files]);
});
at("from").addEventListener("change", () => { showTargets(at("to").value); changed(); });
at("to").addEventListener("change", () => { showTargets(at("to").value); changed(); });
at("copy").addEventListener("click", copy);
at("swap").addEventListener("click", swap);
at("clear").addEventListener("click", () => { at("source").value = ""; changed(); at("source").focus(); });
at("document").addEventListener("change", () => {
  const files = [...at("document").files];
  at("document").value = "";
  openAll(files);
});
at("key-form").addEventListener("submit", (event) => { event.preventDefault(); key = at("key").value.trim(); begin(); });
begin();

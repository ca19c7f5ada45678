"use strict";

/* The page of the server. Text is sent WAIT milliseconds after the last key, and only the answer to the latest text is
 * shown: an older request is aborted. While an input method composes a character, nothing is sent. While a translation is
 * corrected, nothing is sent either, so that no answer takes the place of what was written. What could not be sent is
 * sent again every AGAIN milliseconds. */

const WAIT = 300;
const AGAIN = 3000;
const ALTERNATIVES = 3;
const at = (id) => document.getElementById(id);

let languages = [];
let key = "";
let limit = -1;
let timer = 0;
let request = null;
let answer = null;
let learns = false;
let neighbours = false;
let correcting = false;
let undoable = "";
let opened = null;

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

function fail(error) {
  if (error.name === "AbortError") return;
  const needsKey = (error.status === 400 || error.status === 403) && /key/i.test(error.message);
  at("key-form").hidden = !needsKey && !key;
  at("translation").removeAttribute("aria-busy");
  say(error.message, true);
}

function option(code, name) {
  const made = new Option(name, code);
  made.lang = "en";
  return made;
}

async function begin() {
  try {
    const [settings, known] = await Promise.all([call("frontend/settings"), call("languages")]);
    languages = known;
    limit = settings.charLimit;
    learns = settings.suggestions;
    neighbours = settings.neighbours;
    at("documents").hidden = !settings.filesTranslation;
    at("document").accept = settings.supportedFilesFormat.join();
    const sources = known.filter((one) => one.targets.length);
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
  const names = new Map(languages.map((one) => [one.code, one.name]));
  at("to").replaceChildren(...codes.map((code) => option(code, names.get(code) || code)));
  if (codes.includes(wanted)) at("to").value = wanted;
  const back = languages.find((one) => one.code === at("to").value);
  at("swap").hidden = !(from && back && back.targets.includes(from.code));
}

/* Wait for a pause in typing, then translate. */
function changed() {
  const text = at("source").value;
  at("source").lang = at("from").value === "auto" ? "" : at("from").value;
  const length = text.replace(/[\uD800-\uDBFF]/g, "").length;  // in characters, as the server counts
  const [counted, most] = [length, limit].map((number) => number.toLocaleString("en"));
  at("count").textContent = limit > 0 && length > 0.8 * limit ? `${counted} of ${most} characters` : "";
  clearTimeout(timer);
  if (request) request.abort();
  if (correcting || !languages.length) return;
  if (!text.trim()) return clear();
  if (limit > 0 && length > limit) {
    clear();
    const instead = at("documents").hidden ? "" : ", or open it as a document (.txt)";
    return say(`The text has ${counted} characters, but at most ${most} are translated at once: shorten it${instead}.`, true);
  }
  correctable(false);
  at("translation").setAttribute("aria-busy", "true");
  timer = setTimeout(translate, WAIT);
}

function clear() {
  answer = null;
  at("translation").textContent = "";
  at("translation").removeAttribute("aria-busy");
  at("details").hidden = true;
  at("copy").disabled = true;
  correctable(false);
  at("match").hidden = true;
  at("detected").textContent = "";
  say("");
}

/* The button keeps the focus while it has no effect, which one that is disabled does not. */
function correctable(is) {
  at("correct").setAttribute("aria-disabled", String(!is));
}

async function translate(isAgain = false) {
  const text = at("source").value;
  const sent = { q: text, source: at("from").value, target: at("to").value, alternatives: ALTERNATIVES, alignment: true, memory: true };
  request = new AbortController();
  const mine = request;
  if (!isAgain) say("Translating ...");
  try {
    const found = await call("translate", sent, mine.signal);
    if (mine.signal.aborted) return;
    const source = found.detectedLanguage ? found.detectedLanguage.language : sent.source;
    answer = { text, source, target: sent.target, ...found };
    show();
  } catch (error) {
    if (mine.signal.aborted) return;
    if (!isAgain || !error.isAway) {
      clear();
      fail(error);
    }
    if (error.isAway) timer = setTimeout(translate, AGAIN, true);
  }
}

function show() {
  const { translatedText, target, alternatives = [], detectedLanguage } = answer;
  at("translation").lang = target;
  at("translation").textContent = translatedText;
  at("translation").removeAttribute("aria-busy");
  at("copy").disabled = false;
  correctable(true);
  at("correct").hidden = !learns;
  showMatch();
  const name = detectedLanguage && languages.find((one) => one.code === detectedLanguage.language);
  at("detected").textContent = name ? `Detected: ${name.name}` : "";
  say("");
  at("alternatives").replaceChildren(...alternatives.map((text) => {
    const item = document.createElement("li");
    item.lang = target;
    item.textContent = text;
    return item;
  }));
  if (!alternatives.length) at("alternatives").append(Object.assign(document.createElement("li"), { textContent: "None." }));
  showWords();
  at("details").hidden = false;
}

function showMatch() {
  const { memory, from } = answer;
  at("match").hidden = !from;
  if (!from) return;
  const where = `${from.origin || "the memory"}, ${from.added}`;
  at("match").textContent = memory === "exact" ? `From the memory (${where}).`
    : `The memory has a similar text (${memory}, ${where}): ${from.source} \u2192 ${from.target}`;
}

const wordsOf = (text) => text.split(/[ \n\r\t]+/).filter(Boolean);

function showWords() {
  const buttons = wordsOf(answer.translatedText).map((word, place) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: word, lang: answer.target });
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => choose(place));
    return button;
  });
  const none = answer.memory === "exact" ? "What comes from the memory has no word alignments."
    : answer.alignment ? "" : "This model has no word alignments.";
  at("words-hint").textContent = none || "Choose a word of the translation to see which words of the text it comes from.";
  at("target-words").replaceChildren(...(none ? [] : buttons));
  at("source-words").replaceChildren();
  at("linked").textContent = "";
  at("learnt").hidden = true;
}

function choose(place) {
  const chosen = new Set(answer.alignment.filter(([, target]) => target === place).map(([source]) => source));
  const words = wordsOf(answer.text);
  at("source-words").replaceChildren(...words.map((word, number) =>
    Object.assign(document.createElement(chosen.has(number) ? "mark" : "span"), { textContent: word })));
  [...at("target-words").children].forEach((button, number) => button.setAttribute("aria-pressed", String(number === place)));
  const from = words.filter((_, number) => chosen.has(number));
  at("linked").textContent = from.length ? `Comes from: ${from.join(" ")}` : "No word of the text is linked to it.";
  if (neighbours) showLearnt(place);
}

/* The training pairs of all words come with one request, which is made for the first word that is chosen. */
async function showLearnt(place) {
  const mine = answer;
  const { text, translatedText, source, target } = mine;
  mine.chosen = place;
  at("learnt").hidden = true;
  try {
    mine.learnt ??= call("neighbours", { q: text, s: translatedText, source, target });
    const pairs = (await mine.learnt).neighbours[place] || [];
    if (answer !== mine || mine.chosen !== place) return;
    at("pairs").replaceChildren(...pairs.map((pair) => {
      const item = document.createElement("li");
      const side = (lang, words) => Object.assign(document.createElement("p"), { lang, dir: "auto", textContent: words });
      item.append(side(target, pair.target), side(source, pair.source));
      return item;
    }));
    at("learnt").hidden = !pairs.length;
  } catch (error) {
    if (answer === mine) fail(error);
  }
}

function correct() {
  if (at("correct").getAttribute("aria-disabled") === "true") return;
  correcting = true;
  say("");
  changed();
  at("correction").value = answer.translatedText;
  at("correction").lang = answer.target;
  at("effect").textContent = `Confirming adds this pair to the memory of ${answer.model}: ` +
    "from now on, everybody who translates this text with it gets your translation.";
  showCorrection();
  at("correction").focus();
}

function showCorrection() {
  at("correction-form").hidden = !correcting;
  at("translation").hidden = at("copy").hidden = at("correct").hidden = correcting;
  at("undo").hidden = correcting || !undoable;
}

function corrected() {
  correcting = false;
  showCorrection();
  at("correct").focus();
  if (at("source").value !== answer.text || at("to").value !== answer.target) changed();
}

async function confirm() {
  const mine = answer;
  if (mine.confirming) return;
  mine.confirming = true;
  const { text, source, target } = mine;
  const written = at("correction").value;
  try {
    const told = await call("suggest", { q: text, s: written, source, target, undo: true });
    undoable = told.undo;
    if (answer === mine) {
      answer = { ...mine, translatedText: written, alternatives: [], alignment: [], memory: "exact", from: null };
      show();
    }
    corrected();
    say(undoable ? "Added to the memory." : "The memory had it already.");
  } catch (error) {
    fail(error);
  } finally {
    mine.confirming = false;
  }
}

async function undo() {
  const token = undoable;
  if (!token) return;
  undoable = "";  // a second press finds nothing to undo
  try {
    await call("suggest/undo", { token });
    at("correct").focus();
    changed();
  } catch (error) {
    undoable ||= token;
    fail(error);
  }
  at("undo").hidden = correcting || !undoable;
}

async function copy() {
  try {
    await navigator.clipboard.writeText(answer.translatedText);
    say("Copied.");
  } catch {  // without HTTPS the clipboard is closed to pages: select the text for the keyboard
    getSelection().selectAllChildren(at("translation"));
    say("Selected: copy it with Ctrl+C.");
  }
}

/* Bytes as text; null where they are not UTF-8, which the server says more of. */
function decoded(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/* A plain text that is not too long is put where text is typed; of any other document a translation is offered. */
async function open() {
  const [file] = at("document").files;
  if (!file) return;
  opened = file;
  at("document").value = "";
  at("download").hidden = true;
  try {
    if (/\.txt$/i.test(file.name) && (limit < 0 || file.size <= limit)) {
      const text = decoded(await file.arrayBuffer());
      if (opened !== file) return;
      if (text !== null) {
        at("source").value = text;
        return changed();
      }
    }
    const sources = languages.filter((one) => one.targets.includes(at("to").value));
    const source = at("from").value !== "auto" ? at("from").value : sources.length === 1 ? sources[0].code : "";
    if (!source) return say("Choose the language of the document first.", true);
    const form = new FormData();
    for (const [name, value] of Object.entries({ file, source, target: at("to").value })) form.append(name, value);
    say(`Translating ${file.name} ...`);
    const { translatedFileUrl } = await call("translate_file", form);
    if (opened !== file) return;
    const href = `download_file/${translatedFileUrl.split("/").pop()}`;  // by the address of the page, which a proxy may have changed
    Object.assign(at("download"), { href, download: file.name, textContent: `Save the translated ${file.name}` });
    at("download").hidden = false;
    say("");
    at("download").focus();
  } catch (error) {
    if (opened === file) fail(error);
  }
}

function swap() {
  const [from, to] = [at("from").value, at("to").value];
  if (answer) at("source").value = answer.translatedText;
  at("from").value = to;
  showTargets(from);
  changed();
}

at("source").addEventListener("input", (event) => { if (!event.isComposing) changed(); });
at("source").addEventListener("compositionend", changed);
at("from").addEventListener("change", () => { showTargets(at("to").value); changed(); });
at("to").addEventListener("change", () => { showTargets(at("to").value); changed(); });
at("copy").addEventListener("click", copy);
at("swap").addEventListener("click", swap);
at("document").addEventListener("change", open);
at("correct").addEventListener("click", correct);
at("cancel").addEventListener("click", corrected);
at("undo").addEventListener("click", undo);
at("correction-form").addEventListener("submit", (event) => { event.preventDefault(); confirm(); });
at("correction-form").addEventListener("keydown", (event) => { if (event.key === "Escape") corrected(); });
at("key-form").addEventListener("submit", (event) => { event.preventDefault(); key = at("key").value.trim(); begin(); });
begin();

// Text to token ids and back: subwords as sentencepiece segments them, words, characters, symbols of strings, bytes.

const PAD = 0, UNK = 1, BOS = 2, EOS = 3, UNKNOWN = "\ufffd", SPACE = "\u2581", JOINER = "\uffed";
const LINE_BREAKS = /[\n\0]/g;

class Tokens {
  constructor(table) {
    Object.assign(this, table);
    const texts = this.alphabet ? ["", "", "", "", ...this.alphabet] : this.pieces;
    this.texts = texts;
    this.ids = new Map(texts.map((piece, id) => [piece, id]).filter(([, id]) => id > EOS));
    this.rule = (this.rule || []).map(([pattern, put]) => [new RegExp(pattern, "gu"), put]);
    this.unknown = Math.min(...(this.scores || []).slice(EOS + 1)) - 10;
    for (const name of ["token", "word", "opening"]) if (table[name]) this[name] = new RegExp(table[name], name === "token" ? "gsu" : "su");
    if (this.moses) this.moses = new Moses(this.moses);
  }

  /** Tokens as labels: without the marks of words that stand beside others. */
  label(id) { return this.kind === "word" && id > EOS ? surface(this.pieces[id]) : this.pieces[id]; }

  normalise(text) {
    for (const [pattern, put] of this.rule) text = text.replace(pattern, put);
    const {apostrophe, forms} = this.variants || {apostrophe: "", forms: {}};  // text/variants.py
    if (apostrophe) text = text.replace(/(?<=\p{L})['\u2019\u02bc\u02b9\u2032\u2018\u00b4\uff07](?=\p{L})/gu, apostrophe);
    text = text.replace(/\.\.\.|./gsu, (one) => forms[one] ?? [...one].map((c) => forms[c] ?? c).join(""));
    text = text.normalize("NFC");
    if (this.lowercase === "tr") text = text.replace(/\u0130/g, "i").replace(/I\u0307/g, "i").replace(/I/g, "\u0131");
    return this.lowercase ? text.toLowerCase().normalize("NFC") : text;
  }

  encode(text) {
    if (this.kind === "symbol") return this.symbols(text).map((symbol) => this.ids.get(symbol) ?? UNK);
    text = this.normalise(text);
    if (this.kind === "byte") return [...new TextEncoder().encode(text)].map((byte) => byte + EOS + 1);
    if (this.kind === "character") return [...text].map((letter) => this.ids.get(letter) ?? UNK);
    if (this.kind === "word") return this.words(text.trim()).map((word) => this.ids.get(word) ?? UNK);
    // sentencepiece joins and trims spaces, but of its own sign for them only those at the end
    const line = SPACE + text.replace(/ +/g, " ").replace(/^ /, "").replaceAll(" ", SPACE), letters = [...line.replace(/\u2581+$/, "")];
    return this.spelt(this.scores ? this.likeliest(letters) : this.merged(letters));
  }

  /** Byte-pair segmentation: the pair whose token was learnt first is merged first, the leftmost of equal ones. */
  merged(symbols) {
    for (;;) {
      let best = Infinity, place = -1;
      for (let i = 0; i + 1 < symbols.length; i++) {
        const id = this.ids.get(symbols[i] + symbols[i + 1]);
        if (id !== undefined && id < best) { best = id; place = i; }
      }
      if (place < 0) return symbols;
      symbols.splice(place, 2, symbols[place] + symbols[place + 1]);
    }
  }

  /** Unigram segmentation: the most probable one, in single precision as sentencepiece adds up. */
  likeliest(letters) {
    const best = [{score: 0}], longest = 64;
    for (let start = 0; start < letters.length; start++) {
      const reach = (end, score) => {
        const sum = Math.fround(best[start].score + Math.fround(score));
        if (!best[end] || sum > best[end].score) best[end] = {score: sum, start};
      };
      let piece = "", single = false;
      for (let end = start + 1; end <= Math.min(letters.length, start + longest); end++) {
        piece += letters[end - 1];
        const id = this.ids.get(piece);
        if (id === undefined || /^<0x..>$/.test(piece)) continue;
        reach(end, this.scores[id]);
        single = single || end === start + 1;
      }
      if (!single) reach(start + 1, this.unknown);
    }
    const found = [];
    for (let end = letters.length; end > 0; end = best[end].start) found.unshift(letters.slice(best[end].start, end).join(""));
    return found;
  }

  /** Ids of subwords, with bytes for what has none; unknown ones beside each other are one. */
  spelt(symbols) {
    const ids = [];
    for (const symbol of symbols) {
      const id = this.ids.get(symbol);
      if (id !== undefined) ids.push(id);
      else if (this.ids.has("<0x00>")) ids.push(...[...new TextEncoder().encode(symbol)].map((byte) => this.ids.get(byteName(byte))));
      else if (ids[ids.length - 1] !== UNK) ids.push(UNK);
    }
    return ids;
  }

  /** Words between spaces, or with marks where there is no space: text/joiner_tokens.py. */
  words(text) {
    if (this.moses) return this.moses.split(text);
    if (!this.token) return text.split(/\s+/u).filter(Boolean);
    const parts = text.replaceAll(JOINER, "\u25a0").match(this.token) || [], tokens = [], blank = (part) => !/\S/u.test(part);
    const starts = (pattern, part) => part.search(pattern) === 0;
    const marksFirst = (first, second) => {
      if (first === "<unk>" || second === "<unk>") return second === "<unk>" && first !== "<unk>";
      if (starts(this.word, second)) return !starts(this.word, first) || /['\u2019]$/.test(first);
      return starts(this.opening, first);
    };
    let apart = true;
    parts.forEach((part, place) => {
      if (blank(part)) {
        apart = true;
        const beside = [parts[place - 1], parts[place + 1]].filter((one) => one !== undefined);
        if (part !== " " || beside.length < 2 || beside.some(blank)) tokens.push(JOINER + part.replace(/^ +| +$/g, "") + JOINER);
        return;
      }
      if (!apart && marksFirst(parts[place - 1], part)) {
        tokens[tokens.length - 1] += JOINER;
        apart = true;
      }
      tokens.push(apart || part === "<unk>" ? part : JOINER + part);
      apart = false;
    });
    return tokens;
  }

  /** Symbols of a string, and its tags behind a tab: text/symbols.py. */
  symbols(text) {
    const [first, ...tags] = text.split("\t"), string = this.normalise(first.trim());
    const symbols = this.separated ? string.split(/\s+/u).filter(Boolean) : [...string];
    return [...symbols, ...tags.join("\t").normalize("NFC").split(";").map((tag) => tag.trim()).filter(Boolean).map((tag) => `\t${tag}`)];
  }

  decode(ids) {
    return this.written(ids.filter((id) => id === UNK || id > EOS), ids).replace(LINE_BREAKS, " ");
  }

  written(kept, ids) {
    const {kind} = this;
    if (kind === "character" || kind === "symbol") {
      const letters = kept.map((id) => (id === UNK ? UNKNOWN : this.texts[id])).filter((one) => !one.startsWith("\t"));
      return letters.join(this.separated ? " " : "");
    }
    if (kind === "byte") {
      const bytes = kept.flatMap((id) => (id === UNK ? [0xef, 0xbf, 0xbd] : [id - EOS - 1]));
      return new TextDecoder("utf-8", {ignoreBOM: true}).decode(Uint8Array.from(bytes));
    }
    if (kind === "word") {
      const words = kept.map((id) => this.pieces[id]);
      if (this.moses) return this.moses.join(words);
      if (!this.token) return words.join(" ");
      return words.map((word, n) => (n && !word.startsWith(JOINER) && !words[n - 1].endsWith(JOINER) ? " " : "") + surface(word)).join("");
    }
    const pieces = ids.map((id) => (id === UNK ? UNKNOWN : id > EOS ? this.pieces[id] : ""));
    const first = pieces.findIndex((piece) => piece !== "");
    if (first >= 0 && pieces[first].startsWith(SPACE)) pieces[first] = pieces[first].slice(1);
    let text = "", bytes = [];
    const flush = () => { text += fromBytes(bytes); bytes = []; };
    for (const piece of pieces) { // bytes on both sides of a special token make no character
      const byte = /^<0x([0-9A-F]{2})>$/.exec(piece);
      if (byte) { bytes.push(parseInt(byte[1], 16)); continue; }
      flush();
      text += piece.replaceAll(SPACE, " ");
    }
    flush();
    return text;
  }
}

const surface = (word) => word.replace(/^\uffed/, "").replace(/\uffed$/, "") || " ";
const byteName = (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;

/** UTF-8 read as sentencepiece does: every byte that is part of no character is U+FFFD. */
function fromBytes(bytes) {
  const utf8 = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true});
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at], length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    try {
      text += utf8.decode(Uint8Array.from(bytes.slice(at, at + length)));
      at += length;
    } catch {
      text += UNKNOWN;
      at += 1;
    }
  }
  return text;
}

// Text to token ids and back: byte-pair subwords as sentencepiece segments them, or characters.

const PAD = 0, UNK = 1, BOS = 2, EOS = 3, UNKNOWN = "\ufffd", SPACE = "\u2581";
const LINE_BREAKS = /[\n\0]/g;

class Tokens {
  constructor({kind, pieces, alphabet, lowercase}) {
    Object.assign(this, {kind, pieces, lowercase});
    const texts = kind === "character" ? ["", "", "", "", ...alphabet] : pieces;
    this.texts = texts;
    this.ids = new Map(texts.map((piece, id) => [piece, id]).filter(([, id]) => id > EOS));
  }

  normalise(text) {
    text = text.normalize("NFC");
    if (this.lowercase === "tr") text = text.replace(/\u0130/g, "i").replace(/I\u0307/g, "i").replace(/I/g, "\u0131");
    return this.lowercase ? text.toLowerCase().normalize("NFC") : text;
  }

  encode(text) {
    text = this.normalise(text);
    if (this.kind === "character") return [...text].map((letter) => this.ids.get(letter) ?? UNK);
    // sentencepiece joins and trims spaces, but of its own sign for them only those at the end
    const line = SPACE + text.replace(/ +/g, " ").replace(/^ /, "").replaceAll(" ", SPACE);
    return this.merged([...line.replace(/\u2581+$/, "")]);
  }

  /** Byte-pair segmentation: the pair whose token was learnt first is merged first, the leftmost of equal ones. */
  merged(symbols) {
    for (;;) {
      let best = Infinity, place = -1;
      for (let i = 0; i + 1 < symbols.length; i++) {
        const id = this.ids.get(symbols[i] + symbols[i + 1]);
        if (id !== undefined && id < best) { best = id; place = i; }
      }
      if (place < 0) break;
      symbols.splice(place, 2, symbols[place] + symbols[place + 1]);
    }
    const ids = [];
    for (const symbol of symbols) {
      const id = this.ids.get(symbol);
      if (id !== undefined) ids.push(id);
      else if (this.ids.has("<0x00>")) ids.push(...[...new TextEncoder().encode(symbol)].map((byte) => this.ids.get(byteName(byte))));
      else if (ids[ids.length - 1] !== UNK) ids.push(UNK);
    }
    return ids;
  }

  decode(ids) {
    const kept = ids.filter((id) => id === UNK || id > EOS);
    if (this.kind === "character") return kept.map((id) => (id === UNK ? UNKNOWN : this.texts[id])).join("").replace(LINE_BREAKS, " ");
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
    return text.replace(LINE_BREAKS, " ");
  }
}

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

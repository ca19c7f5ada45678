// Words by the rules of Moses, and lines of them: text/moses.py with sacremoses, for languages without rules of their own
// beyond the apostrophe.

const PREFIX_NUMBER = " #NUMERIC_ONLY#";

class Moses {
  constructor({language, prefixes}) {
    this.language = language;
    this.prefixes = new Set(prefixes.filter((prefix) => !prefix.endsWith(PREFIX_NUMBER)));
    this.beforeNumbers = new Set(prefixes.filter((prefix) => prefix.endsWith(PREFIX_NUMBER)).map((one) => one.slice(0, -PREFIX_NUMBER.length)));
    this.apostrophes = {
      en: [[/([^\p{Alpha}])'([^\p{Alpha}])/gu, "$1 ' $2"], [/([^\p{Alpha}\p{N}])'(\p{Alpha})/gu, "$1 ' $2"],
        [/(\p{Alpha})'([^\p{Alpha}])/gu, "$1 ' $2"], [/(\p{Alpha})'(\p{Alpha})/gu, "$1 '$2"], [/(\p{N})'(s)/gu, "$1 '$2"]],
      fr: [[/([^\p{Alpha}])'([^\p{Alpha}])/gu, "$1 ' $2"], [/([^\p{Alpha}])'(\p{Alpha})/gu, "$1 ' $2"],
        [/(\p{Alpha})'([^\p{Alpha}])/gu, "$1 ' $2"], [/(\p{Alpha})'(\p{Alpha})/gu, "$1' $2"]],
    }[language === "it" ? "fr" : language] || [[/'/g, " ' "]];
  }

  /** Words of a line; a letter stays with its marks and its like, which Moses may take for signs. */
  split(line) {
    const whole = [], ofWord = (letter) => /[\p{L}\p{M}\p{Nd}]/u.test(letter);
    let torn = false, place = 0;
    for (const token of this.tokens(line)) {
      const inside = /^[\p{Mn}\p{Mc}\p{Cf}]+$/u.test(token), start = line.indexOf(token, place), last = whole[whole.length - 1];
      const alike = last && ofWord([...last].pop()) && ofWord([...token][0]);
      const joins = start === place && (inside || torn || alike);
      if (start >= 0) place = start + token.length;
      if (last && joins) whole[whole.length - 1] += token; else whole.push(token);
      torn = inside;
    }
    return whole;
  }

  tokens(text) {
    const marker = (n) => `THISISPROTECTED${String(n).padStart(3, "0")}`;
    text = text.replace(/\s+/gu, " ").replace(/[\0-\x1f]/g, "");
    const kept = text.match(/<unk>/gi) || [];
    kept.forEach((one, n) => { text = text.replaceAll(one, marker(n)); });
    text = text.trim().replace(/([^\p{Alpha}\p{Nd}\s.'`,\-])/gu, " $1 ");
    text = text.replace(/\.{2,}/g, (dots, at, all) => ` ${"DOT".repeat(dots.length)}MULTI${at + dots.length < all.length ? " " : ""}`);
    text = text.replace(/([^\p{N}]),/gu, "$1 , ").replace(/,([^\p{N}])/gu, " , $1").replace(/(\p{N}),$/u, "$1 , ");
    for (const [pattern, put] of this.apostrophes) text = text.replace(pattern, put);
    text = this.withoutStops(text.split(/\s+/u).filter(Boolean)).join(" ").replace(/\.' ?$/, " . ' ");
    kept.forEach((one, n) => { text = text.replaceAll(marker(n), one); });
    text = text.replace(/(?:DOT)+MULTI/g, (found) => ".".repeat((found.length - 5) / 3));
    return text.split(/\s+/u).filter(Boolean);
  }

  /** Full stops apart from words, but for those of abbreviations. */
  withoutStops(tokens) {
    return tokens.map((token, n) => {
      const [, word] = /^(\S+)\.$/u.exec(token) || [], next = tokens[n + 1];
      const stays = word === undefined || (word.includes(".") && /\p{Alpha}/u.test(word)) ||
        (this.prefixes.has(word) && !this.beforeNumbers.has(word)) || (next && /^\p{Lower}/u.test(next)) ||
        (this.beforeNumbers.has(word) && next && /^[0-9]/.test(next));
      return stays ? token : `${word} .`;
    });
  }

  /** The line of words, with spaces where people write them. */
  join(words) {
    const {language} = this, quotes = {}, cjk = /[\u1100-\u11ff\u2e80-\ua4cf\ua840-\ua87f\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff65-\uffdc\u{20000}-\u{2ffff}]/u;
    let text = "", space = " ";
    const put = (before, word, after) => { text += before + word; space = after; };
    words.forEach((word, n) => {
      const next = words[n + 1];
      if (cjk.test([...word][0])) put(n && cjk.test([...words[n - 1]].pop()) ? "" : space, word, " ");
      else if (/^[\p{Sc}([{¿¡]+$/u.test(word)) put(space, word, "");
      else if (/^[,.?!:;\\%}\])]+$/.test(word)) put(language === "fr" && /^[?!:;\\%]$/.test(word) ? " " : "", word, " ");
      else if (language === "en" && n && /^'\p{Alpha}/u.test(word)) put("", word, " ");
      else if (["fr", "it", "ga"].includes(language) && next && /\p{Alpha}'$/u.test(word) && /^\p{Alpha}/u.test(next)) put(space, word, "");
      else if (/^['"„“`]+$/.test(word)) {
        const kind = /^[„“”]+$/.test(word) ? '"' : word, opens = !((quotes[kind] || 0) % 2);
        if (opens && language === "en" && word === "'" && n && words[n - 1].endsWith("s")) put("", word, " ");
        else {
          put(opens ? space : "", word, opens ? "" : " ");
          quotes[kind] = (quotes[kind] || 0) + 1;
        }
      } else put(space, word, " ");
    });
    return text.replace(/ {2,}/g, " ").trim().replace(/(?<! ) +(?=[؟۔।॥։።。！？｡။។،؛၊፣፤、，：；])/gu, "").replace(/(?<=[。、，：；]) +/gu, "");
  }
}

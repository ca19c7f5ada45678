// Tensors: float16 in base64 becomes Float32Array; products and functions over vectors, and over rows of them.

/** dots.wat, assembled. */
const DOTS = `
AGFzbQEAAAABCgFgBn9/f39/fwACEAEEcGFnZQZtZW1vcnkCAAADAgEABwgBBGRvdHMAAArcAgHZAgIFfwR7AkADQCADRQ0BIAEhCCAFIQYDQCAAIQcgAC
AEQUBxaiEJIAAgBEFwcWohCv0MAAAAAAAAAAAAAAAAAAAAACELIAshDCALIQ0gCyEOAkADQCAHIAlPDQEgCyAH/QACACAI/QACAP3mAf3kASELIAwgB/0A
AhAgCP0AAhD95gH95AEhDCANIAf9AAIgIAj9AAIg/eYB/eQBIQ0gDiAH/QACMCAI/QACMP3mAf3kASEOIAdBwABqIQcgCEHAAGohCAwACwsCQANAIAcgCk
8NASALIAf9AAIAIAj9AAIA/eYB/eQBIQsgB0EQaiEHIAhBEGohCAwACwsgCyAM/eQBIA0gDv3kAf3kASELIAIgC/0fACAL/R8BkiAL/R8CIAv9HwOSkjgC
ACACQQRqIQIgCCAEQQxxaiEIIAZBAWshBiAGDQALIAAgBGohACADQQFrIQMMAAsLCw==`;
/** Vectors that are multiplied at once. */
const AT_ONCE = 16;
/** Memory of all weights, and the function over it: {dots, given, made}, or null where a browser has none. */
let fast = null;

/** Room for so many numbers, where `dots` can read them if it runs here; vectors have at most `widest` numbers. */
function weightMemory(total, widest) {
  const scratch = AT_ONCE * widest;
  try {
    const memory = new WebAssembly.Memory({initial: Math.ceil((4 * (total + 2 * scratch)) / 65536) + 1});
    const code = Uint8Array.from(atob(DOTS), (letter) => letter.charCodeAt(0));
    const {exports: {dots}} = new WebAssembly.Instance(new WebAssembly.Module(code), {page: {memory}});
    const view = (start, size) => new Float32Array(memory.buffer, 4 * start, size);
    fast = {dots, buffer: memory.buffer, given: view(total, scratch), made: view(total + scratch, scratch)};
    return view(0, total);
  } catch {
    return new Float32Array(total);
  }
}

/** Half-precision bits to a number. */
function fromHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Tensors by name, each {shape, values}, from chunks of base64; `next` is awaited between chunks so that a page stays alive. */
async function decodeTensors(index, chunks, next) {
  const table = new Float32Array(65536).map((_, bits) => fromHalf(bits));
  const total = index.reduce((sum, [, shape]) => sum + shape.reduce((a, b) => a * b, 1), 0);
  const values = weightMemory(total, Math.max(...index.flatMap(([, shape]) => shape)));
  let place = 0;
  for (const chunk of chunks) {
    const bytes = atob(chunk);
    for (let i = 0; i < bytes.length; i += 2) values[place++] = table[bytes.charCodeAt(i) | (bytes.charCodeAt(i + 1) << 8)];
    await next(place / total);
  }
  const tensors = {};
  let start = 0;
  for (const [name, shape] of index) {
    const size = shape.reduce((a, b) => a * b, 1);
    tensors[name] = {shape, values: values.subarray(start, start + size)};
    start += size;
  }
  return tensors;
}

/** Vectors of one width, one below the other: positions of a sentence, or steps. A single vector is a Float32Array. */
class Rows {
  constructor(values, rows) { Object.assign(this, {values, rows, width: rows ? values.length / rows : 0}); }

  row(n) { return this.values.subarray(n * this.width, (n + 1) * this.width); }

  /** The rows in another order; `places` says which position of the sentence each is of. */
  at(order) {
    const found = Rows.of(order.map((n) => this.row(n)));
    return Object.assign(found, {places: order.map((n) => (this.places ? this.places[n] : n))});
  }

  get vectors() { return Array.from({length: this.rows}, (_, n) => this.row(n)); }

  static of(vectors) {
    const width = vectors.length ? vectors[0].length : 0, values = new Float32Array(vectors.length * width);
    vectors.forEach((vector, n) => values.set(vector, n * width));
    return new Rows(values, vectors.length);
  }
}

const zeros = (width) => new Float32Array(width);

/** y = W x (+ b), W of rows x columns; of rows the same for each. */
function affine(W, x, b) {
  return x instanceof Rows ? Object.assign(Rows.of(affines(W, x.vectors, b)), {places: x.places}) : affines(W, [x], b)[0];
}

/** The same of several vectors. */
function affines(W, xs, b) {
  if (xs.length > AT_ONCE) return [...affines(W, xs.slice(0, AT_ONCE), b), ...affines(W, xs.slice(AT_ONCE), b)];
  const rows = W.shape[0], columns = xs[0].length, w = W.values, many = xs.length;
  const isFast = fast && w.buffer === fast.buffer, start = isFast ? columns & ~3 : 0;
  if (isFast) {
    xs.forEach((x, k) => fast.given.set(x, k * columns));
    fast.dots(w.byteOffset, fast.given.byteOffset, fast.made.byteOffset, rows, 4 * columns, many);
  }
  return xs.map((x, k) => {
    const y = b && b.values.length ? Float32Array.from(b.values) : new Float32Array(rows);
    if (isFast) for (let r = 0, at = k; r < rows; r++, at += many) y[r] += fast.made[at];
    if (start < columns) for (let r = 0; r < rows; r++) y[r] += dot(w, r * columns + start, x, start, columns);
    return y;
  });
}

function dot(w, at, x, c, columns) {
  let s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (; c + 3 < columns; c += 4, at += 4) {
    s0 += w[at] * x[c]; s1 += w[at + 1] * x[c + 1]; s2 += w[at + 2] * x[c + 2]; s3 += w[at + 3] * x[c + 3];
  }
  for (; c < columns; c++, at++) s0 += w[at] * x[c];
  return s0 + s1 + (s2 + s3);
}

/** A function of vectors for each row; a vector is one row. */
function rowwise(x, f) {
  if (!(x instanceof Rows)) return f(x);
  return Object.assign(Rows.of(x.vectors.map(f)), {places: x.places});
}

/** A function of numbers for each. */
function each(a, f) {
  const values = a instanceof Rows ? a.values : a, y = new Float32Array(values.length);
  for (let n = 0; n < y.length; n++) y[n] = f(values[n]);
  return a instanceof Rows ? Object.assign(new Rows(y, a.rows), {places: a.places}) : y;
}

/** A function of two numbers, of each pair; one row, one column and one number stand for as many as the other has. */
function both(a, b, f) {
  const manyA = a instanceof Rows, manyB = b instanceof Rows;
  const [x, rowsA, widthA] = manyA ? [a.values, a.rows, a.width] : [a, 1, a.length];
  const [z, rowsB, widthB] = manyB ? [b.values, b.rows, b.width] : [b, 1, b.length];
  const rows = Math.max(rowsA, rowsB), width = Math.max(widthA, widthB), y = new Float32Array(rows * width);
  const stepA = widthA === 1 ? 0 : 1, stepB = widthB === 1 ? 0 : 1;
  for (let r = 0, at = 0; r < rows; r++) {
    let p = rowsA === 1 ? 0 : r * widthA, q = rowsB === 1 ? 0 : r * widthB;
    for (let c = 0; c < width; c++, p += stepA, q += stepB) y[at++] = f(x[p], z[q]);
  }
  return manyA || manyB ? Object.assign(new Rows(y, rows), {places: (manyA ? a : b).places}) : y;
}

const plus = (x, y) => x + y;
const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const logSigmoid = (x) => Math.min(x, 0) - Math.log1p(Math.exp(-Math.abs(x)));
const relu = (x) => Math.max(x, 0);

/** Vectors one after the other, or rows side by side. */
function join(parts) {
  if (parts[0] instanceof Rows) {
    const rows = parts[0].vectors.map((_, n) => join(parts.map((part) => part.row(n))));
    return Object.assign(Rows.of(rows), {places: parts[0].places});
  }
  const y = zeros(parts.reduce((total, part) => total + part.length, 0));
  let place = 0;
  for (const part of parts) { y.set(part, place); place += part.length; }
  return y;
}

/** The sum of rows, each times its weight. */
function mixed(rows, weights) {
  const y = zeros(rows.width), {values, width} = rows;
  for (let r = 0, at = 0; r < rows.rows; r++) for (let c = 0; c < width; c++) y[c] += weights[r] * values[at++];
  return y;
}

/** gain * normal(a) (+ bias) of every row: layer normalisation (Ba et al. 2016). */
function normalised(a, gain, bias) {
  return rowwise(a, (x) => {
    const mean = x.reduce(plus, 0) / x.length;
    const scale = 1 / Math.sqrt(x.reduce((total, y) => total + (y - mean) ** 2, 0) / x.length + 1e-5);
    return x.map((y, n) => (y - mean) * scale * gain.values[n] + (bias ? bias.values[n] : 0));
  });
}

/** Each of the two blocks of a vector, the first of `first` numbers, at the norm `radius`: see kernels/fixed_norm.py. */
function fixedNorm(x, {radius, first}) {
  const y = Float32Array.from(x);
  for (const block of [y.subarray(0, first), y.subarray(first)]) {
    const factor = radius / Math.sqrt(block.reduce((total, one) => total + one * one, 1e-12));
    block.forEach((one, n) => { block[n] = factor * one; });
  }
  return y;
}

function softmax(e) {
  const top = e.reduce((a, b) => Math.max(a, b), -Infinity);
  const y = Float32Array.from(e, (x) => Math.exp(x - top));
  const total = y.reduce(plus, 0);
  return y.map((x) => x / total);
}

function logSoftmax(z) {
  let top = -Infinity, total = 0;
  for (let n = 0; n < z.length; n++) if (z[n] > top) top = z[n];
  for (let n = 0; n < z.length; n++) total += Math.exp(z[n] - top);
  const less = top + Math.log(total);
  return each(z, (x) => x - less);
}

// Tensors: float16 in base64 becomes Float32Array; products and functions over vectors, and over rows of them.

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
  const values = new Float32Array(total);
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
  if (x instanceof Rows) return rowwise(x, (row) => affine(W, row, b));
  const rows = W.shape[0], columns = x.length, w = W.values, y = new Float32Array(rows);
  for (let r = 0, at = 0; r < rows; r++) {
    let s0 = 0, s1 = 0, s2 = 0, s3 = 0, c = 0;
    for (; c + 3 < columns; c += 4, at += 4) {
      s0 += w[at] * x[c]; s1 += w[at + 1] * x[c + 1]; s2 += w[at + 2] * x[c + 2]; s3 += w[at + 3] * x[c + 3];
    }
    for (; c < columns; c++, at++) s0 += w[at] * x[c];
    y[r] = s0 + s1 + (s2 + s3) + (b ? b.values[r] : 0);
  }
  return y;
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
function normalised(a, gain, bias, epsilon) {
  return rowwise(a, (x) => {
    const mean = x.reduce(plus, 0) / x.length;
    const scale = 1 / Math.sqrt(x.reduce((total, y) => total + (y - mean) ** 2, 0) / x.length + epsilon);
    return x.map((y, n) => (y - mean) * scale * gain.values[n] + (bias ? bias.values[n] : 0));
  });
}

function softmax(e) {
  const top = e.reduce((a, b) => Math.max(a, b), -Infinity);
  const y = Float32Array.from(e, (x) => Math.exp(x - top));
  const total = y.reduce(plus, 0);
  return y.map((x) => x / total);
}

function logSoftmax(z) {
  let top = -Infinity, total = 0;
  for (const x of z) if (x > top) top = x;
  for (const x of z) total += Math.exp(x - top);
  const less = top + Math.log(total);
  return z.map((x) => x - less);
}

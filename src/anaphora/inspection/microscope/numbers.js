// Tensors: float16 in base64 becomes Float32Array, and the few products that a step needs.

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

/** y = W x (+ b), W of rows x columns. */
function affine(W, x, b) {
  const [rows, columns] = W.shape, w = W.values, y = new Float32Array(rows);
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

/** The sum of vectors of one width. */
function sum(vectors) {
  const y = Float32Array.from(vectors[0]);
  for (const x of vectors.slice(1)) for (let i = 0; i < y.length; i++) y[i] += x[i];
  return y;
}

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

function softmax(e) {
  const top = e.reduce((a, b) => Math.max(a, b), -Infinity);
  const y = Float32Array.from(e, (x) => Math.exp(x - top));
  const total = y.reduce((a, b) => a + b, 0);
  return y.map((x) => x / total);
}

function logSoftmax(z) {
  let top = -Infinity, total = 0;
  for (const x of z) if (x > top) top = x;
  for (const x of z) total += Math.exp(x - top);
  const less = top + Math.log(total);
  return z.map((x) => x - less);
}

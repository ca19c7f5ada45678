/* Sums, products by number, tanh, sigmoid, relu, maxout, gates, shared gates and columns of rows: operations of the time loop (loop.c).
 *
 * The first operand is what an operation writes; it may be one of the others, number by number.
 */

#include <string.h>

#include "loop.h"

EVERY_PROCESSOR static void copy(int64_t size, const float *a, float *out, int64_t adds)
{
    for (int64_t j = 0; j < size; j++)
        out[j] = adds ? out[j] + a[j] : a[j];
}

EVERY_PROCESSOR static void sum(int64_t size, const float *a, const float *b, float *out)
{
    for (int64_t j = 0; j < size; j++)
        out[j] = a[j] + b[j];
}

EVERY_PROCESSOR static void multiply(int64_t size, const float *a, const float *b, float *out, int64_t adds)
{
    for (int64_t j = 0; j < size; j++)
        out[j] = adds ? out[j] + a[j] * b[j] : a[j] * b[j];
}

EVERY_PROCESSOR static void tanh_forward(int64_t size, const float *a, float *y)
{
    for (int64_t j = 0; j < size; j++)
        y[j] = hyperbolic_tangent(a[j]);
}

EVERY_PROCESSOR static void tanh_backward(int64_t size, const float *y, const float *dy, float *da)
{
    for (int64_t j = 0; j < size; j++)
        da[j] = dy[j] * (1.0f - y[j] * y[j]);
}

EVERY_PROCESSOR static void maxout_forward(int64_t size, const float *restrict t, float *restrict o)
{
    for (int64_t j = 0; j < size; j++) {
        const float first = t[2 * j], second = t[2 * j + 1];
        o[j] = first >= second || first != first ? first : second; /* a NaN stays one */
    }
}

EVERY_PROCESSOR static void maxout_backward(int64_t size, const float *restrict t, const float *restrict d,
                                            float *restrict dt)
{
    for (int64_t j = 0; j < size; j++) {
        const float first = t[2 * j] >= t[2 * j + 1] ? 1.0f : 0.0f;
        dt[2 * j] = d[j] * first;
        dt[2 * j + 1] = d[j] * (1.0f - first);
    }
}

EVERY_PROCESSOR static float gate_backward(int64_t size, float g, const float *restrict x, const float *restrict dy,
                                           float *restrict dx)
{
    const float dg = scalar_product(size, x, dy);
    for (int64_t j = 0; j < size; j++)
        dx[j] = g * dy[j];
    return dg;
}

EVERY_PROCESSOR static void difference(int64_t size, const float *a, const float *b, float *out)
{
    for (int64_t j = 0; j < size; j++)
        out[j] = a[j] - b[j];
}

EVERY_PROCESSOR static void sigmoid_forward(int64_t size, const float *a, float *s)
{
    for (int64_t j = 0; j < size; j++)
        s[j] = sigmoid(a[j]);
}

EVERY_PROCESSOR static void sigmoid_backward(int64_t size, const float *s, const float *ds, float *da)
{
    for (int64_t j = 0; j < size; j++)
        da[j] = ds[j] * (s[j] - s[j] * s[j]);
}

EVERY_PROCESSOR static void relu_forward(int64_t size, const float *a, float *r)
{
    for (int64_t j = 0; j < size; j++)
        r[j] = a[j] > 0.0f || a[j] != a[j] ? a[j] : 0.0f; /* a NaN stays one */
}

EVERY_PROCESSOR static void relu_backward(int64_t size, const float *r, const float *dr, float *da)
{
    for (int64_t j = 0; j < size; j++)
        da[j] = r[j] > 0.0f ? dr[j] : 0.0f;
}

/* sigm(a) / (sigm(a) + sigm(b)): exponential ends at exp(88), so that the sum is finite and never 0. */
EVERY_PROCESSOR static void share(int64_t size, const float *a, const float *b, float *f)
{
    for (int64_t j = 0; j < size; j++) {
        const float of_a = 1.0f + exponential(-b[j]);
        f[j] = of_a / (of_a + (1.0f + exponential(-a[j])));
    }
}

EVERY_PROCESSOR static void share_backward(int64_t size, const float *f, const float *a, const float *b,
                                           const float *df, float *da, float *db)
{
    for (int64_t j = 0; j < size; j++) {
        const float d = df[j] * (f[j] - f[j] * f[j]);
        da[j] = d * sigmoid(-a[j]);
        db[j] = -(d * sigmoid(-b[j]));
    }
}

/* out | a */
void copy_rows(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        copy(of[0].width, row_of(of[1], row), row_of(of[0], row), of[0].adds);
}

/* out | a, b */
void add_rows(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        sum(of[0].width, row_of(of[1], row), row_of(of[2], row), row_of(of[0], row));
}

/* out | a, b: b is one vector for all rows. */
void add_vector(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        sum(of[0].width, row_of(of[1], row), of[2].numbers, row_of(of[0], row));
}

/* out | a, b: b is added to the last numbers of each row of a. */
void add_to_last(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[2].width, skipped = of[0].width - size;
    for (int64_t row = from; row < to; row++) {
        copy(skipped, row_of(of[1], row), row_of(of[0], row), 0);
        sum(size, row_of(of[1], row) + skipped, of[2].numbers, row_of(of[0], row) + skipped);
    }
}

/* out | a, b */
void multiply_rows(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        multiply(of[0].width, row_of(of[1], row), row_of(of[2], row), row_of(of[0], row), of[0].adds);
}

/* out | a, b: b is one vector for all rows. */
void multiply_vector(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        multiply(of[0].width, row_of(of[1], row), of[2].numbers, row_of(of[0], row), of[0].adds);
}

/* out | a, b */
void subtract_rows(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        difference(of[0].width, row_of(of[1], row), row_of(of[2], row), row_of(of[0], row));
}

/* out | a, n: neighbouring columns of a, from the n-th on. */
void take_columns(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        copy(of[0].width, row_of(of[1], row) + (int64_t)*of[2].numbers, row_of(of[0], row), 0);
}

/* out | a, b, ..: side by side. */
void join_rows(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++) {
        float *out = row_of(of[0], row);
        for (int64_t n = 1, at = 0; at < of[0].width; at += of[n].width, n++)
            memcpy(out + at, row_of(of[n], row), of[n].width * sizeof(float));
    }
}

/* s | a */
void sigmoid_rows(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        sigmoid_forward(of[0].width, row_of(of[1], row), row_of(of[0], row));
}

/* da | s, ds */
void sigmoid_rows_back(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        sigmoid_backward(of[0].width, row_of(of[1], row), row_of(of[2], row), row_of(of[0], row));
}

/* f | a, b */
void share_gates(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        share(of[0].width, row_of(of[1], row), row_of(of[2], row), row_of(of[0], row));
}

/* da, db | f, a, b, df */
void share_gates_back(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        share_backward(of[0].width, row_of(of[2], row), row_of(of[3], row), row_of(of[4], row), row_of(of[5], row),
                       row_of(of[0], row), row_of(of[1], row));
}

/* r | a */
void relu_rows(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        relu_forward(of[0].width, row_of(of[1], row), row_of(of[0], row));
}

/* da | r, dr */
void relu_rows_back(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        relu_backward(of[0].width, row_of(of[1], row), row_of(of[2], row), row_of(of[0], row));
}

/* y | a */
void tanh_rows(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        tanh_forward(of[0].width, row_of(of[1], row), row_of(of[0], row));
}

/* da | y, dy */
void tanh_rows_back(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        tanh_backward(of[0].width, row_of(of[1], row), row_of(of[2], row), row_of(of[0], row));
}

/* o | t */
void maxout_rows(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        maxout_forward(of[0].width, row_of(of[1], row), row_of(of[0], row));
}

/* dt | t, do */
void maxout_rows_back(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        maxout_backward(of[2].width, row_of(of[1], row), row_of(of[2], row), row_of(of[0], row));
}

/* y, g | a, x: y = sigm(a) x, with one a for a row. */
void gate_rows(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++) {
        const float g = sigmoid(*row_of(of[2], row));
        *row_of(of[1], row) = g;
        for (int64_t j = 0; j < of[0].width; j++)
            row_of(of[0], row)[j] = g * row_of(of[3], row)[j];
    }
}

/* da, dx | g, x, dy */
void gate_rows_back(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++) {
        const float g = *row_of(of[2], row);
        const float dg = gate_backward(of[1].width, g, row_of(of[3], row), row_of(of[4], row), row_of(of[1], row));
        *row_of(of[0], row) = dg * (g - g * g);
    }
}

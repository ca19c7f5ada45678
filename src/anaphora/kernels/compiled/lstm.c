/* The pointwise steps of cells/lstm.py, all of a number in one go; the numbering is the same. */

#include "loop.h"

EVERY_PROCESSOR static void forward(int64_t size, float *restrict a, const float *restrict x,
                                    const float *restrict c_before, float *restrict c, float *restrict m,
                                    float *restrict h)
{
    for (int64_t j = 0; j < size; j++) {
        const float i = sigmoid(a[j] + x[j]); /* 1, 2 */
        const float f = sigmoid(a[size + j] + x[size + j]);
        const float g = hyperbolic_tangent(a[2 * size + j] + x[2 * size + j]);
        const float o = sigmoid(a[3 * size + j] + x[3 * size + j]);
        a[j] = i;
        a[size + j] = f;
        a[2 * size + j] = g;
        a[3 * size + j] = o;
        c[j] = f * c_before[j] + i * g; /* 3 */
        m[j] = hyperbolic_tangent(c[j]); /* 4 */
        h[j] = o * m[j]; /* 5 */
    }
}

EVERY_PROCESSOR static void backward(int64_t size, const float *restrict gates, const float *restrict c_before,
                                     const float *restrict m, const float *restrict dh, const float *restrict dc,
                                     float *restrict da, float *restrict dc_before, int64_t adds)
{
    for (int64_t j = 0; j < size; j++) {
        const float i = gates[j], f = gates[size + j], g = gates[2 * size + j], o = gates[3 * size + j];
        const float d = dc[j] + dh[j] * o * (1.0f - m[j] * m[j]); /* 5, 4 */
        da[3 * size + j] = dh[j] * m[j] * (o - o * o); /* 5, 2 */
        da[j] = d * g * (i - i * i); /* 3, 2 */
        da[size + j] = d * c_before[j] * (f - f * f);
        da[2 * size + j] = d * i * (1.0f - g * g);
        dc_before[j] = adds ? dc_before[j] + d * f : d * f;
    }
}

/* gates, c, m, h | x, c_{t-1}: the gates hold W_h h_{t-1} at first. */
void lstm_step(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        forward(of[1].width, row_of(of[0], row), row_of(of[4], row), row_of(of[5], row), row_of(of[1], row),
                row_of(of[2], row), row_of(of[3], row));
}

/* da, dc_{t-1} | gates, c_{t-1}, m, dh, dc */
void lstm_step_back(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        backward(of[1].width, row_of(of[2], row), row_of(of[3], row), row_of(of[4], row), row_of(of[5], row),
                 row_of(of[6], row), row_of(of[0], row), row_of(of[1], row), of[1].adds);
}

/* scores/concat.py behind its query's product, position by position; the numbering is the same. */

#include "loop.h"

/* u = tanh(q + k), and v' u: sixteen sums side by side, added up in an order that never changes. */
EVERY_PROCESSOR static float forward(int64_t size, const float *restrict q, const float *restrict k,
                                     const float *restrict v, float *restrict u)
{
    float sums[LANES] = {0};
    const int64_t whole = size - size % LANES;
    for (int64_t j = 0; j < size; j++)
        u[j] = hyperbolic_tangent(q[j] + k[j]); /* 1 */
    for (int64_t j = 0; j < whole; j += LANES)
        for (int64_t lane = 0; lane < LANES; lane++)
            sums[lane] += v[j + lane] * u[j + lane]; /* 2 */
    for (int64_t j = whole; j < size; j++)
        sums[j - whole] += v[j] * u[j];
    float e = 0;
    for (int64_t lane = 0; lane < LANES; lane++)
        e += sums[lane];
    return e;
}

EVERY_PROCESSOR static void backward(int64_t size, float de, const float *restrict v, const float *restrict u,
                                     float *restrict dq, float *restrict dk, float *restrict dv)
{
    for (int64_t j = 0; j < size; j++) {
        const float d = de * v[j] * (1.0f - u[j] * u[j]); /* 2, 1 */
        dv[j] += de * u[j];
        dq[j] += d;
        dk[j] += d;
    }
}

/* q: steps x rows x size, k: rows x positions x size, u: steps x rows x positions x size, e: steps x rows x positions. */
void concat_forward(int64_t steps, int64_t rows, int64_t positions, int64_t size, const float *q, const float *k,
                    const float *v, float *u, float *e)
{
    const int64_t blocks = steps * rows;
    ROWS(blocks *positions *size)
    for (int64_t block = 0; block < blocks; block++)
        for (int64_t s = 0; s < positions; s++) {
            const int64_t at = block * positions + s;
            e[at] = forward(size, q + block * size, k + (block % rows * positions + s) * size, v, u + at * size);
        }
}

/* dq (steps x rows x size) and dv (rows x size, to be summed over the rows) start from zero, dk is added to. */
void concat_backward(int64_t steps, int64_t rows, int64_t positions, int64_t size, const float *de, const float *v,
                     const float *u, float *dq, float *dk, float *dv)
{
    ROWS(steps *rows *positions *size)
    for (int64_t row = 0; row < rows; row++)
        for (int64_t step = 0; step < steps; step++)
            for (int64_t s = 0; s < positions; s++) {
                const int64_t block = step * rows + row, at = block * positions + s;
                if (de[at] != 0.0f) /* a closed position has no gradient */
                    backward(size, de[at], v, u + at * size, dq + block * size, dk + (row * positions + s) * size,
                             dv + row * size);
            }
}

/* e, u | q, k, v, open: the open positions (loop.h); the scores of others are 0. */
void concat_step(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[2].width;
    for (int64_t row = from; row < to; row++) {
        float *e = row_of(of[0], row), *u = row_of(of[1], row), *k = row_of(of[3], row);
        const Window open = window_of(of[5], row);
        close_others(of[0], row, open);
        for (int64_t s = open.from; s < open.to; s++)
            e[s] = forward(size, row_of(of[2], row), k + s * size, of[4].numbers, u + s * size);
    }
}

/* dq, dk, dv | de, v, u, open: dk and dv (one for each row) are added to. */
void concat_step_back(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[0].width;
    for (int64_t row = from; row < to; row++) {
        float *dq = row_of(of[0], row), *dk = row_of(of[1], row), *de = row_of(of[3], row), *u = row_of(of[5], row);
        const Window open = window_of(of[6], row);
        memset(dq, 0, size * sizeof(float));
        for (int64_t s = open.from; s < open.to; s++)
            backward(size, de[s], of[4].numbers, u + s * size, dq, dk + s * size, row_of(of[2], row));
    }
}

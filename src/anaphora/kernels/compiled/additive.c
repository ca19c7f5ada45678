/* scores/additive.py behind the products that make its terms, position by position; the numbering is the same. */

#include "loop.h"

/* u = tanh(q + k + sum_n f_n U_n), and v' u; the features f_n of a position lie ``apart``. */
EVERY_PROCESSOR static float forward(int64_t size, const float *restrict q, const float *restrict k, int64_t features,
                                     int64_t apart, const float *restrict f, const float *restrict U,
                                     const float *restrict v, float *restrict u)
{
    for (int64_t j = 0; j < size; j++)
        u[j] = q[j] + k[j];
    for (int64_t n = 0; n < features; n++)
        for (int64_t j = 0; j < size; j++)
            u[j] += f[n * apart] * U[n * size + j];
    for (int64_t j = 0; j < size; j++)
        u[j] = hyperbolic_tangent(u[j]); /* 1 */
    return scalar_product(size, v, u);   /* 2 */
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

EVERY_PROCESSOR static void features_backward(int64_t size, float de, const float *restrict v, const float *restrict u,
                                              int64_t features, int64_t apart, const float *restrict f,
                                              const float *restrict U, float *restrict dz, float *restrict df,
                                              float *restrict dU)
{
    for (int64_t j = 0; j < size; j++)
        dz[j] = de * v[j] * (1.0f - u[j] * u[j]); /* 2, 1 */
    for (int64_t n = 0; n < features; n++) {
        df[n * apart] += scalar_product(size, U + n * size, dz);
        for (int64_t j = 0; j < size; j++)
            dU[n * size + j] += f[n * apart] * dz[j];
    }
}

/* e, u | q, k, v, open, f, U: the open positions (loop.h); the scores of others are 0.
 *
 * f has a number for each feature and position, U a row for each feature; a score without features has neither.
 */
void additive_step(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[2].width, positions = of[0].width, features = of[6].width / positions;
    for (int64_t row = from; row < to; row++) {
        float *e = row_of(of[0], row), *u = row_of(of[1], row), *k = row_of(of[3], row), *f = row_of(of[6], row);
        const Window open = window_of(of[5], row);
        close_others(of[0], row, open);
        for (int64_t s = open.from; s < open.to; s++)
            e[s] = forward(size, row_of(of[2], row), k + s * size, features, positions, features ? f + s : 0,
                           of[7].numbers, of[4].numbers, u + s * size);
    }
}

/* dq, dk, dv | de, v, u, open: dk and dv (one for each row) are added to. */
void additive_step_back(int64_t from, int64_t to, const Block *of)
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

/* df, dU, dz | de, v, u, open, f, U: dU (one for each row) is added to; dz is room for one position. */
void additive_features_back(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[2].width, positions = of[3].width, features = of[0].width / positions;
    for (int64_t row = from; row < to; row++) {
        float *df = row_of(of[0], row), *de = row_of(of[3], row), *u = row_of(of[5], row), *f = row_of(of[7], row);
        const Window open = window_of(of[6], row);
        if (!of[0].adds)
            memset(df, 0, of[0].width * sizeof(float));
        for (int64_t s = open.from; s < open.to; s++)
            features_backward(size, de[s], of[4].numbers, u + s * size, features, positions, f + s, of[8].numbers,
                              row_of(of[2], row), df + s, row_of(of[1], row));
    }
}

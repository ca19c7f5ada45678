/* The pointwise steps of cells/gru.py with reset "after", all of a number in one go; the numbering is the same. */

#include "pointwise.h"

EVERY_PROCESSOR static void forward(int64_t size, int64_t keep, float *restrict u, const float *restrict x,
                                    const float *restrict h_before, float *restrict g, float *restrict h)
{
    const float *restrict x_g = x + 2 * size, *restrict u_g = u + 2 * size;
    for (int64_t j = 0; j < size; j++) {
        const float r = sigmoid(u[j] + x[j]); /* 1 */
        const float z = sigmoid(u[size + j] + x[size + j]);
        g[j] = hyperbolic_tangent(x_g[j] + r * u_g[j]); /* 2, 3 */
        const float share = keep ? 1.0f - z : z; /* of g */
        h[j] = h_before[j] + share * (g[j] - h_before[j]); /* 4 */
        u[j] = r;
        u[size + j] = z;
    }
}

EVERY_PROCESSOR static void backward(int64_t size, int64_t keep, const float *restrict gates,
                                     const float *restrict g, const float *restrict h_before,
                                     const float *restrict dh, float *restrict dx, float *restrict du,
                                     float *restrict dh_before)
{
    const float *restrict u_g = gates + 2 * size;
    for (int64_t j = 0; j < size; j++) {
        const float r = gates[j], z = gates[size + j];
        const float share = keep ? 1.0f - z : z;
        const float dshare = dh[j] * (g[j] - h_before[j]); /* 4 */
        const float da_z = (keep ? -dshare : dshare) * (z - z * z); /* 1 */
        const float da_g = dh[j] * share * (1.0f - g[j] * g[j]); /* 4, 3 */
        const float da_r = da_g * u_g[j] * (r - r * r); /* 2, 1 */
        dx[j] = du[j] = da_r;
        dx[size + j] = du[size + j] = da_z;
        dx[2 * size + j] = da_g;
        du[2 * size + j] = da_g * r; /* 2 */
        dh_before[j] = dh[j] * (1.0f - share); /* 4 */
    }
}

/* u (rows x 3 size) holds U h_{t-1}, with b' added to the last of its three blocks; the first two are given r and z. */
void gru_forward(int64_t rows, int64_t size, int64_t keep, float *u, const float *x, const float *h_before, float *g,
                 float *h)
{
    ROWS(rows *size)
    for (int64_t row = 0; row < rows; row++) {
        const int64_t at = row * size;
        forward(size, keep, u + 3 * at, x + 3 * at, h_before + at, g + at, h + at);
    }
}

/* dh_before is without what comes back through U. */
void gru_backward(int64_t rows, int64_t size, int64_t keep, const float *gates, const float *g, const float *h_before,
                  const float *dh, float *dx, float *du, float *dh_before)
{
    ROWS(rows *size)
    for (int64_t row = 0; row < rows; row++) {
        const int64_t at = row * size;
        backward(size, keep, gates + 3 * at, g + at, h_before + at, dh + at, dx + 3 * at, du + 3 * at, dh_before + at);
    }
}

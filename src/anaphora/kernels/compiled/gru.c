/* The pointwise steps of cells/gru.py with reset "after", all of a number in one go; the numbering is the same. */

#include "loop.h"

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
                                     float *restrict dh_before, int64_t adds)
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
        const float d = dh[j] * (1.0f - share); /* 4 */
        dh_before[j] = adds ? dh_before[j] + d : d;
    }
}

static void step(int64_t keep, int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        forward(of[1].width, keep, row_of(of[0], row), row_of(of[3], row), row_of(of[4], row), row_of(of[1], row),
                row_of(of[2], row));
}

static void step_back(int64_t keep, int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        backward(of[2].width, keep, row_of(of[3], row), row_of(of[4], row), row_of(of[5], row), row_of(of[6], row),
                 row_of(of[0], row), row_of(of[1], row), row_of(of[2], row), of[2].adds);
}

/* u, g, h | x, h_{t-1}: an update gate of 1 keeps the old value, or takes the new one. */
void gru_step_keep(int64_t from, int64_t to, const Block *of)
{
    step(1, from, to, of);
}

void gru_step_new(int64_t from, int64_t to, const Block *of)
{
    step(0, from, to, of);
}

/* dx, du, dh_{t-1} | u, g, h_{t-1}, dh */
void gru_step_keep_back(int64_t from, int64_t to, const Block *of)
{
    step_back(1, from, to, of);
}

void gru_step_new_back(int64_t from, int64_t to, const Block *of)
{
    step_back(0, from, to, of);
}

/* reset "before": r and z; then, behind the product with r * h_{t-1}, the rest. */
EVERY_PROCESSOR static void gates_before(int64_t size, float *restrict a, const float *restrict x,
                                         const float *restrict h_before, float *restrict rh)
{
    for (int64_t j = 0; j < size; j++) {
        const float r = sigmoid(a[j] + x[j]); /* 1 */
        a[size + j] = sigmoid(a[size + j] + x[size + j]);
        a[j] = r;
        rh[j] = r * h_before[j]; /* 2 */
    }
}

EVERY_PROCESSOR static void new_before(int64_t size, int64_t keep, const float *restrict u,
                                       const float *restrict x_g, const float *restrict z,
                                       const float *restrict h_before, float *restrict g, float *restrict h)
{
    for (int64_t j = 0; j < size; j++) {
        g[j] = hyperbolic_tangent(u[j] + x_g[j]); /* 3 */
        h[j] = h_before[j] + (keep ? 1.0f - z[j] : z[j]) * (g[j] - h_before[j]); /* 4 */
    }
}

EVERY_PROCESSOR static void new_before_back(int64_t size, int64_t keep, const float *restrict z,
                                            const float *restrict g, const float *restrict h_before,
                                            const float *restrict dh, float *restrict dx_z, float *restrict dx_g,
                                            float *restrict du, float *restrict dh_before, int64_t adds)
{
    for (int64_t j = 0; j < size; j++) {
        const float share = keep ? 1.0f - z[j] : z[j];
        const float dshare = dh[j] * (g[j] - h_before[j]), d = dh[j] * (1.0f - share); /* 4 */
        dx_z[j] = (keep ? -dshare : dshare) * (z[j] - z[j] * z[j]); /* 1 */
        dx_g[j] = du[j] = dh[j] * share * (1.0f - g[j] * g[j]); /* 4, 3 */
        dh_before[j] = adds ? dh_before[j] + d : d;
    }
}

EVERY_PROCESSOR static void gates_before_back(int64_t size, const float *restrict r, const float *restrict h_before,
                                              const float *restrict drh, const float *restrict dx_z,
                                              float *restrict dx_r, float *restrict da, float *restrict dh_before,
                                              int64_t adds)
{
    for (int64_t j = 0; j < size; j++) {
        const float d = drh[j] * r[j]; /* 2 */
        dx_r[j] = da[j] = drh[j] * h_before[j] * (r[j] - r[j] * r[j]); /* 2, 1 */
        da[size + j] = dx_z[j];
        dh_before[j] = adds ? dh_before[j] + d : d;
    }
}

/* a, rh | x, h_{t-1} */
void gru_gates(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        gates_before(of[1].width, row_of(of[0], row), row_of(of[2], row), row_of(of[3], row), row_of(of[1], row));
}

static void take_new(int64_t keep, int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[0].width;
    for (int64_t row = from; row < to; row++)
        new_before(size, keep, row_of(of[2], row), row_of(of[3], row) + 2 * size, row_of(of[4], row) + size,
                   row_of(of[5], row), row_of(of[0], row), row_of(of[1], row));
}

/* g, h | u, x, gates, h_{t-1} */
void gru_new_keep(int64_t from, int64_t to, const Block *of)
{
    take_new(1, from, to, of);
}

void gru_new_new(int64_t from, int64_t to, const Block *of)
{
    take_new(0, from, to, of);
}

static void take_new_back(int64_t keep, int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[1].width;
    for (int64_t row = from; row < to; row++) {
        float *dx = row_of(of[0], row);
        new_before_back(size, keep, row_of(of[3], row) + size, row_of(of[4], row), row_of(of[5], row),
                        row_of(of[6], row), dx + size, dx + 2 * size, row_of(of[1], row), row_of(of[2], row),
                        of[2].adds);
    }
}

/* dx (but for its first block), du, dh_{t-1} | gates, g, h_{t-1}, dh */
void gru_new_keep_back(int64_t from, int64_t to, const Block *of)
{
    take_new_back(1, from, to, of);
}

void gru_new_new_back(int64_t from, int64_t to, const Block *of)
{
    take_new_back(0, from, to, of);
}

/* dx (its first block), da, dh_{t-1} | gates, h_{t-1}, d(rh) */
void gru_gates_back(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[2].width;
    for (int64_t row = from; row < to; row++) {
        float *dx = row_of(of[0], row);
        gates_before_back(size, row_of(of[3], row), row_of(of[4], row), row_of(of[5], row), dx + size, dx,
                          row_of(of[1], row), row_of(of[2], row), of[2].adds);
    }
}

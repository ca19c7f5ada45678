/* The windows of spans/local.py, position by position; the numbering is the same. */

#include <math.h>

#include "loop.h"

/* open | t, length, radius: p = min(t, length), and step 4. */
void monotonic_window(int64_t from, int64_t to, const Block *of)
{
    const float radius = *of[3].numbers;
    for (int64_t row = from; row < to; row++) {
        const float t = *row_of(of[1], row), length = *row_of(of[2], row), p = t < length ? t : length;
        float *ends = row_of(of[0], row);
        ends[1] = p + radius < length ? floorf(p + radius) : length; /* 4: positions count from 1 */
        ends[1] = ends[1] > 0.0f ? ends[1] : 0.0f;
        ends[0] = p > radius ? ceilf(p - radius) - 1.0f : 0.0f;
        ends[0] = ends[0] < ends[1] ? ends[0] : ends[1];
    }
}

/* open, g, r, d | v' u, length, radius: steps 2 to 5. */
void predictive_window(int64_t from, int64_t to, const Block *of)
{
    const int64_t positions = of[1].width;
    const float radius = *of[6].numbers, fall = -2.0f / (radius * radius);
    for (int64_t row = from; row < to; row++) {
        float *ends = row_of(of[0], row), *g = row_of(of[1], row), *d = row_of(of[3], row);
        const float r = sigmoid(*row_of(of[4], row)), length = *row_of(of[5], row); /* 2 */
        *row_of(of[2], row) = r;
        ends[0] = ends[1] = 0.0f;
        for (int64_t s = 0; s < positions; s++) {
            d[s] = (float)(s + 1) - r * length; /* 3, 4 */
            g[s] = exponential(d[s] * d[s] * fall); /* 5 */
            if (s < length && !(fabsf(d[s]) > radius)) { /* a NaN closes nothing */
                ends[0] = ends[1] == 0.0f ? (float)s : ends[0];
                ends[1] = (float)(s + 1);
            }
        }
    }
}

/* d(v' u) | g, r, d, dg, length, radius, open: steps 5 to 2 undone. */
void predictive_window_back(int64_t from, int64_t to, const Block *of)
{
    const float radius = *of[6].numbers, fall = -4.0f / (radius * radius);
    for (int64_t row = from; row < to; row++) {
        const Window open = window_of(of[7], row);
        const float *g = row_of(of[1], row), *d = row_of(of[3], row), *dg = row_of(of[4], row);
        const float r = *row_of(of[2], row);
        float dp = 0;
        for (int64_t s = open.from; s < open.to; s++)
            dp -= dg[s] * g[s] * d[s] * fall; /* 5, 4 */
        *row_of(of[0], row) = dp * *row_of(of[5], row) * (r - r * r); /* 3, 2 */
    }
}

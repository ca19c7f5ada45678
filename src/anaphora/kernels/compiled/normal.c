/* Layer normalisation of rows: steps 1 to 3 of normalisation.py, and back; the numbering is the same. */

#include <math.h>

#include "loop.h"

#define EPSILON 1e-5f

typedef struct {
    float of_a, of_ab; /* the sums of a, and of a b */
} Sums;

/* Of (a - centre) and b, or of (a - centre) and itself. */
EVERY_PROCESSOR static Sums sums(int64_t size, float centre, const float *a, const float *b)
{
    float ones[LANES] = {0}, products[LANES] = {0};
    const int64_t whole = size - size % LANES;
    for (int64_t j = 0; j < whole; j += LANES)
        for (int64_t lane = 0; lane < LANES; lane++) {
            const float d = a[j + lane] - centre;
            ones[lane] += d;
            products[lane] += d * (b ? b[j + lane] : d);
        }
    for (int64_t j = whole; j < size; j++) {
        const float d = a[j] - centre;
        ones[j - whole] += d;
        products[j - whole] += d * (b ? b[j] : d);
    }
    Sums found = {0, 0};
    for (int64_t lane = 0; lane < LANES; lane++) {
        found.of_a += ones[lane];
        found.of_ab += products[lane];
    }
    return found;
}

EVERY_PROCESSOR static void scaled(int64_t size, float mean, float inverse, const float *restrict a,
                                   const float *restrict gain, float *restrict n, float *restrict y)
{
    for (int64_t j = 0; j < size; j++) {
        n[j] = (a[j] - mean) * inverse; /* 2 */
        y[j] = n[j] * gain[j]; /* 3 */
    }
}

EVERY_PROCESSOR static void through_gain(int64_t size, const float *restrict dy, const float *restrict n,
                                         const float *restrict gain, float *restrict dn, float *restrict dgain)
{
    for (int64_t j = 0; j < size; j++) {
        dgain[j] += dy[j] * n[j]; /* 3 */
        dn[j] = dy[j] * gain[j];
    }
}

EVERY_PROCESSOR static void backward(int64_t size, float mean, float along, float inverse, const float *restrict n,
                                     float *restrict d)
{
    for (int64_t j = 0; j < size; j++)
        d[j] = (d[j] - mean - n[j] * along) * inverse; /* 2, 1 */
}

/* y, n, 1 / s | a, gain */
void normal_rows(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[0].width;
    for (int64_t row = from; row < to; row++) {
        const float *a = row_of(of[3], row);
        const float mean = sums(size, 0, a, a).of_a / size; /* 1 */
        const float inverse = 1.0f / sqrtf(sums(size, mean, a, 0).of_ab / size + EPSILON);
        *row_of(of[2], row) = inverse;
        scaled(size, mean, inverse, a, of[4].numbers, row_of(of[1], row), row_of(of[0], row));
    }
}

/* da, dgain | dy, n, 1 / s, gain: dgain, one for each row, is added to. */
void normal_rows_back(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[0].width;
    for (int64_t row = from; row < to; row++) {
        float *d = row_of(of[0], row), *n = row_of(of[3], row);
        through_gain(size, row_of(of[2], row), n, of[5].numbers, d, row_of(of[1], row));
        const Sums of_dn = sums(size, 0, d, n);
        backward(size, of_dn.of_a / size, of_dn.of_ab / size, *row_of(of[4], row), n, d);
    }
}

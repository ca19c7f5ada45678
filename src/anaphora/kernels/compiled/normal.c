/* Layer normalisation of rows: steps 1 to 3 of normalisation.py, and back; the numbering is the same. Rows of one length:
 * fixed_norm.py.
 */

#include <math.h>

#include "loop.h"

#define EPSILON 1e-5f

/* Sums side by side: several vectors of them, so that none waits for the one before. */
#define MANY (4 * LANES)

ALWAYS float total(const float *sums)
{
    float all = 0;
    for (int64_t lane = 0; lane < MANY; lane++)
        all += sums[lane];
    return all;
}

EVERY_PROCESSOR static float sum(int64_t size, const float *restrict a)
{
    float sums[MANY] = {0};
    const int64_t whole = size - size % MANY;
    for (int64_t j = 0; j < whole; j += MANY)
        for (int64_t lane = 0; lane < MANY; lane++)
            sums[lane] += a[j + lane];
    for (int64_t j = whole; j < size; j++)
        sums[j - whole] += a[j];
    return total(sums);
}

EVERY_PROCESSOR static float sum_of_squares(int64_t size, float mean, const float *restrict a)
{
    float sums[MANY] = {0};
    const int64_t whole = size - size % MANY;
    for (int64_t j = 0; j < whole; j += MANY)
        for (int64_t lane = 0; lane < MANY; lane++)
            sums[lane] += (a[j + lane] - mean) * (a[j + lane] - mean);
    for (int64_t j = whole; j < size; j++)
        sums[j - whole] += (a[j] - mean) * (a[j] - mean);
    return total(sums);
}

EVERY_PROCESSOR static void scaled(int64_t size, float mean, float inverse, const float *restrict a,
                                   const float *restrict gain, float *restrict y)
{
    for (int64_t j = 0; j < size; j++)
        y[j] = (a[j] - mean) * inverse * gain[j]; /* 2, 3 */
}

EVERY_PROCESSOR static void at_norm(int64_t size, float radius, const float *restrict a, float *restrict y)
{
    const float factor = radius / sqrtf(sum_of_squares(size, 0.0f, a) + 1e-12f);
    for (int64_t j = 0; j < size; j++)
        y[j] = factor * a[j];
}

typedef struct {
    float of_dn, of_dn_n;
} Sums;

/* dgain, and the sums of dn and of dn * n, with n and dn made again from a and dy. */
EVERY_PROCESSOR static Sums through_gain(int64_t size, float mean, float inverse, const float *restrict a,
                                         const float *restrict gain, const float *restrict dy, float *restrict dgain)
{
    float of_dn[MANY] = {0}, of_dn_n[MANY] = {0};
    for (int64_t j = 0; j < size; j += MANY) {
        const int64_t lanes = size - j < MANY ? size - j : MANY;
        for (int64_t lane = 0; lane < lanes; lane++) {
            const float n = (a[j + lane] - mean) * inverse, d = dy[j + lane] * gain[j + lane]; /* 3 */
            dgain[j + lane] += dy[j + lane] * n;
            of_dn[lane] += d;
            of_dn_n[lane] += d * n;
        }
    }
    return (Sums){total(of_dn), total(of_dn_n)};
}

EVERY_PROCESSOR static void backward(int64_t size, float mean, float inverse, float mean_dn, float mean_dn_n,
                                     const float *restrict a, const float *restrict gain, const float *restrict dy,
                                     float *restrict da)
{
    for (int64_t j = 0; j < size; j++) {
        const float n = (a[j] - mean) * inverse;
        da[j] = (dy[j] * gain[j] - mean_dn - n * mean_dn_n) * inverse; /* 2, 1 */
    }
}

/* y, mean, 1 / s | a, gain */
void normal_rows(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[0].width;
    for (int64_t row = from; row < to; row++) {
        const float *a = row_of(of[3], row);
        const float mean = sum(size, a) / size; /* 1 */
        const float inverse = 1.0f / sqrtf(sum_of_squares(size, mean, a) / size + EPSILON);
        *row_of(of[1], row) = mean;
        *row_of(of[2], row) = inverse;
        scaled(size, mean, inverse, a, of[4].numbers, row_of(of[0], row));
    }
}

/* da, dgain | dy, a, mean, 1 / s, gain: dgain, one for each row, is added to. */
void normal_rows_back(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[0].width;
    for (int64_t row = from; row < to; row++) {
        const float *dy = row_of(of[2], row), *a = row_of(of[3], row), *gain = of[6].numbers;
        const float mean = *row_of(of[4], row), inverse = *row_of(of[5], row);
        const Sums sums = through_gain(size, mean, inverse, a, gain, dy, row_of(of[1], row));
        backward(size, mean, inverse, sums.of_dn / size, sums.of_dn_n / size, a, gain, dy, row_of(of[0], row));
    }
}

/* y | a, r, k: the first k numbers of a row have the norm r, and the others too. */
void fixed_norm_rows(int64_t from, int64_t to, const Block *of)
{
    const int64_t first = (int64_t)of[3].numbers[0];
    for (int64_t row = from; row < to; row++) {
        at_norm(first, of[2].numbers[0], row_of(of[1], row), row_of(of[0], row));
        at_norm(of[0].width - first, of[2].numbers[0], row_of(of[1], row) + first, row_of(of[0], row) + first);
    }
}

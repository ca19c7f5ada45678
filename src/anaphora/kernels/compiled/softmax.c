/* The bias of step 1, and step 2 of softmax.py, a row at a time while it is near; the numbering is the same. */

#include <math.h>

#include "pointwise.h"

#define LANES 16

/* z becomes z + b, where there is a bias; returns the largest. */
EVERY_PROCESSOR static float largest(int64_t size, const float *restrict bias, float *restrict z)
{
    float tops[LANES];
    if (bias)
        for (int64_t j = 0; j < size; j++)
            z[j] += bias[j]; /* 1 */
    const int64_t whole = size - size % LANES;
    for (int64_t lane = 0; lane < LANES; lane++)
        tops[lane] = -INFINITY; /* that of no numbers */
    for (int64_t j = 0; j < whole; j += LANES)
        for (int64_t lane = 0; lane < LANES; lane++)
            tops[lane] = z[j + lane] > tops[lane] ? z[j + lane] : tops[lane];
    for (int64_t j = whole; j < size; j++)
        tops[0] = z[j] > tops[0] ? z[j] : tops[0];
    float top = tops[0];
    for (int64_t lane = 1; lane < LANES; lane++)
        top = tops[lane] > top ? tops[lane] : top;
    return top;
}

/* z becomes exp(z - top); returns the sum. */
EVERY_PROCESSOR static float exponentials(int64_t size, float top, float *restrict z)
{
    float sums[LANES] = {0};
    const int64_t whole = size - size % LANES;
    for (int64_t j = 0; j < whole; j += LANES)
        for (int64_t lane = 0; lane < LANES; lane++) {
            const float q = exponential(z[j + lane] - top);
            z[j + lane] = q;
            sums[lane] += q;
        }
    for (int64_t j = whole; j < size; j++) {
        z[j] = exponential(z[j] - top);
        sums[j - whole] += z[j];
    }
    float sum = 0;
    for (int64_t lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    return sum;
}

/* z (rows x size), with the bias (or null) to be added, becomes q; tops and sums (rows) are given max z and s. */
void softmax_exponentials(int64_t rows, int64_t size, const float *bias, float *z, float *tops, float *sums)
{
    ROWS(rows *size)
    for (int64_t row = 0; row < rows; row++) {
        tops[row] = largest(size, bias, z + row * size);
        sums[row] = exponentials(size, tops[row], z + row * size);
    }
}

/* The bias of step 1, and steps 2 to 3' of softmax.py, a row at a time while it is near; the numbering is the same. And
 * log softmax(z), for searches.
 */

#include <math.h>

#include "loop.h"
#include "scores.h"

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

/* The sum of z, in an order that depends on the size alone. */
EVERY_PROCESSOR static float total(int64_t size, const float *restrict z)
{
    float sums[LANES] = {0}, sum = 0;
    const int64_t whole = size - size % LANES;
    for (int64_t j = 0; j < whole; j += LANES)
        for (int64_t lane = 0; lane < LANES; lane++)
            sums[lane] += z[j + lane];
    for (int64_t j = whole; j < size; j++)
        sums[j - whole] += z[j];
    for (int64_t lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    return sum;
}

/* q becomes dz, except for the right answer's part. */
EVERY_PROCESSOR static void derivative(int64_t size, float scale, float share, float *restrict z)
{
    for (int64_t j = 0; j < size; j++)
        z[j] = z[j] * scale - share; /* 3' */
}

/* z (rows x size), without the bias (or null), becomes dz if that is wanted; else nothing that is of use. ``found`` (4 x
 * rows) is given max z, s, z_y and, with smoothing, mean z. Weights may be null; ``smoothing`` is one number, e.
 */
void softmax_rows(int64_t rows, int64_t size, int64_t wanted, const float *bias, const int64_t *targets,
                  const float *weights, const float *smoothing, float *z, float *found)
{
    const float e = *smoothing;
    ROWS(rows *size)
    for (int64_t row = 0; row < rows; row++) {
        float *of_row = z + row * size;
        const float top = largest(size, bias, of_row);
        found[row] = top;
        found[2 * rows + row] = of_row[targets[row]];
        found[3 * rows + row] = e > 0.0f ? total(size, of_row) / size : 0.0f;
        const float s = exponentials(size, top, of_row), w = weights ? weights[row] : 1.0f;
        found[rows + row] = s;
        if (wanted) {
            derivative(size, w / s, w * e / size, of_row);
            of_row[targets[row]] -= w * (1.0f - e);
        }
    }
}

/* The sum of exp(z - top); a minus infinity adds nothing, so that padding behind a row changes no bit. */
EVERY_PROCESSOR static float sum_of_exponentials(int64_t size, float top, const float *restrict z)
{
    float sums[LANES] = {0}, sum = 0;
    const int64_t whole = size - size % LANES;
    for (int64_t j = 0; j < whole; j += LANES)
        for (int64_t lane = 0; lane < LANES; lane++)
            sums[lane] += z[j + lane] == -INFINITY ? 0.0f : exponential(z[j + lane] - top);
    for (int64_t j = whole; j < size; j++)
        sums[j - whole] += z[j] == -INFINITY ? 0.0f : exponential(z[j] - top);
    for (int64_t lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    return sum;
}

EVERY_PROCESSOR static void subtract(int64_t size, float top, float log_sum, float *restrict z)
{
    for (int64_t j = 0; j < size; j++)
        z[j] = (z[j] - top) - log_sum;
}

static Normalizer normalizer(int64_t size, const float *bias, float *z)
{
    const float top = largest(size, bias, z);
    return (Normalizer){top, (float)log(sum_of_exponentials(size, top, z))};
}

Normalizer normalizer_of(Block z, Block bias, int64_t row, int64_t count, const int64_t *columns)
{
    const Normalizer found = normalizer(z.width, bias.width ? bias.numbers : 0, row_of(z, row));
    for (int64_t n = 0; n < count; n++)
        if (columns[n] >= 0)
            row_of(z, row)[columns[n]] = -INFINITY;
    return found;
}

static void log_softmax(int64_t size, float *z)
{
    const Normalizer found = normalizer(size, 0, z);
    subtract(size, found.top, found.log_sum, z);
}

/* z (rows x size) becomes log softmax(z). */
void log_softmax_rows(int64_t rows, int64_t size, float *z)
{
    ROWS(rows *size)
    for (int64_t row = 0; row < rows; row++)
        log_softmax(size, z + row * size);
}

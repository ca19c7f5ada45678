/* The greatest numbers of a row and where they stand, in one pass; of equal ones the first comes first.
 *
 * Most numbers are smaller than the least that is kept, so that most blocks have none to keep.
 */

#include "pointwise.h"
#include "scores.h"

#define BLOCK 64

EVERY_PROCESSOR static int32_t any_above(float least, Normalizer normalizer, const float *restrict numbers)
{
    int32_t found = 0;
    for (int64_t j = 0; j < BLOCK; j++)
        found |= normalized(numbers[j], normalizer) > least;
    return found;
}

/* Puts a number in behind the greater and equal ones among ``kept``, of which the last falls out. */
static void keep(int64_t kept, float number, int64_t place, float *values, int64_t *places)
{
    int64_t j = kept - 1;
    for (; j > 0 && number > values[j - 1]; j--) {
        values[j] = values[j - 1];
        places[j] = places[j - 1];
    }
    values[j] = number;
    places[j] = place;
}

void keep_greatest(int64_t size, int64_t k, const float *z, Normalizer normalizer, float *values, int64_t *places)
{
    for (int64_t j = 0; j < k; j++)
        keep(j + 1, normalized(z[j], normalizer), j, values, places);
    for (int64_t from = k; from < size; from += BLOCK) {
        const int64_t to = from + BLOCK < size ? from + BLOCK : size;
        if (to - from == BLOCK && !any_above(values[k - 1], normalizer, z + from))
            continue;
        for (int64_t j = from; j < to; j++)
            if (normalized(z[j], normalizer) > values[k - 1])
                keep(k, normalized(z[j], normalizer), j, values, places);
    }
}

/* Of each row of z (rows x size) the k greatest, k from 1 to size, greatest first: values and places (rows x k). */
void top_k(int64_t rows, int64_t size, int64_t k, const float *z, float *values, int64_t *places)
{
    ROWS(rows *size)
    for (int64_t row = 0; row < rows; row++)
        keep_greatest(size, k, z + row * size, (Normalizer){0.0f, 0.0f}, values + row * k, places + row * k);
}

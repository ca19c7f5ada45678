/* What a search takes of the scores of one row. */

#ifndef ANAPHORA_SCORES_H
#define ANAPHORA_SCORES_H

#include <stdint.h>

#include "loop.h"

/* log softmax(z) = (z - top) - log_sum */
typedef struct {
    float top, log_sum;
} Normalizer;

ALWAYS float normalized(float z, Normalizer normalizer)
{
    return (z - normalizer.top) - normalizer.log_sum;
}

/* A row of z becomes z + b, where the bias has a width. ``columns`` are those that are never chosen, -1 for none: they
 * become minus infinity afterwards.
 */
Normalizer normalizer_of(Block z, Block bias, int64_t row, int64_t count, const int64_t *columns);

/* The k greatest of log softmax(z), k from 1 to size, greatest first, and their places; of equal ones the first comes
 * first.
 */
void keep_greatest(int64_t size, int64_t k, const float *z, Normalizer normalizer, float *values, int64_t *places);

#endif

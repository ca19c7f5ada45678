/* What a search takes of the scores of one row. */

#ifndef ANAPHORA_SCORES_H
#define ANAPHORA_SCORES_H

#include <stdint.h>

/* log softmax(z) = (z - top) - log_sum */
typedef struct {
    float top, log_sum;
} Normalizer;

/* z becomes z + b, where there is a bias. */
Normalizer normalizer_of(int64_t size, const float *bias, float *z);

/* The k greatest of log softmax(z), k from 1 to size, greatest first, and their places; of equal ones the first comes
 * first.
 */
void keep_greatest(int64_t size, int64_t k, const float *z, Normalizer normalizer, float *values, int64_t *places);

#endif

/* The two ends of a step of greedy search, as operations of the time loop (loop.c): the vector of the token that was
 * chosen, and the choice of the next one. A beam has its own end (beam.c).
 *
 * Some operands hold numbers of eight bytes: what was written (choose.h), and tokens, columns and places as int64_t.
 */

#include "choose.h"

#include <math.h>

#include "loop.h"
#include "scores.h"

ALWAYS Written *written_of(Block block, int64_t row)
{
    return (Written *)row_of(block, row);
}

ALWAYS int64_t *whole_of(Block block, int64_t row)
{
    return (int64_t *)row_of(block, row);
}

EVERY_PROCESSOR static void scale_row(int64_t size, float scale, const float *restrict from, float *restrict to)
{
    for (int64_t j = 0; j < size; j++)
        to[j] = from[j] * scale;
}

EVERY_PROCESSOR static void gather(int64_t size, const float *restrict z, const int64_t *restrict places,
                                   const float *restrict bias, float *restrict out)
{
    for (int64_t j = 0; j < size; j++)
        out[j] = z[places[j]] + bias[j];
}

/* ids | rows: the number of the token that is read next, with which rows begin. */
void read_token(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        *row_of(of[0], row) = (float)*whole_of(of[1], row);
}

/* x | ids, table, scale: rows of a table. */
void look_up(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[0].width;
    for (int64_t row = from; row < to; row++)
        scale_row(size, *of[3].numbers, of[2].numbers + (int64_t)*row_of(of[1], row) * size, row_of(of[0], row));
}

/* z of candidates | z, places, bias, each sentence with its own. */
void gather_columns(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        gather(of[0].width, row_of(of[1], row), whole_of(of[2], row), row_of(of[3], row), row_of(of[0], row));
}

/* weights of all steps (sentences x steps x width) | weights, written */
void keep_weights(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++) {
        const Written *w = written_of(of[2], row);
        const int64_t place = w->sentence * of[0].width + w->tokens * of[1].width;
        memcpy(of[0].numbers + place, row_of(of[1], row), of[1].width * sizeof(float));
    }
}

/* written, tokens (sentences x steps) | z, bias, ids, columns, end: the most probable token, of equal ones the first,
 * unless it is forced. ``bias``, ``ids`` and ``columns`` are those of best_tokens (beam.c). A sentence ends after its last
 * </s>, at its greatest length, and where nothing is possible.
 */
void choose_token(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++) {
        Written *w = written_of(of[0], row);
        int64_t *token = whole_of(of[1], 0) + w->sentence * (of[1].width / 2) + w->tokens;
        const int forced = w->tokens < w->forced;
        float log_p;
        int64_t column = *token;
        const Normalizer normalizer = normalizer_of(of[2], of[3], row, of[5].width / 2, whole_of(of[5], row));
        if (forced)
            log_p = normalized(row_of(of[2], row)[column], normalizer);
        else {
            keep_greatest(of[2].width, 1, row_of(of[2], row), normalizer, &log_p, &column);
            *token = of[4].width ? whole_of(of[4], row)[column] : column;
            w->lines -= *token == *whole_of(of[6], 0);
        }
        w->token = *token;
        w->tokens++;
        w->score += (double)log_p;
        w->ended = w->lines <= 0 || w->tokens >= w->longest || (!forced && !(w->score > -INFINITY));
    }
}

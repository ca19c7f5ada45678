/* The end of a step of beam search: which tokens of a row are most probable, and which rows are continued by which of them.
 *
 * It is what search/beam.py does where nothing but a prefix steers the search. A hypothesis that cannot become a result
 * any more is dropped at once, whatever other sentences do.
 */

#include "beam.h"

#include <math.h>

#include "loop.h"
#include "scores.h"

/* The most hypotheses of a sentence. */
#define MOST 64

/* values, tokens | z, bias, rows, ids, columns: the most probable tokens of each row and their log probabilities; or the one
 * that has to follow. ``ids`` are those of the columns of each sentence, of no width where a column is its id. What
 * stands in ``columns`` is never chosen; -1 is none. The bias has no width where there is none.
 */
void best_tokens(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[2].width, each = of[0].width;
    for (int64_t row = from; row < to; row++) {
        float *values = row_of(of[0], row), *z = row_of(of[2], row);
        int64_t *tokens = (int64_t *)row_of(of[1], row);
        const int64_t *ids = (int64_t *)of[5].numbers, *columns = (int64_t *)of[6].numbers;
        const int64_t forced = ((Hypothesis *)row_of(of[4], row))->forced;
        const Normalizer normalizer = normalizer_of(of[2], of[3], row, of[6].width / 2, columns);
        if (forced < 0)
            keep_greatest(size, each, z, normalizer, values, tokens);
        else
            for (int64_t j = 0; j < each; j++) {
                values[j] = j ? -INFINITY : normalized(z[forced], normalizer);
                tokens[j] = forced;
            }
        for (int64_t j = 0; j < each && of[5].width; j++)
            tokens[j] = ids[tokens[j]];
    }
}

/* A continuation of a row. */
typedef struct {
    int64_t row, token;
    double total;
} Found;

/* The best continuations of ``count`` rows from ``first`` on, best first; of equal ones that of the lower row comes first.
 * At least one, even if none is possible.
 */
static int64_t best_of(const Beam *s, int64_t first, int64_t count, Found *found)
{
    int64_t heads[MOST] = {0}, kept = 0;
    while (kept < s->size) {
        int64_t best = -1;
        double top = -INFINITY;
        for (int64_t n = 0; n < count; n++)
            if (heads[n] < s->each) {
                const double total = s->rows[first + n].total + (double)s->values[(first + n) * s->each + heads[n]];
                if (total > top) {
                    top = total;
                    best = n;
                }
            }
        if (best < 0 && kept)
            break;
        const int64_t row = first + (best < 0 ? 0 : best);
        found[kept++] = (Found){row, s->tokens[row * s->each + (best < 0 ? 0 : heads[best])], top};
        if (best < 0)
            break;
        heads[best]++;
    }
    return kept;
}

/* Puts a rank in among the greatest. */
static void add_rank(int64_t size, double rank, double *best)
{
    int64_t j = size - 1;
    if (!(rank > best[j]))
        return;
    for (; j > 0 && rank > best[j - 1]; j--)
        best[j] = best[j - 1];
    best[j] = rank;
}

/* The rank of a hypothesis that ends with this step. */
static double rank_of(const Beam *s, int64_t sentence, double total)
{
    return (s->lengths ? total + s->log_lengths[sentence * s->lengths + s->taken] : total) / s->norms[s->taken];
}

/* Continues a sentence, whose rows are ``count`` from ``first`` on: adds to ``next`` and to what ended. */
static void continue_sentence(Beam *s, int64_t first, int64_t count, int64_t *stayed, int64_t *ended)
{
    Found found[MOST];
    const int64_t sentence = s->rows[first].sentence, kept = best_of(s, first, count, found);
    const Limits limits = s->limits[sentence];
    const int forced = s->taken < limits.forced;
    double *best = s->best + sentence * s->results;
    int finished[MOST], hopeful[MOST], goes_on = 0;
    for (int64_t k = 0; k < kept; k++) {
        finished[k] = !forced && found[k].token == s->end && found[k].total > -INFINITY;
        if (finished[k])
            add_rank(s->results, rank_of(s, sentence, found[k].total), best);
    }
    for (int64_t k = 0; k < kept; k++) {
        hopeful[k] = !finished[k] && found[k].total / s->norms[limits.tokens - 1] > best[s->results - 1];
        hopeful[k] |= forced && k == 0;
        goes_on |= hopeful[k];
    }
    goes_on &= s->taken + 1 < limits.tokens;
    const int cut = !goes_on && best[0] == -INFINITY; /* without a finished one, the others are the results */
    for (int64_t k = 0; k < kept; k++) {
        if (finished[k] || cut)
            s->ended[(*ended)++] = (Ended){sentence, found[k].row, found[k].token, found[k].total,
                                           rank_of(s, sentence, found[k].total)};
        if (goes_on && hopeful[k]) {
            const int64_t next = s->taken + 1;
            s->next[(*stayed)++] =
                (Hypothesis){found[k].token, sentence, found[k].row,
                             next < limits.forced ? s->prefixes[sentence * s->longest + next] : -1, found[k].total};
        }
    }
}

void choose_rows(Beam *s)
{
    int64_t stayed = 0, ended = 0;
    for (int64_t first = 0, count; first < s->live; first += count) {
        for (count = 1; first + count < s->live && s->rows[first + count].sentence == s->rows[first].sentence;)
            count++;
        continue_sentence(s, first, count, &stayed, &ended);
    }
    memcpy(s->rows, s->next, stayed * sizeof(Hypothesis));
    memcpy(s->stayed, s->next, stayed * sizeof(Hypothesis));
    s->counts[0] = stayed;
    s->counts[1] = ended;
    s->counts += 2;
    s->stayed += stayed;
    s->ended += ended;
    s->weights += s->live * s->width;
    s->live = stayed;
    s->taken++;
}

/* | weights, beam: the attention of each row is kept. */
void keep_attention(int64_t from, int64_t to, const Block *of)
{
    Beam *s = (Beam *)of[1].numbers;
    memcpy(s->weights + from * of[0].width, row_of(of[0], from), (to - from) * of[0].width * sizeof(float));
}

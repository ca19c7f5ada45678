/* Attention over the open positions of each sentence: operations of the time loop for attention.py and scores/.
 *
 * A memory has positions x size numbers for every sentence. What lies past the length of a sentence is never read; its
 * scores and weights are 0.
 */

#include <math.h>

#include "loop.h"

EVERY_PROCESSOR static float dot(int64_t size, const float *restrict a, const float *restrict b)
{
    float sums[LANES] = {0}, sum = 0;
    const int64_t whole = size - size % LANES;
    for (int64_t j = 0; j < whole; j += LANES)
        for (int64_t lane = 0; lane < LANES; lane++)
            sums[lane] += a[j + lane] * b[j + lane];
    for (int64_t j = whole; j < size; j++)
        sums[j - whole] += a[j] * b[j];
    for (int64_t lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    return sum;
}

EVERY_PROCESSOR static void mix(int64_t positions, int64_t size, const float *restrict weights,
                                const float *restrict memory, float *restrict out)
{
    for (int64_t s = 0; s < positions; s++)
        for (int64_t j = 0; j < size; j++)
            out[j] += weights[s] * memory[s * size + j];
}

EVERY_PROCESSOR static void softmax(int64_t size, float scale, const float *restrict e, float *restrict a)
{
    float top = -INFINITY, sum = 0;
    for (int64_t s = 0; s < size; s++)
        top = !(scale * e[s] <= top) ? scale * e[s] : top; /* that of a NaN is one */
    for (int64_t s = 0; s < size; s++) {
        a[s] = exponential(scale * e[s] - top);
        sum += a[s];
    }
    for (int64_t s = 0; s < size; s++)
        a[s] /= sum;
}

EVERY_PROCESSOR static void softmax_back(int64_t size, float scale, const float *restrict a, const float *restrict da,
                                         float *restrict de)
{
    float sum = 0;
    for (int64_t s = 0; s < size; s++)
        sum += a[s] * da[s];
    for (int64_t s = 0; s < size; s++)
        de[s] = scale * (a[s] * (da[s] - sum));
}

static int64_t open_positions(const Block length, int64_t row)
{
    return (int64_t)*row_of(length, row);
}

static void close(const Block out, int64_t row, int64_t open)
{
    memset(row_of(out, row) + open, 0, (out.width - open) * sizeof(float));
}

/* e | h, memory, length: e_s = h' m_s. As the way back of mix_positions: da_s = dc' v_s. */
void dot_positions(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[1].width;
    for (int64_t row = from; row < to; row++) {
        const int64_t open = open_positions(of[3], row);
        for (int64_t s = 0; s < open; s++)
            row_of(of[0], row)[s] = dot(size, row_of(of[1], row), row_of(of[2], row) + s * size);
        close(of[0], row, open);
    }
}

/* c | a, memory, length: c = sum_s a_s v_s. As the way back of dot_positions: dh = sum_s de_s m_s. */
void mix_positions(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[0].width;
    for (int64_t row = from; row < to; row++) {
        if (!of[0].adds)
            memset(row_of(of[0], row), 0, size * sizeof(float));
        mix(open_positions(of[3], row), size, row_of(of[1], row), row_of(of[2], row), row_of(of[0], row));
    }
}

/* a | e, length, scale: a = softmax(scale * e) */
void softmax_positions(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++) {
        const int64_t open = open_positions(of[2], row);
        softmax(open, *of[3].numbers, row_of(of[1], row), row_of(of[0], row));
        close(of[0], row, open);
    }
}

/* de | a, da, length, scale */
void softmax_positions_back(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++) {
        const int64_t open = open_positions(of[3], row);
        softmax_back(open, *of[4].numbers, row_of(of[1], row), row_of(of[2], row), row_of(of[0], row));
        close(of[0], row, open);
    }
}

/* Attention over the open positions of each sentence: operations of the time loop for attention.py, scores/ and spans/.
 *
 * A memory has positions x size numbers for every sentence. The open positions of a step lie side by side: two numbers
 * say which is the first, and which the first after them (loop.h). What is closed is never read; its scores and weights
 * are 0.
 */

#include <math.h>

#include "loop.h"

EVERY_PROCESSOR static float dot(int64_t size, const float *restrict a, const float *restrict b)
{
    return scalar_product(size, a, b);
}

EVERY_PROCESSOR static void mix(Window open, int64_t size, const float *restrict weights,
                                const float *restrict memory, float *restrict out)
{
    for (int64_t s = open.from; s < open.to; s++)
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

/* e | h, memory, open: e_s = h' m_s. As the way back of mix_positions: da_s = dc' v_s. */
void dot_positions(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[1].width;
    for (int64_t row = from; row < to; row++) {
        const Window open = window_of(of[3], row);
        close_others(of[0], row, open);
        for (int64_t s = open.from; s < open.to; s++)
            row_of(of[0], row)[s] = dot(size, row_of(of[1], row), row_of(of[2], row) + s * size);
    }
}

/* c | a, memory, open: c = sum_s a_s v_s. As the way back of dot_positions: dh = sum_s de_s m_s. */
void mix_positions(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[0].width;
    for (int64_t row = from; row < to; row++) {
        if (!of[0].adds)
            memset(row_of(of[0], row), 0, size * sizeof(float));
        mix(window_of(of[3], row), size, row_of(of[1], row), row_of(of[2], row), row_of(of[0], row));
    }
}

/* a | e, open, scale: a = softmax(scale * e) */
void softmax_positions(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++) {
        const Window open = window_of(of[2], row);
        close_others(of[0], row, open);
        softmax(open.to - open.from, *of[3].numbers, row_of(of[1], row) + open.from, row_of(of[0], row) + open.from);
    }
}

/* de | a, da, open, scale */
void softmax_positions_back(int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++) {
        const Window open = window_of(of[3], row);
        close_others(of[0], row, open);
        softmax_back(open.to - open.from, *of[4].numbers, row_of(of[1], row) + open.from,
                     row_of(of[2], row) + open.from, row_of(of[0], row) + open.from);
    }
}

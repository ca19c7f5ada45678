/* What an operation of a time loop is given: one block of rows for each of its operands, at the step that is taken.
 *
 * loop.c runs a list of operations for every step of a scan. Each operation stands beside the pointwise steps that it
 * takes (lstm.c, gru.c, ..). Every row is computed by itself, so that any thread may have any rows.
 */

#ifndef ANAPHORA_LOOP_H
#define ANAPHORA_LOOP_H

#include <stdint.h>

#include "pointwise.h"

typedef struct {
    float *numbers; /* of the first row */
    int64_t width;  /* numbers of a row; the rows have no gaps */
    int64_t adds;   /* whether what an operation finds is added to what is there */
} Block;

/* The rows ``from`` .. ``to`` - 1 of one step. */
typedef void Operation(int64_t from, int64_t to, const Block *of);

ALWAYS float *row_of(Block block, int64_t row)
{
    return block.numbers + row * block.width;
}

/* Positions of a sentence that a step looks at. */
typedef struct {
    int64_t from, to;
} Window;

ALWAYS Window window_of(Block open, int64_t row)
{
    const float *ends = row_of(open, row);
    return (Window){(int64_t)ends[0], (int64_t)ends[1]};
}

/* Zeros for the positions that are not looked at. */
ALWAYS void close_others(Block out, int64_t row, Window open)
{
    memset(row_of(out, row), 0, open.from * sizeof(float));
    memset(row_of(out, row) + open.to, 0, (out.width - open.to) * sizeof(float));
}

/* The sum of ``size`` products or squares is made of sixteen sums side by side, added up in an order that never changes. */
#define LANES 16

ALWAYS float scalar_product(int64_t size, const float *restrict a, const float *restrict b)
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

#endif

/* Tiles of INT8 without vector instructions of its own: where the processor has none for it, the same bits. */

#if defined(__x86_64__) && defined(__GNUC__)

#include "tiles.h"

/* The sums of one row and one panel. */
static void add_row(const uint8_t *a, const int8_t *panel, int64_t numbers, int32_t *sums)
{
    for (int64_t k = 0; k < numbers; k += 4)
        for (int64_t c = 0; c < WIDTH; c++) {
            const int8_t *b = panel + k * WIDTH + 4 * c;
            sums[c] += a[k] * b[0] + a[k + 1] * b[1] + a[k + 2] * b[2] + a[k + 3] * b[3];
        }
}

static void tile(const Tiles *t, int64_t row, int64_t column)
{
    const int64_t columns = smaller(WIDTH, t->columns - column);
    float *out = t->out + row * t->out_stride + column;
    int32_t sums[WIDTH] = {0};
    if (!t->begins)
        memcpy(sums, out, columns * sizeof(float));
    add_row((const uint8_t *)t->left + row * t->left_stride * 4,
            (const int8_t *)(t->panels + column / WIDTH * t->panel_stride), 4 * t->depth, sums);
    if (!t->ends)
        memcpy(out, sums, columns * sizeof(float));
    else
        for (int64_t c = 0; c < columns; c++) { /* as ``finished`` in finish.h */
            const float scale = t->column_scales[column + c] * t->row_scales[row];
            out[c] = (float)(sums[c] + t->corrections[column + c]) * scale;
        }
}

void tiles_plain_int8(const Tiles *t)
{
    for (int64_t column = 0; column < t->columns; column += WIDTH)
        for (int64_t row = 0; row < t->rows; row++)
            tile(t, row, column);
}

#endif

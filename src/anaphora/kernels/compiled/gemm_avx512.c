/* Tiles of up to 12 rows x 2 panels, or 6 rows x 4 panels: up to 24 vectors of sums stay in registers.
 *
 * Of few rows more panels are taken at once, so that there are enough sums to hide how long a multiply-add takes.
 */

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include "finish.h"
#include "tiles.h"

/* Each of the functions at the end uses no more of these than its own precision needs. */
#define TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx512vnni"
#define INLINE __attribute__((target(TARGET), always_inline)) static inline

INLINE __m512 multiply_add(const int precision, int32_t a, __m512 b, __m512 sum)
{
    const __m512i x = _mm512_set1_epi32(a);
    if (precision == FP32)
        return _mm512_fmadd_ps(_mm512_castsi512_ps(x), b, sum);
    if (precision == INT8) { /* not _mm512_dpbusd_epi32: with sums of another type GCC keeps moving them to memory */
        __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(b));
        return sum;
    }
    return _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)b);
}

INLINE void tile(const int precision, const int rows, const int panels, const Tiles *t, int64_t column)
{
    __m512 sums[12][4];
    __mmask16 there[4];
    float *out = t->out + column;
    const int32_t *b = t->panels + column / WIDTH * t->panel_stride;
    const char *a = t->left;
    for (int p = 0; p < panels; p++) {
        const int64_t columns = t->columns - column - p * WIDTH;
        there[p] = columns < WIDTH ? (1u << columns) - 1 : 0xffff;
    }
    for (int r = 0; r < rows; r++)
        for (int p = 0; p < panels; p++)
            sums[r][p] = t->begins ? _mm512_setzero_ps()
                                   : _mm512_maskz_loadu_ps(there[p], out + r * t->out_stride + p * WIDTH);
    for (int64_t k = 0; k < t->depth; k++) {
        __m512 right[4];
#pragma GCC unroll 4
        for (int p = 0; p < panels; p++)
            right[p] = _mm512_loadu_ps(b + p * t->panel_stride + k * WIDTH);
#pragma GCC unroll 12
        for (int r = 0; r < rows; r++) {
            const int32_t x = unit(a, r * t->left_stride + k);
#pragma GCC unroll 4
            for (int p = 0; p < panels; p++)
                sums[r][p] = multiply_add(precision, x, right[p], sums[r][p]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int p = 0; p < panels; p++) {
            if (t->ends)
                sums[r][p] = finished(precision, t, r, column + p * WIDTH, sums[r][p]);
            _mm512_mask_storeu_ps(out + r * t->out_stride + p * WIDTH, there[p], sums[r][p]);
        }
}

/* The panels from ``column`` on, ``panels`` at a time; returns the first column that is left. */
INLINE int64_t wide(const int precision, const int panels, const int rows, const Tiles *t, int64_t column)
{
    for (; column + (panels - 1) * WIDTH < t->columns; column += panels * WIDTH)
        tile(precision, rows, panels, t, column);
    return column;
}

INLINE void row_by_row(const int precision, const int rows, const Tiles *t)
{
    int64_t column = 0;
    if (rows <= 6)
        column = wide(precision, 4, rows, t, column);
    column = wide(precision, 2, rows, t, column);
    wide(precision, 1, rows, t, column);
}

INLINE void all(const int precision, const Tiles *t)
{
    switch (t->rows) {
    case 12: row_by_row(precision, 12, t); break;
    case 11: row_by_row(precision, 11, t); break;
    case 10: row_by_row(precision, 10, t); break;
    case 9: row_by_row(precision, 9, t); break;
    case 8: row_by_row(precision, 8, t); break;
    case 7: row_by_row(precision, 7, t); break;
    case 6: row_by_row(precision, 6, t); break;
    case 5: row_by_row(precision, 5, t); break;
    case 4: row_by_row(precision, 4, t); break;
    case 3: row_by_row(precision, 3, t); break;
    case 2: row_by_row(precision, 2, t); break;
    default: row_by_row(precision, 1, t);
    }
}

__attribute__((target(TARGET))) void tiles_avx512(const Tiles *t)
{
    all(FP32, t);
}

__attribute__((target(TARGET))) void tiles_avx512_int8(const Tiles *t)
{
    all(INT8, t);
}

__attribute__((target(TARGET))) void tiles_avx512_bf16(const Tiles *t)
{
    all(BF16, t);
}

#endif

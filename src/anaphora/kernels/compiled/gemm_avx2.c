/* Tiles of 6 x 16 in FP32: two loads of b and six numbers of a make twelve multiply-adds. */

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include "tiles.h"

#define INLINE __attribute__((target("avx2,fma"), always_inline)) static inline

INLINE void tile(const int rows, const Tiles *t, const float *panel, float *out, int64_t columns)
{
    __m256 left[6], right[6];
    const float *a = t->left;
    float edge[WIDTH] = {0};
    for (int r = 0; r < rows; r++) {
        const float *from = out + r * t->out_stride;
        if (columns < WIDTH && !t->begins)
            from = memcpy(edge, from, columns * sizeof(float));
        left[r] = t->begins ? _mm256_setzero_ps() : _mm256_loadu_ps(from);
        right[r] = t->begins ? _mm256_setzero_ps() : _mm256_loadu_ps(from + 8);
    }
    for (int64_t k = 0; k < t->depth; k++) {
        const __m256 b_left = _mm256_loadu_ps(panel + k * WIDTH), b_right = _mm256_loadu_ps(panel + k * WIDTH + 8);
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++) {
            const __m256 x = _mm256_set1_ps(a[r * t->left_stride + k]);
            left[r] = _mm256_fmadd_ps(x, b_left, left[r]);
            right[r] = _mm256_fmadd_ps(x, b_right, right[r]);
        }
    }
    for (int r = 0; r < rows; r++) {
        float *to = out + r * t->out_stride, *whole = columns == WIDTH ? to : edge;
        _mm256_storeu_ps(whole, left[r]);
        _mm256_storeu_ps(whole + 8, right[r]);
        if (columns < WIDTH)
            memcpy(to, edge, columns * sizeof(float));
    }
}

__attribute__((target("avx2,fma"))) void tiles_avx2(const Tiles *t)
{
    for (int64_t column = 0; column < t->columns; column += WIDTH) {
        const float *panel = (const float *)t->panels + column / WIDTH * t->panel_stride;
        float *out = t->out + column;
        const int64_t columns = smaller(WIDTH, t->columns - column);
        switch (t->rows) {
        case 6: tile(6, t, panel, out, columns); break;
        case 5: tile(5, t, panel, out, columns); break;
        case 4: tile(4, t, panel, out, columns); break;
        case 3: tile(3, t, panel, out, columns); break;
        case 2: tile(2, t, panel, out, columns); break;
        default: tile(1, t, panel, out, columns);
        }
    }
}

#endif

/* How sums become numbers of the product, in AVX-512: rounded in BF16, scaled in INT8. */

#ifndef ANAPHORA_FINISH_H
#define ANAPHORA_FINISH_H

#include <immintrin.h>

#include "tiles.h"

#define FINISH_TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16"

__attribute__((target(FINISH_TARGET), always_inline)) static inline __m512
finished(const int precision, const Tiles *t, int64_t row, int64_t column, __m512 sum)
{
    if (precision == BF16) {
        const __m256i half = (__m256i)_mm512_cvtneps_pbh(sum);
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
    }
    if (precision == INT8) {
        const __m512i exact = _mm512_add_epi32(_mm512_castps_si512(sum), _mm512_loadu_si512(t->corrections + column));
        const __m512 scale = _mm512_mul_ps(_mm512_loadu_ps(t->column_scales + column), _mm512_set1_ps(t->row_scales[row]));
        return _mm512_mul_ps(_mm512_cvtepi32_ps(exact), scale);
    }
    return sum;
}

#endif

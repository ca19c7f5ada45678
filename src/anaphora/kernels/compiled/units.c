#include "units.h"

#include <float.h>
#include <math.h>

#include "tiles.h"

void lay_out_fp32(const Layout *layout, int64_t units)
{
    const int64_t lines = layout->room ? layout->lines : WIDTH;
    const int64_t along = layout->across ? layout->stride : 1, beside = layout->across ? 1 : layout->stride;
    for (int64_t k = 0; k < units; k++)
        for (int64_t line = 0; line < lines; line++) {
            const int there = line < layout->lines && k < layout->length;
            const float number = there ? layout->numbers[line * beside + k * along] : 0.0f;
            memcpy(layout->units + (layout->room ? line * layout->room + k : k * WIDTH + line), &number, sizeof number);
        }
}

/* To the nearest of -128 .. 127, halves to even; what is too large for an int32, or not a number, to -128. */
static int8_t rounded(float number)
{
    if (!(fabsf(number) < 0x1p31f))
        return -128;
    const float nearest = nearbyintf(number);
    return nearest < -128.0f ? -128 : nearest > 127.0f ? 127 : (int8_t)nearest;
}

void lay_out_plain_int8(const Layout *layout, int64_t units)
{
    const int64_t lines = layout->room ? layout->lines : WIDTH;
    for (int64_t line = 0; line < lines; line++)
        for (int64_t k = 0; k < units; k++) {
            const float *from = layout->numbers + line * layout->stride + 4 * k;
            int8_t bytes[4] = {0};
            for (int64_t i = 0; i < 4; i++)
                if (line < layout->lines && 4 * k + i < layout->length)
                    bytes[i] = rounded(from[i] * layout->inverses[line]);
            if (layout->room) /* + 128, as unsigned numbers */
                for (int64_t i = 0; i < 4; i++)
                    bytes[i] ^= -128;
            memcpy(layout->units + (layout->room ? line * layout->room + k : k * WIDTH + line), bytes, sizeof bytes);
        }
}

static void scales_of(float largest, float *inverse, float *scale)
{
    *scale = isfinite(largest) ? largest / 127.0f : NAN;
    *inverse = *scale >= FLT_MIN ? 1.0f / *scale : 0.0f;
}

void scale_line_plain(int64_t length, const float *numbers, float *inverse, float *scale)
{
    float largest = 0.0f;
    for (int64_t k = 0; k < length; k++)
        if (!(fabsf(numbers[k]) <= largest)) /* what is not a number stays */
            largest = isnan(largest) ? largest : fabsf(numbers[k]);
    scales_of(largest, inverse, scale);
}

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16"
#define INLINE __attribute__((target(TARGET), always_inline)) static inline

INLINE __mmask16 first(int64_t count)
{
    return count <= 0 ? 0 : count < WIDTH ? (1u << count) - 1 : 0xffff;
}

/* Sixteen units of one line. */
INLINE __m512i of_line(const int precision, const Layout *layout, int64_t line)
{
    const float *from = layout->numbers + line * layout->stride;
    if (line >= layout->lines)
        return _mm512_setzero_si512();
    if (precision == INT8) {
        __m128i bytes[4];
        for (int i = 0; i < 4; i++) {
            const __m512 four = _mm512_maskz_loadu_ps(first(layout->length - i * WIDTH), from + i * WIDTH);
            bytes[i] = _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(_mm512_mul_ps(four, _mm512_set1_ps(layout->inverses[line]))));
        }
        const __m512i all = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_set_m128i(bytes[1], bytes[0])),
                                               _mm256_set_m128i(bytes[3], bytes[2]), 1);
        return layout->room ? _mm512_xor_si512(all, _mm512_set1_epi8(-128)) : all; /* + 128, as unsigned numbers */
    }
    const __m512 low = _mm512_maskz_loadu_ps(first(layout->length), from);
    if (precision == FP32)
        return _mm512_castps_si512(low);
    const __m512 high = _mm512_maskz_loadu_ps(first(layout->length - WIDTH), from + WIDTH);
    return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

/* One unit of sixteen lines. */
INLINE __m512i of_unit(const int precision, const Layout *layout, int64_t k)
{
    const __mmask16 there = first(layout->lines);
    const int64_t number = precision == FP32 ? k : 2 * k;
    const float *from = layout->numbers + number * layout->stride;
    const __m512 even = _mm512_maskz_loadu_ps(number < layout->length ? there : 0, from);
    if (precision == FP32)
        return _mm512_castps_si512(even);
    const __m512 odd = _mm512_maskz_loadu_ps(number + 1 < layout->length ? there : 0, from + layout->stride);
    const __m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(even));
    const __m512i high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(odd));
    return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

/* 16 x 16: first within lanes of four, then of the lanes. */
INLINE void transpose(__m512i x[16])
{
    __m512i y[16];
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
        y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
        y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {
        x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
        x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
        x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
        x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const __m512i even = _mm512_shuffle_i32x4(x[i], x[i + 4], 0x88), odd = _mm512_shuffle_i32x4(x[i], x[i + 4], 0xdd);
        const __m512i even_after = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0x88);
        const __m512i odd_after = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0xdd);
        y[i] = _mm512_shuffle_i32x4(even, even_after, 0x88);
        y[i + 8] = _mm512_shuffle_i32x4(even, even_after, 0xdd);
        y[i + 4] = _mm512_shuffle_i32x4(odd, odd_after, 0x88);
        y[i + 12] = _mm512_shuffle_i32x4(odd, odd_after, 0xdd);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        x[i] = y[i];
}

INLINE void lay_out(const int precision, const Layout *layout, int64_t units)
{
    const int64_t step = layout->room ? layout->room : WIDTH, count = layout->room ? layout->lines : units;
    const __mmask16 there = layout->room ? first(units) : 0xffff;
    __m512i block[16];
    if (!layout->across == !layout->room) { /* lines become columns, or columns lines */
#pragma GCC unroll 16
        for (int64_t i = 0; i < 16; i++)
            block[i] = layout->across ? of_unit(precision, layout, i) : of_line(precision, layout, i);
        transpose(block);
        for (int64_t i = 0; i < count; i++)
            _mm512_mask_storeu_epi32(layout->units + i * step, there, block[i]);
    } else
        for (int64_t i = 0; i < count; i++)
            _mm512_mask_storeu_epi32(layout->units + i * step, there,
                                     layout->across ? of_unit(precision, layout, i) : of_line(precision, layout, i));
}

__attribute__((target(TARGET))) void lay_out_fp32_avx512(const Layout *layout, int64_t units)
{
    lay_out(FP32, layout, units);
}

__attribute__((target(TARGET))) void lay_out_bf16(const Layout *layout, int64_t units)
{
    lay_out(BF16, layout, units);
}

__attribute__((target(TARGET))) void lay_out_int8(const Layout *layout, int64_t units)
{
    lay_out(INT8, layout, units);
}

__attribute__((target(TARGET))) void scale_line(int64_t length, const float *numbers, float *inverse, float *scale)
{
    __m512i largest = _mm512_setzero_si512(); /* sizes are in the order of their bits, what is not a number last */
    for (int64_t k = 0; k < length; k += WIDTH) {
        const __m512 size = _mm512_abs_ps(_mm512_maskz_loadu_ps(first(length - k), numbers + k));
        largest = _mm512_max_epi32(largest, _mm512_castps_si512(size));
    }
    const int32_t bits = _mm512_reduce_max_epi32(largest);
    float size;
    memcpy(&size, &bits, sizeof size);
    scales_of(size, inverse, scale);
}

#endif

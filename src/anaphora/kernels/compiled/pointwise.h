/* Functions of one number that a compiler can turn into vector instructions, and how a loop over rows is shared out.
 *
 * There is no branch, no call and no table in them, and products are not contracted into sums (-ffp-contract=off): a
 * number has the same bits whether it is computed in the middle of a vector or behind its end.
 */

#ifndef ANAPHORA_POINTWISE_H
#define ANAPHORA_POINTWISE_H

#include <stdint.h>
#include <string.h>

/* Numbers below which a second thread costs more than it gives. */
#define ALONE 8192

/* The loop behind it over rows, by several threads if there are enough numbers. */
#define ROWS(numbers) _Pragma(SHARED(numbers))
#define SHARED(numbers) TEXT(omp parallel for schedule(static) if ((numbers) > ALONE))
#define TEXT(pragma) #pragma

/* A function in one version for each generation of processors; which of them runs is found when the file is loaded. All
 * of them give the same bits. Clang 19 is the oldest that was tried.
 */
#if defined(__clang__) && __clang_major__ < 19
#define EVERY_PROCESSOR
#elif defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define EVERY_PROCESSOR __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define EVERY_PROCESSOR
#endif

#if defined(__GNUC__)
#define ALWAYS static inline __attribute__((always_inline))
#else
#define ALWAYS static inline
#endif

/* exp(y) = scale + scale * rest, with scale a power of two and rest = exp(r) - 1 for |r| <= ln(2) / 2.
 *
 * rest = r + r^2 q(r); q of degree 4, fitted to the smallest largest error (3e-9 of exp(r)).
 */
ALWAYS void split_exp(float y, float *scale, float *rest)
{
    y = y > 88.0f ? 88.0f : y;
    y = y < -87.0f ? -87.0f : y;
    const float shift = 12582912.0f; /* 1.5 * 2^23: adding it rounds to a whole number */
    const float shifted = y * 1.44269504f + shift;
    const float n = shifted - shift;
    const float r = (y - n * 0.693359375f) + n * 2.12194440e-4f; /* n ln 2, in two parts */
    const float q = 0.49999994f + r * (0.16666521f + r * (0.041668389f + r * (0.0083687454f + r * 0.0013814552f)));
    uint32_t bits; /* the last nine bits of shifted are those of n, also where n is below 0; of a NaN they are 0 */
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127u) << 23;
    memcpy(scale, &bits, sizeof bits);
    *rest = r + r * r * q;
}

ALWAYS float exponential(float y)
{
    float scale, rest;
    split_exp(y, &scale, &rest);
    return scale + scale * rest;
}

ALWAYS float sigmoid(float a)
{
    return 1.0f / (1.0f + exponential(-a));
}

/* t / (t + 2) with t = exp(2a) - 1, which loses nothing where a is small. */
ALWAYS float hyperbolic_tangent(float a)
{
    float scale, rest;
    split_exp(2.0f * a, &scale, &rest);
    const float t = scale * rest + (scale - 1.0f);
    return t / (t + 2.0f);
}

#endif

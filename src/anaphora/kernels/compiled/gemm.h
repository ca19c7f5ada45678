/* Matrix products whose right side is packed first.
 *
 *     out = a b      a: M x K, single precision; b: K x N, packed; out: M x N, single precision
 *
 * In FP32, every number of out is one chain of fused multiply-adds in the order of k, from zero: it has the same bits
 * whatever stands beside it, with any number of threads and on every processor with AVX2. In BF16 the numbers of a and
 * b are rounded to bf16, summed in single precision, and the sum is rounded to bf16: the same bits whatever stands
 * beside it and with any number of threads, on processors with the same instructions.
 *
 * In INT8, each row of a and each column of b is scaled so that its largest number becomes 127, and rounded; the sums
 * are exact, and are scaled back in single precision: the same bits everywhere. b is a weight that lies as N x K, with K
 * up to GEMM_INT8_LONGEST.
 */

#ifndef ANAPHORA_GEMM_H
#define ANAPHORA_GEMM_H

#include <stdint.h>

typedef enum { FP32, BF16, INT8 } Precision;

/* 255 * 127 times as much is less than 2^31. */
#define GEMM_INT8_LONGEST 65536

typedef struct {
    int64_t precision; /* a Precision */
    int64_t N, K;
    const void *panels; /* packed_bytes of memory, best at an address that 64 divides, filled by pack_rows or pack_columns */
} Packed;

/* Whether this processor multiplies in a precision. */
int64_t gemm_supports(int64_t precision);

int64_t packed_bytes(int64_t precision, int64_t N, int64_t K);

/* Pack b that lies as N x K (a weight, for W a) or as K x N (a weight K x N, for W' dy), both without gaps. */
void pack_rows(int64_t precision, int64_t N, int64_t K, const float *b, void *panels);
void pack_columns(int64_t precision, int64_t N, int64_t K, const float *b, void *panels);

/* One thread's share of out = a b, to be called by each of ``threads`` in any order: inside of a parallel region, or
 * with 0 of 1 for all of it. ``thread`` always has the same columns of b, so that they stay in its cache, unless there
 * are more rows than that. The strides are numbers from one row to the next.
 */
void gemm_share(const Packed *b, int64_t M, const float *a, int64_t a_stride, float *out, int64_t out_stride,
                int64_t thread, int64_t threads);

/* The whole of it, by as many threads as it is worth; a and out without gaps. */
void gemm(int64_t precision, int64_t M, int64_t N, int64_t K, const float *a, const void *panels, float *out);

/* out = a' b with a: K x M; ``adds``: to what is there, as if a and b had more rows. */
void gemm_of_columns(int64_t precision, int64_t M, int64_t N, int64_t K, const float *a, const void *panels, float *out,
                     int64_t adds);

#endif

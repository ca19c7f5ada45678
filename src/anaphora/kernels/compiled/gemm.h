/* The packed product of gemm.c, for threads that are there already. */

#ifndef ANAPHORA_GEMM_H
#define ANAPHORA_GEMM_H

#include <stdint.h>

typedef struct {
    int64_t N, K;
    const float *panels;
} Packed;

/* One thread's share of out = a b, to be called by each of ``threads`` in any order; a is M x K, K at least 1. */
void gemm_share(const Packed *b, int64_t M, const float *a, float *out, int64_t thread, int64_t threads);

#endif

/* What a product is made of: units, panels and tiles. Of gemm.c and of the files that make tiles.
 *
 * A unit is four bytes of a row of a, or of a column of b: one number of FP32, two of BF16, four of INT8. A panel is 16
 * columns of b, unit by unit: 64 bytes, one vector of AVX-512 or one row of an AMX tile, for each unit of k, with zeros
 * for columns and numbers that are missing.
 *
 * In INT8, 128 is added to the numbers of a, which the instructions take as unsigned; what that adds to a sum is
 * taken away in the end.
 */

#ifndef ANAPHORA_TILES_H
#define ANAPHORA_TILES_H

#include <stdint.h>
#include <string.h>

#include "gemm.h"
#include "processor.h"

#define WIDTH 16

/* Units of k that are multiplied at once. */
#define DEPTH 512

/* The sums of a few rows and some neighbouring panels over the next ``depth`` units. */
typedef struct {
    int64_t rows, columns, depth;
    const void *left; /* rows of units, one after another every ``left_stride`` units */
    int64_t left_stride;
    const int32_t *panels;
    int64_t panel_stride; /* units from one panel to the next */
    float *out;
    int64_t out_stride;
    int begins, ends; /* whether these are the first and the last units of all */
    /* of INT8: what to add to the sums of each column, and what to multiply columns and rows with */
    const int32_t *corrections;
    const float *column_scales, *row_scales;
} Tiles;

void tiles_avx2(const Tiles *tiles);        /* FP32 */
void tiles_avx512(const Tiles *tiles);      /* FP32 */
void tiles_avx512_bf16(const Tiles *tiles); /* BF16 */
void tiles_avx512_int8(const Tiles *tiles); /* INT8, AVX512_VNNI */
void tiles_plain_int8(const Tiles *tiles);  /* INT8 */
void tiles_amx_bf16(const Tiles *tiles);    /* BF16 */
void tiles_amx_int8(const Tiles *tiles);    /* INT8 */

/* Called by a thread before and after it makes tiles with AMX. */
void amx_begin(void);
void amx_end(void);

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int32_t unit(const void *units, int64_t at)
{
    int32_t found;
    memcpy(&found, (const char *)units + at * sizeof found, sizeof found);
    return found;
}

#endif

/* Tiles of 32 x 32, or 16 x 64 of few rows: four registers of sums, two of a, two of b.
 *
 * The registers always have 16 rows: missing rows of a block are read from the room behind it and are not stored.
 */

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include "finish.h"
#include "tiles.h"

#define TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,amx-tile,amx-bf16,amx-int8"
#define INLINE __attribute__((target(TARGET), always_inline)) static inline
#define SIDE 16

/* The instructions of tiles read and write memory that the compiler is not told of. */
#define MEMORY() __asm__ volatile("" ::: "memory")

__attribute__((target(TARGET))) void amx_begin(void)
{
    struct {
        uint8_t palette, start, unused[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } config = {.palette = 1};
    for (int tile = 0; tile < 8; tile++) {
        config.bytes[tile] = 64;
        config.rows[tile] = SIDE;
    }
    MEMORY();
    _tile_loadconfig(&config);
}

__attribute__((target(TARGET))) void amx_end(void)
{
    _tile_release();
}

typedef float Sums[SIDE * WIDTH] __attribute__((aligned(64)));

static inline __attribute__((always_inline)) __mmask16 first(int64_t count)
{
    return count <= 0 ? 0 : count < WIDTH ? (1u << count) - 1 : 0xffff;
}

/* The sums so far of rows from ``row`` on, and columns from ``column`` on. */
INLINE void fetch(const Tiles *t, int64_t row, int64_t column, float *sums)
{
    const __mmask16 there = first(t->columns - column);
    for (int64_t r = 0; r < SIDE; r++)
        _mm512_store_ps(sums + r * WIDTH, row + r < t->rows ? _mm512_maskz_loadu_ps(
                                              there, t->out + (row + r) * t->out_stride + column) : _mm512_setzero_ps());
}

INLINE void put(const int precision, const Tiles *t, int64_t row, int64_t column, const float *sums)
{
    const __mmask16 there = first(t->columns - column);
    if (!there)
        return;
    for (int64_t r = 0; r < smaller(SIDE, t->rows - row); r++) {
        __m512 sum = _mm512_load_ps(sums + r * WIDTH);
        if (t->ends)
            sum = finished(precision, t, row + r, column, sum);
        _mm512_mask_storeu_ps(t->out + (row + r) * t->out_stride + column, there, sum);
    }
}

#define BEGIN(tmm, row, column)                                                                                   \
    do {                                                                                                               \
        if (t->begins)                                                                                                 \
            _tile_zero(tmm);                                                                                      \
        else {                                                                                                         \
            fetch(t, row, column, sums[tmm]);                                                                     \
            MEMORY();                                                                                                  \
            _tile_loadd(tmm, sums[tmm], 64);                                                                 \
        }                                                                                                              \
    } while (0)

#define LEFT(tmm, row, k) _tile_loadd(tmm, a + ((row) * t->left_stride + (k)) * 4, t->left_stride * 4)
#define RIGHT(tmm, panel, k) _tile_loadd(tmm, b + (panel) * t->panel_stride + (k) * WIDTH, 64)

#define MULTIPLY_ADD(sums, left, right)                                                                                \
    do {                                                                                                               \
        if (precision == BF16)                                                                                         \
            _tile_dpbf16ps(sums, left, right);                                                                         \
        else                                                                                                           \
            _tile_dpbusd(sums, left, right);                                                                           \
    } while (0)

/* 32 rows x 2 panels. */
INLINE void square(const int precision, const Tiles *t, int64_t column)
{
    Sums sums[4];
    const char *a = t->left;
    const int32_t *b = t->panels + column / WIDTH * t->panel_stride;
    const int64_t second = column + WIDTH < t->columns;
    BEGIN(0, 0, column);
    BEGIN(1, 0, column + WIDTH);
    BEGIN(2, SIDE, column);
    BEGIN(3, SIDE, column + WIDTH);
    for (int64_t k = 0; k < t->depth; k += SIDE) {
        LEFT(4, 0, k);
        RIGHT(6, 0, k);
        RIGHT(7, second, k);
        LEFT(5, SIDE, k);
        MULTIPLY_ADD(0, 4, 6);
        MULTIPLY_ADD(1, 4, 7);
        MULTIPLY_ADD(2, 5, 6);
        MULTIPLY_ADD(3, 5, 7);
    }
    _tile_stored(0, sums[0], 64);
    _tile_stored(1, sums[1], 64);
    _tile_stored(2, sums[2], 64);
    _tile_stored(3, sums[3], 64);
    MEMORY();
    put(precision, t, 0, column, sums[0]);
    put(precision, t, 0, column + WIDTH, sums[1]);
    put(precision, t, SIDE, column, sums[2]);
    put(precision, t, SIDE, column + WIDTH, sums[3]);
}

/* 16 rows x 4 panels. */
INLINE void flat(const int precision, const Tiles *t, int64_t column)
{
    Sums sums[4];
    const char *a = t->left;
    const int32_t *b = t->panels + column / WIDTH * t->panel_stride;
    const int64_t last = (t->columns - column - 1) / WIDTH; /* panels that are missing are read as the last */
    const int64_t second = smaller(1, last), third = smaller(2, last), fourth = smaller(3, last);
    BEGIN(0, 0, column);
    BEGIN(1, 0, column + WIDTH);
    BEGIN(2, 0, column + 2 * WIDTH);
    BEGIN(3, 0, column + 3 * WIDTH);
    for (int64_t k = 0; k < t->depth; k += SIDE) {
        LEFT(4, 0, k);
        RIGHT(6, 0, k);
        RIGHT(7, second, k);
        MULTIPLY_ADD(0, 4, 6);
        MULTIPLY_ADD(1, 4, 7);
        RIGHT(6, third, k);
        RIGHT(7, fourth, k);
        MULTIPLY_ADD(2, 4, 6);
        MULTIPLY_ADD(3, 4, 7);
    }
    _tile_stored(0, sums[0], 64);
    _tile_stored(1, sums[1], 64);
    _tile_stored(2, sums[2], 64);
    _tile_stored(3, sums[3], 64);
    MEMORY();
    put(precision, t, 0, column, sums[0]);
    put(precision, t, 0, column + WIDTH, sums[1]);
    put(precision, t, 0, column + 2 * WIDTH, sums[2]);
    put(precision, t, 0, column + 3 * WIDTH, sums[3]);
}

INLINE void all(const int precision, const Tiles *t)
{
    MEMORY(); /* what the registers read is written */
    if (t->rows > SIDE)
        for (int64_t column = 0; column < t->columns; column += 2 * WIDTH)
            square(precision, t, column);
    else
        for (int64_t column = 0; column < t->columns; column += 4 * WIDTH)
            flat(precision, t, column);
}

__attribute__((target(TARGET))) void tiles_amx_bf16(const Tiles *t)
{
    all(BF16, t);
}

__attribute__((target(TARGET))) void tiles_amx_int8(const Tiles *t)
{
    all(INT8, t);
}

#endif

/* How a product is cut into tiles and shared out among threads.
 *
 * b is taken DEPTH units and GROUP panels at a time, which stay in the cache next to the processor while rows of a pass
 * by them (Goto and van de Geijn 2008, "Anatomy of High-Performance Matrix Multiplication").
 */

#if defined(__x86_64__) && defined(__GNUC__)

#ifdef _OPENMP
#include <omp.h>
#else
#define omp_get_thread_num() 0
#define omp_get_num_threads() 1
#endif

#include "tiles.h"
#include "units.h"

/* Panels that are multiplied by a block of rows, one after another. */
#define GROUP 16

/* The most rows of a whose units are made at once, and the room of each. */
#define ROWS 192
#define ROOM (DEPTH + WIDTH)

typedef void LayOut(const Layout *, int64_t);
typedef void MakeTiles(const Tiles *);
typedef void ScaleLine(int64_t, const float *, float *, float *);

/* What multiplies in a precision on this processor. */
typedef struct {
    int64_t height; /* rows of a block at most; a divisor of ROWS */
    int even;       /* whether blocks of about the same height are faster than whole ones and a rest */
    int copies;     /* whether rows of a have to become units; else they are read where they lie */
    int64_t alone;  /* multiply-adds below which a second thread costs more than it gives */
    LayOut *lay_out;
    MakeTiles *tiles;
    void (*begin)(void), (*end)(void);
    ScaleLine *scale_line; /* of INT8 */
} Kernel;

static void nothing(void)
{
}

static const Kernel of_avx2 = {6, 1, 0, 1 << 18, lay_out_fp32, tiles_avx2, nothing, nothing, 0};
static const Kernel of_avx512 = {12, 1, 0, 1 << 19, lay_out_fp32_avx512, tiles_avx512, nothing, nothing, 0};
static const Kernel of_avx512_bf16 = {12, 1, 1, 1 << 20, lay_out_bf16, tiles_avx512_bf16, nothing, nothing, 0};
static const Kernel of_amx_bf16 = {32, 0, 1, 1 << 22, lay_out_bf16, tiles_amx_bf16, amx_begin, amx_end, 0};
static const Kernel of_plain_int8 = {12, 1, 1, 1 << 16, lay_out_plain_int8, tiles_plain_int8, nothing, nothing,
                                     scale_line_plain};
static const Kernel of_avx512_int8 = {12, 1, 1, 1 << 20, lay_out_int8, tiles_avx512_int8, nothing, nothing, scale_line};
static const Kernel of_amx_int8 = {32, 0, 1, 1 << 22, lay_out_int8, tiles_amx_int8, amx_begin, amx_end, scale_line};

/* Null where there is none. */
static const Kernel *kernel_of(int64_t precision)
{
    const int64_t has = instructions();
    if (precision == FP32)
        return has >= AVX512 ? &of_avx512 : has >= AVX2 ? &of_avx2 : 0;
    if (precision == INT8)
        return has >= AMX ? &of_amx_int8 : has >= AVX512_VNNI ? &of_avx512_int8 : &of_plain_int8;
    return has >= AMX ? &of_amx_bf16 : has >= AVX512_BF16 ? &of_avx512_bf16 : 0;
}

int64_t gemm_supports(int64_t precision)
{
    return kernel_of(precision) != 0;
}

typedef struct {
    int64_t from, to;
} Range;

/* The part of ``count`` things that is one thread's. */
static Range share(int64_t count, int64_t thread, int64_t threads)
{
    return (Range){count * thread / threads, count * (thread + 1) / threads};
}

static int64_t up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t numbers_of_unit(int64_t precision)
{
    return precision == FP32 ? 1 : precision == BF16 ? 2 : 4;
}

/* Units of k; those of BF16 and INT8 fill tiles of AMX. */
static int64_t units_of(int64_t precision, int64_t K)
{
    return precision == FP32 ? K : up(K, numbers_of_unit(precision) * WIDTH) * WIDTH;
}

/* Of INT8, a correction and a scale for each column stand in front of the panels. */
static int64_t units_before(int64_t precision, int64_t N)
{
    return precision == INT8 ? 2 * up(N, WIDTH) * WIDTH : 0;
}

typedef struct {
    const Kernel *kernel;
    const Packed *b;
    int64_t M, blocks, units;
    const int32_t *panels;
    const float *a;
    int64_t a_stride;
    int across; /* whether a lies as K x M */
    float *out;
    int64_t out_stride;
    int adds; /* whether the product is added to what is there */
} Product;

static Product product(const Packed *b, int64_t M, const float *a, int64_t a_stride, int across, float *out,
                       int64_t out_stride)
{
    const Kernel *kernel = kernel_of(b->precision);
    return (Product){kernel, b, M, up(M, kernel->height), units_of(b->precision, b->K),
                     (const int32_t *)b->panels + units_before(b->precision, b->N), a, a_stride, across, out, out_stride, 0};
}

static Range rows_of(const Product *p, int64_t block)
{
    if (p->kernel->even)
        return share(p->M, block, p->blocks);
    return (Range){block * p->kernel->height, smaller((block + 1) * p->kernel->height, p->M)};
}

/* Rows of a as units, where they cannot be read as they lie. */
typedef struct {
    int32_t units[(ROWS + WIDTH) * ROOM];
    float inverses[ROWS], scales[ROWS]; /* of INT8 */
} Left;

/* 16 units, from unit j on, of 16 rows of a, or what is left of them: as those of ``rows`` from unit k on. */
static void make_units(const Product *p, Range rows, int64_t row, int64_t k, int64_t depth, int64_t j, Left *left)
{
    const int64_t number = j * numbers_of_unit(p->b->precision);
    const float *from = p->across ? p->a + number * p->a_stride + row : p->a + row * p->a_stride + number;
    const Layout layout = {from, p->a_stride, p->across, smaller(WIDTH, rows.to - row), p->b->K - number,
                           left->units + (row - rows.from) * ROOM + (j - k), ROOM, left->inverses + (row - rows.from)};
    p->kernel->lay_out(&layout, smaller(WIDTH, k + depth - j));
}

/* Units of some rows of a, from unit k on. What lies side by side is read together. */
static void make_left(const Product *p, Range rows, int64_t k, int64_t depth, Left *left)
{
    for (int64_t row = rows.from; p->b->precision == INT8 && row < rows.to; row++)
        p->kernel->scale_line(p->b->K, p->a + row * p->a_stride, left->inverses + (row - rows.from),
                              left->scales + (row - rows.from));
    if (p->across)
        for (int64_t j = k; j < k + depth; j += WIDTH)
            for (int64_t row = rows.from; row < rows.to; row += WIDTH)
                make_units(p, rows, row, k, depth, j, left);
    else
        for (int64_t row = rows.from; row < rows.to; row += WIDTH)
            for (int64_t j = k; j < k + depth; j += WIDTH)
                make_units(p, rows, row, k, depth, j, left);
}

/* All sums of some blocks of rows and some panels, over some units. */
static void sum(const Product *p, Range blocks, Range panels, int64_t k, int64_t depth, const void *left,
                int64_t left_stride, const float *row_scales)
{
    const int32_t *before = p->b->panels;
    const int64_t first = rows_of(p, blocks.from).from;
    for (int64_t panel = panels.from; panel < panels.to; panel += GROUP)
        for (int64_t block = blocks.from; block < blocks.to; block++) {
            const Range rows = rows_of(p, block);
            const int64_t to = smaller(smaller(panel + GROUP, panels.to) * WIDTH, p->b->N);
            const Tiles tiles = {
                .rows = rows.to - rows.from,
                .columns = to - panel * WIDTH,
                .depth = depth,
                .left = (const char *)left + (rows.from - first) * left_stride * sizeof(int32_t),
                .left_stride = left_stride,
                .panels = p->panels + (panel * p->units + k) * WIDTH,
                .panel_stride = p->units * WIDTH,
                .out = p->out + rows.from * p->out_stride + panel * WIDTH,
                .out_stride = p->out_stride,
                .begins = k == 0 && !p->adds,
                .ends = k + depth == p->units,
                .corrections = before + panel * WIDTH,
                .column_scales = (const float *)before + (up(p->b->N, WIDTH) + panel) * WIDTH,
                .row_scales = row_scales + (rows.from - first),
            };
            p->kernel->tiles(&tiles);
        }
}

static void multiply(const Product *p, Range blocks, Range panels)
{
    static _Thread_local _Alignas(64) Left left;
    const int copied = p->kernel->copies || p->across;
    const int64_t group = copied ? ROWS / p->kernel->height : blocks.to - blocks.from;
    p->kernel->begin();
    for (int64_t k = 0; k < p->units; k += DEPTH) {
        const int64_t depth = smaller(DEPTH, p->units - k);
        for (int64_t from = blocks.from; from < blocks.to; from += group) {
            const Range some = {from, smaller(from + group, blocks.to)};
            const Range rows = {rows_of(p, some.from).from, rows_of(p, some.to - 1).to};
            if (copied) {
                make_left(p, rows, k, depth, &left);
                sum(p, some, panels, k, depth, left.units, ROOM, left.scales);
            } else
                sum(p, some, panels, k, depth, p->a + rows.from * p->a_stride + k, p->a_stride, left.scales);
        }
    }
    p->kernel->end();
}

/* Each thread takes some of the rows or some of the panels, of whichever there are more. */
static void one_share(const Product *p, int64_t thread, int64_t threads)
{
    const int64_t panels = up(p->b->N, WIDTH);
    const int by_rows = p->blocks > panels;
    const Range blocks = by_rows ? share(p->blocks, thread, threads) : (Range){0, p->blocks};
    const Range own = by_rows ? (Range){0, panels} : share(panels, thread, threads);
    if (blocks.from == blocks.to || own.from == own.to)
        return;
    if (p->units > 0)
        multiply(p, blocks, own);
    else if (!p->adds)
        for (int64_t row = rows_of(p, blocks.from).from; row < rows_of(p, blocks.to - 1).to; row++)
            memset(p->out + row * p->out_stride + own.from * WIDTH, 0,
                   (smaller(own.to * WIDTH, p->b->N) - own.from * WIDTH) * sizeof(float));
}

void gemm_share(const Packed *b, int64_t M, const float *a, int64_t a_stride, float *out, int64_t out_stride,
                int64_t thread, int64_t threads)
{
    const Product p = product(b, M, a, a_stride, 0, out, out_stride);
    one_share(&p, thread, threads);
}

static void all_shares(const Product *p)
{
#pragma omp parallel if (p->M * p->b->N * p->b->K > p->kernel->alone)
    one_share(p, omp_get_thread_num(), omp_get_num_threads());
}

void gemm(int64_t precision, int64_t M, int64_t N, int64_t K, const float *a, const void *panels, float *out)
{
    const Packed b = {precision, N, K, panels};
    const Product p = product(&b, M, a, K, 0, out, N);
    all_shares(&p);
}

void gemm_of_columns(int64_t precision, int64_t M, int64_t N, int64_t K, const float *a, const void *panels, float *out,
                     int64_t adds)
{
    const Packed b = {precision, N, K, panels};
    Product p = product(&b, M, a, M, 1, out, N);
    p.adds = adds != 0;
    all_shares(&p);
}

int64_t packed_bytes(int64_t precision, int64_t N, int64_t K)
{
    return (units_before(precision, N) + up(N, WIDTH) * WIDTH * units_of(precision, K)) * sizeof(int32_t);
}

/* 16 units of a panel, or what is left of them, from unit k on. */
static void pack(int64_t precision, int64_t N, int64_t K, const float *b, int across, int64_t panel, int64_t k,
                 const float *inverses, int32_t *panels)
{
    const int64_t units = units_of(precision, K), number = k * numbers_of_unit(precision), column = panel * WIDTH;
    const float *from = across ? b + number * N + column : b + column * K + number;
    const Layout layout = {from, across ? N : K, across, smaller(WIDTH, N - column), K - number,
                           panels + units_before(precision, N) + (panel * units + k) * WIDTH, 0, inverses};
    kernel_of(precision)->lay_out(&layout, smaller(WIDTH, units - k));
}

/* The scales of a panel of INT8. */
static void scale_columns(int64_t N, int64_t K, const float *b, int64_t panel, float *inverses, int32_t *panels)
{
    float *scales = (float *)panels + (up(N, WIDTH) + panel) * WIDTH;
    for (int64_t c = 0; c < WIDTH; c++)
        if (panel * WIDTH + c < N)
            kernel_of(INT8)->scale_line(K, b + (panel * WIDTH + c) * K, inverses + c, scales + c);
        else
            scales[c] = 0.0f;
}

/* Of every sum 128 for each number of its column is to be taken away. */
static void correct_columns(int64_t N, int64_t K, int64_t panel, int32_t *panels)
{
    const int64_t units = units_of(INT8, K);
    const int8_t *numbers = (const int8_t *)(panels + units_before(INT8, N) + panel * units * WIDTH);
    for (int64_t c = 0; c < WIDTH; c++) {
        int32_t total = 0;
        for (int64_t k = 0; k < units; k++)
            for (int64_t i = 0; i < 4; i++)
                total += numbers[(k * WIDTH + c) * 4 + i];
        panels[panel * WIDTH + c] = -128 * total;
    }
}

/* Numbers below which a second thread costs more than it gives. */
#define FEW (1 << 16)

void pack_rows(int64_t precision, int64_t N, int64_t K, const float *b, void *panels)
{
#pragma omp parallel for schedule(static) if (N * K > FEW)
    for (int64_t panel = 0; panel < up(N, WIDTH); panel++) {
        float inverses[WIDTH];
        if (precision == INT8)
            scale_columns(N, K, b, panel, inverses, panels);
        for (int64_t k = 0; k < units_of(precision, K); k += WIDTH)
            pack(precision, N, K, b, 0, panel, k, inverses, panels);
        if (precision == INT8)
            correct_columns(N, K, panel, panels);
    }
}

/* What lies side by side in b is read together. */
void pack_columns(int64_t precision, int64_t N, int64_t K, const float *b, void *panels)
{
#pragma omp parallel for schedule(static) if (N * K > FEW)
    for (int64_t k = 0; k < units_of(precision, K); k += WIDTH)
        for (int64_t panel = 0; panel < up(N, WIDTH); panel++)
            pack(precision, N, K, b, 1, panel, k, 0, panels);
}

#endif

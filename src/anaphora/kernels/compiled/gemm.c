/* Packed GEMM: matrix products of single precision on processors with AVX2.
 *
 *     gemm              out = a b      a is M x K, its rows one after another
 *     gemm_of_columns   out = a' b     a is K x M
 *
 * b (K x N) is laid out in panels of 16 columns, each K x 16 with zeros behind the last column. A tile of 6 x 16 sums
 * stays in registers while k goes by: two loads of b and six numbers of a make twelve multiply-adds. b is taken DEPTH
 * rows and GROUP panels at a time, which stay in the cache next to the processor while all rows of a pass by them (Goto
 * and van de Geijn 2008, "Anatomy of High-Performance Matrix Multiplication").
 *
 * Every sum is made in the order of k, by itself: a row has the same bits whatever stands beside it, however many rows
 * there are, and with any number of threads.
 */

#include "gemm.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>
#include <omp.h>

#define WIDTH 16
#define HEIGHT 6
#define DEPTH 512
#define GROUP 8

/* Rows that are laid out at once, so that what was read of them is still near when the next panel is made. */
#define STRIP 32

/* Multiply-adds below which a second thread costs more than it gives. */
#define ALONE (1 << 18)

#define WITH_AVX2 __attribute__((target("avx2,fma")))
#define INLINE WITH_AVX2 static inline __attribute__((always_inline))

typedef struct {
    const float *a;
    int64_t row, step; /* from one row of a to the next, from one k to the next */
} Rows;

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The sums of a tile over the next ``depth`` values of k, for a number of rows that is known when this is compiled. */
INLINE void tile(const int rows, Rows a, const float *panel, int64_t depth, float *out, int64_t stride, int64_t columns,
                 int begins)
{
    __m256 left[HEIGHT], right[HEIGHT];
    for (int r = 0; r < rows; r++)
        left[r] = right[r] = _mm256_setzero_ps();
    for (int64_t k = 0; k < depth; k++) {
        const __m256 b_left = _mm256_loadu_ps(panel + k * WIDTH), b_right = _mm256_loadu_ps(panel + k * WIDTH + 8);
#pragma GCC unroll 6
        for (int r = 0; r < rows; r++) {
            const __m256 x = _mm256_set1_ps(a.a[r * a.row + k * a.step]);
            left[r] = _mm256_fmadd_ps(x, b_left, left[r]);
            right[r] = _mm256_fmadd_ps(x, b_right, right[r]);
        }
    }
    for (int r = 0; r < rows; r++) {
        float edge[WIDTH] = {0}, *to = out + r * stride, *whole = columns == WIDTH ? to : edge;
        if (!begins) {
            if (columns < WIDTH)
                memcpy(edge, to, columns * sizeof(float));
            left[r] = _mm256_add_ps(_mm256_loadu_ps(whole), left[r]);
            right[r] = _mm256_add_ps(_mm256_loadu_ps(whole + 8), right[r]);
        }
        _mm256_storeu_ps(whole, left[r]);
        _mm256_storeu_ps(whole + 8, right[r]);
        if (columns < WIDTH)
            memcpy(to, edge, columns * sizeof(float));
    }
}

INLINE void tile_of(int64_t rows, Rows a, const float *panel, int64_t depth, float *out, int64_t stride,
                    int64_t columns, int begins)
{
    switch (rows) {
    case 6: tile(6, a, panel, depth, out, stride, columns, begins); break;
    case 5: tile(5, a, panel, depth, out, stride, columns, begins); break;
    case 4: tile(4, a, panel, depth, out, stride, columns, begins); break;
    case 3: tile(3, a, panel, depth, out, stride, columns, begins); break;
    case 2: tile(2, a, panel, depth, out, stride, columns, begins); break;
    default: tile(1, a, panel, depth, out, stride, columns, begins);
    }
}

typedef struct {
    int64_t from, to;
} Range;

/* The part of ``count`` things that is one thread's. */
static inline Range share(int64_t count, int64_t thread, int64_t threads)
{
    return (Range){count * thread / threads, count * (thread + 1) / threads};
}

/* All sums of some blocks of rows and some panels; M rows are cut into ``blocks`` that differ by one row at most. */
WITH_AVX2 static void rows_by_panels(Range rows, Range panels, int64_t blocks, int64_t M, int64_t N, int64_t K,
                                     const float *a, const float *b, float *out)
{
    for (int64_t k = 0; k < K; k += DEPTH) {
        const int64_t depth = smaller(DEPTH, K - k);
        for (int64_t group = panels.from; group < panels.to; group += GROUP)
            for (int64_t block = rows.from; block < rows.to; block++) {
                const Range m = share(M, block, blocks);
                for (int64_t panel = group; panel < smaller(group + GROUP, panels.to); panel++)
                    tile_of(m.to - m.from, (Rows){a + m.from * K + k, K, 1}, b + (panel * K + k) * WIDTH, depth,
                            out + m.from * N + panel * WIDTH, N, smaller(WIDTH, N - panel * WIDTH), k == 0);
            }
    }
}

static void gather(int64_t rows, int64_t depth, const float *a, int64_t step, float *gathered)
{
    for (int64_t k = 0; k < depth; k++)
        if (rows == HEIGHT)
            memcpy(gathered + k * HEIGHT, a + k * step, HEIGHT * sizeof(float));
        else
            memcpy(gathered + k * HEIGHT, a + k * step, rows * sizeof(float));
}

/* The same for a' b. The numbers of a that a block needs lie far apart, so they are gathered first, once for all panels. */
WITH_AVX2 static void columns_by_panels(Range rows, Range panels, int64_t blocks, int64_t M, int64_t N, int64_t K,
                                        const float *a, const float *b, float *out)
{
    float gathered[DEPTH * HEIGHT];
    for (int64_t k = 0; k < K; k += DEPTH) {
        const int64_t depth = smaller(DEPTH, K - k);
        for (int64_t block = rows.from; block < rows.to; block++) {
            const Range m = share(M, block, blocks);
            gather(m.to - m.from, depth, a + k * M + m.from, M, gathered);
            for (int64_t panel = panels.from; panel < panels.to; panel++)
                tile_of(m.to - m.from, (Rows){gathered, 1, HEIGHT}, b + (panel * K + k) * WIDTH, depth,
                        out + m.from * N + panel * WIDTH, N, smaller(WIDTH, N - panel * WIDTH), k == 0);
        }
    }
}

typedef void Part(Range, Range, int64_t, int64_t, int64_t, int64_t, const float *, const float *, float *);

/* Each thread takes some of the rows or some of the panels, of whichever there are more. */
static void part_of(Part *part, int64_t thread, int64_t threads, int64_t M, int64_t N, int64_t K, const float *a,
                    const float *b, float *out)
{
    const int64_t blocks = (M + HEIGHT - 1) / HEIGHT, panels = (N + WIDTH - 1) / WIDTH;
    if (blocks > panels)
        part(share(blocks, thread, threads), (Range){0, panels}, blocks, M, N, K, a, b, out);
    else
        part((Range){0, blocks}, share(panels, thread, threads), blocks, M, N, K, a, b, out);
}

void gemm_share(const Packed *b, int64_t M, const float *a, float *out, int64_t thread, int64_t threads)
{
    part_of(rows_by_panels, thread, threads, M, b->N, b->K, a, b->panels, out);
}

static void shared_out(Part *part, int64_t M, int64_t N, int64_t K, const float *a, const float *b, float *out)
{
    if (K == 0 && M * N > 0) /* of a tensor without numbers the address is null */
        memset(out, 0, M * N * sizeof(float));
#pragma omp parallel if (M * N * K > ALONE)
    part_of(part, omp_get_thread_num(), omp_get_num_threads(), M, N, K, a, b, out);
}

void gemm(int64_t M, int64_t N, int64_t K, const float *a, const float *panels, float *out)
{
    shared_out(rows_by_panels, M, N, K, a, panels, out);
}

void gemm_of_columns(int64_t M, int64_t N, int64_t K, const float *a, const float *panels, float *out)
{
    shared_out(columns_by_panels, M, N, K, a, panels, out);
}

/* b lies as N x K: every row of it is a column of the product. */
void pack_rows(int64_t N, int64_t K, const float *b, float *panels)
{
#pragma omp parallel for schedule(static) if (N *K > ALONE / HEIGHT)
    for (int64_t panel = 0; panel < (N + WIDTH - 1) / WIDTH; panel++)
        for (int64_t k = 0; k < K; k++)
            for (int64_t c = 0, n = panel * WIDTH; c < WIDTH; c++, n++)
                panels[(panel * K + k) * WIDTH + c] = n < N ? b[n * K + k] : 0.0f;
}

/* b lies as K x N. */
void pack_columns(int64_t N, int64_t K, const float *b, float *panels)
{
    const int64_t whole = N / WIDTH, rest = N % WIDTH;
#pragma omp parallel for schedule(static) if (N *K > ALONE / HEIGHT)
    for (int64_t from = 0; from < K; from += STRIP) {
        const int64_t to = smaller(from + STRIP, K);
        for (int64_t panel = 0; panel < whole; panel++)
            for (int64_t k = from; k < to; k++)
                memcpy(panels + (panel * K + k) * WIDTH, b + k * N + panel * WIDTH, WIDTH * sizeof(float));
        for (int64_t k = from; rest && k < to; k++) {
            float *last = panels + (whole * K + k) * WIDTH;
            memset(last, 0, WIDTH * sizeof(float));
            memcpy(last, b + k * N + whole * WIDTH, rest * sizeof(float));
        }
    }
}

#endif

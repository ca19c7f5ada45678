/* The window of kernels/window.py, Gaussian by Gaussian; the numbering is the same. */

#include "loop.h"

/* exp(hat), but that of ``largest`` beyond it. */
ALWAYS float bounded(float hat, float largest)
{
    return exponential(hat > largest ? largest : hat);
}

/* E at distance d, where exponential() would give more than 0 far out. */
ALWAYS float bell(float beta, float d)
{
    const float m = -beta * (d * d);
    return m < -87.0f ? 0.0f : exponential(m);
}

EVERY_PROCESSOR static void move(int64_t size, float largest, const float *restrict hat, const float *restrict before,
                                 float *restrict kappa, float *restrict derivative)
{
    for (int64_t k = 0; k < size; k++) {
        const float step = bounded(hat[k], largest);
        kappa[k] = before[k] + step; /* 1 */
        derivative[k] = hat[k] > largest ? 0.0f : step;
    }
}

EVERY_PROCESSOR static void forward(Window open, float alpha, float beta, float kappa, float *restrict phi)
{
    for (int64_t s = open.from; s < open.to; s++)
        phi[s] += alpha * bell(beta, kappa - (float)(s + 1)); /* 3, 4 */
}

/* sums of dphi_s E_s, times 1, d_s and d_s^2. */
typedef struct {
    float of_E, of_d, of_square;
} Sums;

EVERY_PROCESSOR static Sums backward(int64_t size, float beta, float first, const float *restrict dphi)
{
    float of_E[LANES] = {0}, of_d[LANES] = {0}, of_square[LANES] = {0};
    Sums sums = {0, 0, 0};
    for (int64_t begin = 0; begin < size; begin += LANES) {
        const int64_t count = size - begin < LANES ? size - begin : LANES;
        for (int64_t lane = 0; lane < count; lane++) {
            const float d = first - (float)(begin + lane), dE = dphi[begin + lane] * bell(beta, d);
            of_E[lane] += dE;
            of_d[lane] += dE * d;
            of_square[lane] += dE * d * d;
        }
    }
    for (int64_t lane = 0; lane < LANES; lane++) {
        sums.of_E += of_E[lane];
        sums.of_d += of_d[lane];
        sums.of_square += of_square[lane];
    }
    return sums;
}

/* kappa, derivative | hat, kappa_{t-1}, largest: of the blocks of hat, the last. */
void window_move(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[0].width;
    for (int64_t row = from; row < to; row++)
        move(size, *of[4].numbers, row_of(of[2], row) + 2 * size, row_of(of[3], row), row_of(of[0], row),
             row_of(of[1], row));
}

/* dhat | dkappa, derivative */
void window_move_back(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[1].width;
    for (int64_t row = from; row < to; row++) {
        float *dhat = row_of(of[0], row);
        memset(dhat, 0, 2 * size * sizeof(float));
        for (int64_t k = 0; k < size; k++)
            dhat[2 * size + k] = row_of(of[1], row)[k] * row_of(of[2], row)[k]; /* 1 */
    }
}

/* phi | hat, kappa, open, largest: the open positions (loop.h); the weights of others are 0. */
void gaussian_window(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[2].width;
    const float largest = *of[4].numbers;
    for (int64_t row = from; row < to; row++) {
        const float *hat = row_of(of[1], row), *kappa = row_of(of[2], row);
        memset(row_of(of[0], row), 0, of[0].width * sizeof(float));
        for (int64_t k = 0; k < size; k++)
            forward(window_of(of[3], row), bounded(hat[k], largest), bounded(hat[size + k], largest), kappa[k],
                    row_of(of[0], row)); /* 2 */
    }
}

/* dhat, dkappa | dphi, hat, kappa, open, largest */
void gaussian_window_back(int64_t from, int64_t to, const Block *of)
{
    const int64_t size = of[4].width;
    const float largest = *of[6].numbers;
    for (int64_t row = from; row < to; row++) {
        const float *hat = row_of(of[3], row), *kappa = row_of(of[4], row);
        float *dhat = row_of(of[0], row), *dkappa = row_of(of[1], row);
        const Window open = window_of(of[5], row);
        memset(dhat + 2 * size, 0, size * sizeof(float));
        for (int64_t k = 0; k < size; k++) {
            const float alpha = bounded(hat[k], largest), beta = bounded(hat[size + k], largest); /* 2 */
            const Sums sums = backward(open.to - open.from, beta, kappa[k] - (float)(open.from + 1),
                                       row_of(of[2], row) + open.from);
            const float d = -2.0f * beta * alpha * sums.of_d; /* 3 */
            dhat[k] = hat[k] > largest ? 0.0f : sums.of_E * alpha; /* 4, 2 */
            dhat[size + k] = hat[size + k] > largest ? 0.0f : -alpha * sums.of_square * beta; /* 3, 2 */
            dkappa[k] = of[1].adds ? dkappa[k] + d : d;
        }
    }
}

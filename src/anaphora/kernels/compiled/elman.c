/* Step 2 of cells/elman.py, and back; the numbering is the same. */

#include "loop.h"

typedef enum { TANH, SIGMOID, RELU } Activation;

EVERY_PROCESSOR static void forward(int64_t size, Activation f, const float *restrict a, const float *restrict x,
                                    float *restrict h)
{
    for (int64_t j = 0; j < size; j++) {
        const float z = a[j] + x[j]; /* 1 */
        h[j] = f == TANH ? hyperbolic_tangent(z) : f == SIGMOID ? sigmoid(z) : z < 0.0f ? 0.0f : z; /* 2 */
    }
}

EVERY_PROCESSOR static void backward(int64_t size, Activation f, const float *restrict h, const float *restrict dh,
                                     float *restrict da)
{
    for (int64_t j = 0; j < size; j++)
        da[j] = f == TANH      ? dh[j] * (1.0f - h[j] * h[j])
                : f == SIGMOID ? dh[j] * (h[j] - h[j] * h[j])
                : h[j] > 0.0f  ? dh[j]
                               : 0.0f; /* 2 */
}

static void step(Activation f, int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        forward(of[0].width, f, row_of(of[1], row), row_of(of[2], row), row_of(of[0], row));
}

static void step_back(Activation f, int64_t from, int64_t to, const Block *of)
{
    for (int64_t row = from; row < to; row++)
        backward(of[0].width, f, row_of(of[1], row), row_of(of[2], row), row_of(of[0], row));
}

/* h | a, x: a is the recurrent product. */
void elman_step_tanh(int64_t from, int64_t to, const Block *of)
{
    step(TANH, from, to, of);
}

void elman_step_sigmoid(int64_t from, int64_t to, const Block *of)
{
    step(SIGMOID, from, to, of);
}

void elman_step_relu(int64_t from, int64_t to, const Block *of)
{
    step(RELU, from, to, of);
}

/* da | h, dh */
void elman_step_tanh_back(int64_t from, int64_t to, const Block *of)
{
    step_back(TANH, from, to, of);
}

void elman_step_sigmoid_back(int64_t from, int64_t to, const Block *of)
{
    step_back(SIGMOID, from, to, of);
}

void elman_step_relu_back(int64_t from, int64_t to, const Block *of)
{
    step_back(RELU, from, to, of);
}

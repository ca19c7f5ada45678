/* Step 1 of scores/hybrid.py: what filters see around each position in the weights of the step before, and back.
 *
 * A filter has R = 2 r + 1 numbers. What it sees lies filter by filter, a number for each position.
 */

#include "loop.h"

/* The open positions s for which s + shift is one of ``positions``. */
ALWAYS Window shifted(Window open, int64_t positions, int64_t shift)
{
    const int64_t from = open.from < -shift ? -shift : open.from;
    const int64_t to = open.to > positions - shift ? positions - shift : open.to;
    return (Window){from, to > from ? to : from};
}

EVERY_PROCESSOR static void forward(int64_t positions, int64_t width, Window open, const float *restrict filter,
                                    const float *restrict a, float *restrict f)
{
    for (int64_t j = 0; j < width; j++) {
        const int64_t shift = j - width / 2;
        const Window seen = shifted(open, positions, shift);
        for (int64_t s = seen.from; s < seen.to; s++)
            f[s] += filter[j] * a[s + shift]; /* 1 */
    }
}

EVERY_PROCESSOR static void backward(int64_t positions, int64_t width, Window open, const float *restrict filter,
                                     const float *restrict a, const float *restrict df, float *restrict da,
                                     float *restrict dfilter)
{
    for (int64_t j = 0; j < width; j++) {
        const int64_t shift = j - width / 2;
        const Window seen = shifted(open, positions, shift);
        dfilter[j] += scalar_product(seen.to - seen.from, df + seen.from, a + seen.from + shift); /* 1 */
        for (int64_t s = seen.from; s < seen.to; s++)
            da[s + shift] += filter[j] * df[s];
    }
}

/* f | a_{t-1}, filters, open */
void location_features(int64_t from, int64_t to, const Block *of)
{
    const int64_t positions = of[1].width, filters = of[0].width / positions, width = of[2].width / filters;
    for (int64_t row = from; row < to; row++) {
        memset(row_of(of[0], row), 0, of[0].width * sizeof(float));
        for (int64_t n = 0; n < filters; n++)
            forward(positions, width, window_of(of[3], row), of[2].numbers + n * width, row_of(of[1], row),
                    row_of(of[0], row) + n * positions);
    }
}

/* da_{t-1}, dfilters | df, a_{t-1}, filters, open: dfilters (one for each row) are added to. */
void location_features_back(int64_t from, int64_t to, const Block *of)
{
    const int64_t positions = of[0].width, filters = of[2].width / positions, width = of[4].width / filters;
    for (int64_t row = from; row < to; row++) {
        if (!of[0].adds)
            memset(row_of(of[0], row), 0, positions * sizeof(float));
        for (int64_t n = 0; n < filters; n++)
            backward(positions, width, window_of(of[5], row), of[4].numbers + n * width, row_of(of[3], row),
                     row_of(of[2], row) + n * positions, row_of(of[0], row), row_of(of[1], row) + n * width);
    }
}

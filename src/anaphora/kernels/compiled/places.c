/* Places of numbers in an ascending list.
 *
 * A binary search waits for memory at every step. Several at once, in step with each other, wait for all of theirs
 * together.
 */

#include "pointwise.h"

#define BESIDE 16

/* The places of up to BESIDE ``keys`` among ``count`` ascending ``numbers``, at least 1; -1 for those that are none. */
static void some_places(int64_t count, const int64_t *numbers, int64_t beside, const int64_t *keys, int64_t *places)
{
    int64_t at[BESIDE] = {0}; /* the last number that is not larger, if there is one */
    for (int64_t left = count; left > 1; left -= left / 2)
        for (int64_t i = 0; i < beside; i++)
            at[i] += numbers[at[i] + left / 2] <= keys[i] ? left / 2 : 0;
    for (int64_t i = 0; i < beside; i++)
        places[i] = numbers[at[i]] == keys[i] ? at[i] : -1;
}

void find_places(int64_t count, int64_t searches, const int64_t *numbers, const int64_t *keys, int64_t *places)
{
    ROWS(searches)
    for (int64_t from = 0; from < searches; from += BESIDE)
        some_places(count, numbers, searches - from < BESIDE ? searches - from : BESIDE, keys + from, places + from);
}

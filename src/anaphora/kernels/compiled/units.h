/* How numbers become units: of panels, and of left sides that cannot be read where they lie. */

#ifndef ANAPHORA_UNITS_H
#define ANAPHORA_UNITS_H

#include <stdint.h>

/* Up to 16 lines of up to 16 units: rows of a, or columns of b. */
typedef struct {
    const float *numbers; /* the first of the first line */
    int64_t stride;
    int across; /* a line's next number is ``stride`` numbers on, the next line's is beside it; else the other way round */
    int64_t lines, length;
    int32_t *units;
    int64_t room; /* units from one line of a left side to the next; 0 in a panel, where lines lie side by side */
} Layout;

/* What lies behind the lines and their numbers becomes zero: all 16 lines in a panel, ``units`` of each line. */
void lay_out_fp32(const Layout *layout, int64_t units);
void lay_out_fp32_avx512(const Layout *layout, int64_t units);
void lay_out_bf16(const Layout *layout, int64_t units); /* AVX512_BF16; always 16 units */

#endif

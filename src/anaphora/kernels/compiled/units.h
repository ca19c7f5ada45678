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
    const float *inverses; /* of INT8: what each line is multiplied with before it is rounded */
} Layout;

/* What lies behind the lines and their numbers becomes zero: all 16 lines in a panel, ``units`` of each line. */
void lay_out_fp32(const Layout *layout, int64_t units);
void lay_out_fp32_avx512(const Layout *layout, int64_t units);
void lay_out_bf16(const Layout *layout, int64_t units); /* AVX512_BF16; always 16 units */
/* Of lines that are not across. */
void lay_out_int8(const Layout *layout, int64_t units); /* AVX512_VNNI; always 16 units */
void lay_out_plain_int8(const Layout *layout, int64_t units);

/* What a line of INT8 is rounded with, and what a sum of it is multiplied with: 127 / its largest size, and the inverse
 * of that. The first is 0 for a line of zeros, or of numbers so small that it would be infinite; the second is not a
 * number where the line has one that is not finite.
 */
void scale_line(int64_t length, const float *numbers, float *inverse, float *scale); /* AVX512_VNNI */
void scale_line_plain(int64_t length, const float *numbers, float *inverse, float *scale);

#endif

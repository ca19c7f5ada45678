/* What the processor can run, as steps of which each has all before it. */

#ifndef ANAPHORA_PROCESSOR_H
#define ANAPHORA_PROCESSOR_H

#include <stdint.h>

typedef enum { BASELINE, AVX2, AVX512, AVX512_VNNI, AVX512_BF16, AMX } Instructions;

/* The last of them that this processor, its system and ``limit_instructions`` allow. */
int64_t instructions(void);

/* Allow none after ``most`` from now on, in all threads: so that one processor can compare them. */
void limit_instructions(int64_t most);

#endif

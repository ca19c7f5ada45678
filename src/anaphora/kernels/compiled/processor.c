#include "processor.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* Registers that the system saves when it changes between threads: bits of XCR0. */
#define SAVES_AVX 0x6u
#define SAVES_AVX512 0xe6u
#define SAVES_AMX 0x60000u

static uint32_t saved_registers(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* Linux gives a process the tile registers when it asks for them: arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA). */
static int tiles_are_permitted(void)
{
#if defined(__linux__) && defined(SYS_arch_prctl)
    return syscall(SYS_arch_prctl, 0x1023, 18) == 0;
#else
    return 0;
#endif
}

#define ALL(word, bits) (((word) & (bits)) == (bits))

static Instructions found(void)
{
    uint32_t a, b, c, d, b7, c7, d7, a71 = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !ALL(c, bit_FMA | bit_OSXSAVE | bit_AVX) || __get_cpuid_max(0, 0) < 7)
        return BASELINE;
    const uint32_t saved = saved_registers();
    __cpuid_count(7, 0, a, b7, c7, d7);
    if (a >= 1)
        __cpuid_count(7, 1, a71, b, c, d);
    if (!ALL(saved, SAVES_AVX) || !ALL(b7, bit_AVX2))
        return BASELINE;
    if (!ALL(saved, SAVES_AVX512) || !ALL(b7, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL))
        return AVX2;
    if (!ALL(c7, bit_AVX512VNNI))
        return AVX512;
    if (!ALL(a71, 1u << 5)) /* AVX512_BF16 */
        return AVX512_VNNI;
    const uint32_t amx = 1u << 22 | 1u << 24 | 1u << 25; /* of bf16, tiles, int8 */
    return ALL(saved, SAVES_AMX) && ALL(d7, amx) && tiles_are_permitted() ? AMX : AVX512_BF16;
}

static int64_t detected = -1, limit = AMX;

int64_t instructions(void)
{
    if (detected < 0) /* every thread finds the same */
        detected = found();
    return detected < limit ? detected : limit;
}

void limit_instructions(int64_t most)
{
    limit = most;
}

#endif

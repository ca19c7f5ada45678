/* Identity of the sources of this library, which setup.py computes (sources.py) and library.py compares. */

#include <stdint.h>

int64_t sources_digest(void)
{
    return SOURCES_DIGEST;
}

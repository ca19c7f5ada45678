/* What a search has written of a sentence, and when it ends. */

#ifndef ANAPHORA_CHOOSE_H
#define ANAPHORA_CHOOSE_H

#include <stdint.h>

/* Eight bytes each, as kernels/greedy_decoding.py fills them in. */
typedef struct {
    int64_t token;    /* what is read next */
    int64_t sentence; /* its place in the batch */
    int64_t longest;  /* tokens that it may have */
    int64_t lines;    /* </s> that end it */
    int64_t forced;   /* tokens that it begins with; they are there already, and a </s> among them ends nothing */
    int64_t tokens;   /* how many were written */
    int64_t ended;    /* whether the last of them was */
    double score;     /* ln p of all of them */
} Written;

#endif

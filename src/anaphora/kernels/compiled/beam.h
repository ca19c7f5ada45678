/* What a beam search has written, and the step that it takes. */

#ifndef ANAPHORA_BEAM_H
#define ANAPHORA_BEAM_H

#include <stdint.h>

/* All of these have eight bytes for each field, as compiled/beam.py fills them in. */

/* A row of a step: a hypothesis that is continued. Those of a sentence lie side by side, best first. */
typedef struct {
    int64_t token;    /* what is read next */
    int64_t sentence; /* its place in the batch */
    int64_t parent;   /* its row a step before */
    int64_t forced;   /* the token that has to follow; -1 for none */
    double total;     /* ln p of all tokens */
} Hypothesis;

/* A hypothesis that ended. */
typedef struct {
    int64_t sentence, row, token; /* the row that was read last, and the last token */
    double total, rank;
} Ended;

typedef struct {
    int64_t tokens; /* that it may have */
    int64_t forced; /* that it begins with */
} Limits;

typedef struct {
    int64_t size, each, results, end; /* hypotheses of a sentence, continuations of a row, results of a sentence, </s> */
    int64_t width, longest;           /* of the rows of attention, 0 where it is not kept; and of those of prefixes */
    int64_t lengths;                  /* of the rows of log_lengths, 0 where there are none */
    const Limits *limits;
    const int64_t *prefixes;   /* sentences x longest */
    const double *norms;       /* what the total of 1, 2, .. tokens is divided by to be a rank */
    const double *log_lengths; /* sentences x lengths: what is added to the total of 1, 2, .. tokens before that */
    double *best;              /* sentences x results: the greatest ranks so far */
    const float *values;       /* rows x each: ln p of the most probable tokens of a row */
    const int64_t *tokens;     /* these tokens */
    Hypothesis *rows, *next;   /* of this step; and room for those of the next */
    int64_t live, taken;       /* rows of this step, and steps that were taken */
    Hypothesis *stayed;        /* the rows of each further step, one step after another */
    int64_t *counts;           /* how many stayed and how many ended at each step */
    Ended *ended;              /* one step after another */
    float *weights;            /* attention of the rows of each step, one step after another */
} Beam;

/* Chooses the rows of the next step, and writes down what ended. */
void choose_rows(Beam *beam);

#endif

/* The time loop: a list of operations, run for every step in one call, by threads that are held all the time.
 *
 * Rows lie step after step, each step with the sentences that are still there, longest first: the rows of a step are one
 * stretch, and what they were a step before is the start of the stretch before it (kernels/rows.py).
 */

#include <string.h>

#include "beam.h"
#include "choose.h"
#include "gemm.h"
#include "loop.h"

#define OPERANDS 10

/* Where an operand lies: in one place for all steps, among the rows of this step, of the same sentences a step before, in
 * one place with a row for each sentence, or in room for the rows that a thread takes at once.
 */
typedef enum { FIXED, NOW, BEFORE, OF_SENTENCE, ROOM_OF_THREAD } Place;

typedef struct {
    float *numbers; /* of the first row of the first step */
    int64_t width, place, adds;
} Operand;

/* One of the list, as numbers of eight bytes each. */
typedef struct {
    Operation *function;
    Operand operands[OPERANDS];
} Entry;

/* One function, for rows that lie in one place each; by as many threads. */
void once(int64_t rows, const Entry *entry, int64_t threads)
{
    Block of[OPERANDS];
    for (int64_t n = 0; n < OPERANDS; n++)
        of[n] = (Block){entry->operands[n].numbers, entry->operands[n].width, entry->operands[n].adds};
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t thread = 0; thread < threads; thread++)
        entry->function(rows * thread / threads, rows * (thread + 1) / threads, of);
}

#if defined(__x86_64__) && defined(__GNUC__) /* where gemm.c has a product */

#ifdef _OPENMP
#include <omp.h>
#define THREAD omp_get_thread_num()
#define THREADS omp_get_num_threads()
#else
#define THREAD 0
#define THREADS 1
#endif

/* out = a b, by one thread: out | a, b (a Packed). As an entry of the list it is shared out by columns instead. */
void product(int64_t from, int64_t to, const Block *of)
{
    gemm_share((const Packed *)of[2].numbers, to - from, row_of(of[1], from), of[1].width, row_of(of[0], from),
               of[0].width, 0, 1);
}

/* The rows of one step, and where those of its sentences a step before begin; a first value lies before all rows. The
 * rows are hypotheses of the same sentences, one group after another; outside of search there is one. Those of a beam
 * know their sentences by themselves.
 */
typedef struct {
    int64_t rows, begins, before, hypotheses;
    const Hypothesis *beam; /* null for all else */
    int64_t room;           /* rows of other threads */
} Step;

/* The operands of an entry, ``skipped`` rows into the step. */
static void find(const Entry *entry, Step step, int64_t skipped, Block *of)
{
    for (int64_t n = 0; n < OPERANDS; n++) {
        const Operand operand = entry->operands[n];
        int64_t row = 0;
        if (operand.place == NOW || operand.place == BEFORE)
            row = skipped + (operand.place == NOW ? step.begins : step.before);
        else if (operand.place == OF_SENTENCE && step.beam)
            row = step.beam[skipped].sentence;
        else if (operand.place == ROOM_OF_THREAD)
            row = step.room + skipped;
        of[n] = (Block){operand.numbers + row * operand.width, operand.width, operand.adds};
    }
}

static int is_by_sentence(const Entry *entry)
{
    for (int64_t n = 0; n < OPERANDS; n++)
        if (entry->operands[n].place == OF_SENTENCE)
            return 1;
    return 0;
}

/* The rows ``from`` .. ``to`` - 1 of a beam, one by one where they read what belongs to their sentences. */
static void take_rows_of_beam(const Entry *entry, Step step, int64_t from, int64_t to)
{
    Block of[OPERANDS];
    if (!is_by_sentence(entry)) {
        find(entry, step, 0, of);
        entry->function(from, to, of);
        return;
    }
    for (int64_t row = from; row < to; row++) {
        find(entry, step, row, of);
        entry->function(0, 1, of);
    }
}

/* The rows ``from`` .. ``to`` - 1, each hypothesis with the fixed operands of its sentence. */
static void take_rows(const Entry *entry, Step step, int64_t from, int64_t to)
{
    const int64_t sentences = step.rows / step.hypotheses;
    for (int64_t begins = 0; begins < to; begins += sentences) {
        const int64_t first = from > begins ? from - begins : 0, end = to - begins < sentences ? to - begins : sentences;
        Block of[OPERANDS];
        find(entry, step, begins, of);
        if (first < end)
            entry->function(first, end, of);
    }
}

/* The rows ``from`` .. ``to`` - 1 of one step, by one thread. */
static void take(Step step, int64_t from, int64_t to, int64_t count, const Entry *entries)
{
    for (int64_t n = 0; n < count && from < to; n++)
        if (entries[n].function == product) {
            Block of[OPERANDS];
            find(entries + n, step, 0, of);
            product(from, to, of);
        } else
            (step.beam ? take_rows_of_beam : take_rows)(entries + n, step, from, to);
}

/* The same, for ``some`` rows after another: what the entries leave for each other stays near the processor. */
static void take_some(Step step, int64_t from, int64_t to, int64_t count, const Entry *entries, int64_t some)
{
    for (; from < to; from += some) {
        const int64_t rows = to - from < some ? to - from : some;
        const Step those = {rows, step.begins + from, 0, 1, step.beam ? step.beam + from : 0, THREAD * some};
        take(those, 0, rows, count, entries);
    }
}

/* What a thread has done since all threads met last: they meet before one reads what another may have written. */
typedef enum { NOTHING, ROWS_OF_ITS_OWN, COLUMNS_OF_ITS_OWN } Done;

static void meet(Done *done)
{
#ifdef _OPENMP
#pragma omp barrier
#endif
    *done = NOTHING;
}

/* One step, by all threads: of products each has some columns, of everything else some rows. */
static Done share(Step step, int64_t count, const Entry *entries, Done done)
{
    const int64_t thread = THREAD, threads = THREADS;
    const int64_t from = step.rows * thread / threads, to = step.rows * (thread + 1) / threads;
    for (int64_t n = 0; n < count; n++) {
        if (entries[n].function == product) {
            Block of[OPERANDS];
            find(entries + n, step, 0, of);
            if (done != NOTHING)
                meet(&done);
            gemm_share((const Packed *)of[2].numbers, step.rows, of[1].numbers, of[1].width, of[0].numbers,
                       of[0].width, thread, threads);
            done = COLUMNS_OF_ITS_OWN;
        } else {
            if (done == COLUMNS_OF_ITS_OWN)
                meet(&done);
            (step.beam ? take_rows_of_beam : take_rows)(entries + n, step, from, to);
            done = ROWS_OF_ITS_OWN;
        }
    }
    return done;
}

/* The last entries of a step of search, which each thread takes for some of its own rows after another. */
static Done share_last(Step step, int64_t count, const Entry *entries, int64_t some, Done done)
{
    if (step.rows <= some)
        return share(step, count, entries, done);
    if (done == COLUMNS_OF_ITS_OWN)
        meet(&done);
    take_some(step, step.rows * THREAD / THREADS, step.rows * (THREAD + 1) / THREADS, count, entries, some);
    return ROWS_OF_ITS_OWN;
}

/* Rows that go through many steps while what they read and write is near. */
#define NEAR 48

/* How many groups of neighbouring rows take their steps one group after another, a thread each; 0 where all threads share
 * every step, since there are too few groups for equal shares: the first have the longest sentences.
 */
static int64_t groups_of(int64_t rows, int64_t threads)
{
    const int64_t groups = (rows + NEAR - 1) / NEAR;
    return threads == 1 || groups >= 4 * threads ? groups : 0;
}

/* The least rows of a thread that takes all steps of a search with them: products of fewer wait for weights. */
#define ENOUGH 16

/* The same for a search, whose sentences end at about the same step and are shared out anew in each call. */
static int64_t groups_of_search(int64_t rows, int64_t threads)
{
    const int64_t each = (rows + NEAR * threads - 1) / (NEAR * threads);
    return threads == 1 || rows >= ENOUGH * threads ? each * threads : 0;
}

/* All steps, or all of them from the last to the first; ``active`` has the rows of each, ``first`` those before it. */
void loop(int64_t steps, int64_t first, const int64_t *active, int64_t hypotheses, int64_t count, const Entry *entries,
          int64_t backward, int64_t threads)
{
    const int64_t groups = groups_of(steps ? active[0] : 0, threads);
    int64_t rows = 0;
    for (int64_t t = 0; t < steps; t++)
        rows += active[t];
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
    for (int64_t group = 0; group < groups; group++) {
        const int64_t from = active[0] * group / groups, end = active[0] * (group + 1) / groups;
        int64_t begins = backward ? rows : 0;
        for (int64_t n = 0; n < steps; n++) {
            const int64_t t = backward ? steps - 1 - n : n;
            begins -= backward ? active[t] : 0;
            const Step step = {active[t], begins, t ? begins - active[t - 1] : -first, hypotheses, 0, 0};
            take(step, from, end < active[t] ? end : active[t], count, entries);
            begins += backward ? 0 : active[t];
        }
    }
    if (groups)
        return;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        int64_t begins = backward ? rows : 0;
        Done done = NOTHING;
        for (int64_t n = 0; n < steps; n++) {
            const int64_t t = backward ? steps - 1 - n : n;
            begins -= backward ? active[t] : 0;
            const Step step = {active[t], begins, t ? begins - active[t - 1] : -first, hypotheses, 0, 0};
            done = share(step, count, entries, done);
            if (done != NOTHING)
                meet(&done); /* the next step may share out its rows otherwise */
            begins += backward ? 0 : active[t];
        }
    }
}

/* What a sentence of a search has at an address of its own: a row of memory or of its state. */
typedef struct {
    char *rows;
    int64_t size; /* bytes of a row */
} Held;

/* The last of ``rows`` sentences takes the place of one that leaves; what was written of both is kept. */
static void leave(int64_t row, int64_t rows, Written *written, int64_t count, const Held *held)
{
    const Written left = written[row];
    written[row] = written[rows - 1];
    written[rows - 1] = left;
    for (int64_t n = 0; n < count && row < rows - 1; n++)
        memcpy(held[n].rows + row * held[n].size, held[n].rows + (rows - 1) * held[n].size, held[n].size);
}

/* Those of ``from`` .. ``end`` - 1 that have ended go behind the others; returns where these end. */
static int64_t part(int64_t from, int64_t end, Written *written, int64_t count, const Held *held)
{
    for (int64_t row = end - 1; row >= from; row--)
        if (written[row].ended)
            leave(row, end--, written, count, held);
    return end;
}

/* Up to ``steps`` steps of a search, one row for each sentence, which leaves when it has ended; returns how many are left.
 * The ``last`` of the entries are taken for ``some`` rows after another.
 */
int64_t decode(int64_t steps, int64_t rows, int64_t count, const Entry *entries, int64_t last, int64_t some,
               Written *written, int64_t held_count, const Held *held, int64_t threads)
{
    const int64_t groups = groups_of_search(rows, threads);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
    for (int64_t group = 0; group < groups; group++) {
        const int64_t from = rows * group / groups;
        int64_t end = rows * (group + 1) / groups;
        for (int64_t n = 0; n < steps && from < end; n++) {
            const Step step = {end, 0, 0, 1, 0, 0};
            take(step, from, end, count - last, entries);
            if (rows <= some)
                take(step, from, end, last, entries + (count - last));
            else
                take_some(step, from, end, last, entries + (count - last), some);
            end = part(from, end, written, held_count, held);
        }
    }
    if (groups)
        return part(0, rows, written, held_count, held);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        Done done = NOTHING;
        for (int64_t n = 0; n < steps && rows > 0; n++) {
            const Step step = {rows, 0, 0, 1, 0, 0};
            done = share(step, count - last, entries, done);
            done = share_last(step, last, entries + (count - last), some, done);
            meet(&done);
            if (THREAD == 0)
                rows = part(0, rows, written, held_count, held);
            meet(&done);
        }
    }
    return rows;
}

/* A signal that a step carries: what it has written of it, and where the next one reads it. */
typedef struct {
    const char *written;
    char *read;
    int64_t size; /* bytes of a row */
} Carried;

/* Up to ``steps`` steps of a beam search; returns how many were taken. */
int64_t search_beam(int64_t steps, int64_t count, const Entry *entries, int64_t last, int64_t some, Beam *beam,
                    int64_t carried_count, const Carried *carried, int64_t threads)
{
    const int64_t before = beam->taken;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        Done done = NOTHING;
        for (int64_t n = 0; n < steps && beam->live > 0; n++) {
            const Step step = {beam->live, 0, 0, 1, beam->rows, 0};
            done = share(step, count - last, entries, done);
            done = share_last(step, last, entries + (count - last), some, done);
            meet(&done);
            if (THREAD == 0)
                choose_rows(beam);
            meet(&done);
            for (int64_t row = beam->live * THREAD / THREADS; row < beam->live * (THREAD + 1) / THREADS; row++)
                for (int64_t c = 0; c < carried_count; c++)
                    memcpy(carried[c].read + row * carried[c].size,
                           carried[c].written + beam->rows[row].parent * carried[c].size, carried[c].size);
            meet(&done);
        }
    }
    return beam->taken - before;
}

#endif

/* The shared-memory protocol of ORC. README.md says what is checked and how; `tools/dev model` checks it.
 *
 * One SPIN step is one labelled step of the protocol, or less: C1 and R6 are two steps each (two words of plain
 * memory), C3, C5, W3 and the waking have a step for each memory access.
 *
 * SPIN interleaves the steps of the processes: it assumes sequential consistency. The C++ accesses all the atomics that
 * are modelled (newest, latest, moved, history, guard; word, waiting, pins) with memory_order_seq_cst, so that the
 * assumption holds. A weaker order there would need another argument than this model. */

#include "memory.pml"

#if K == 1
#define NOTHING_HELD(r) (page[r].pins[0] == 0)
#else
#define NOTHING_HELD(r) (page[r].pins[0] == 0 && page[r].pins[1] == 0)
#endif

#include "wait.pml"
#include "reader.pml"

/* The first segment comes to a reader with its page. */
inline start_reader(reader_)
{
  run reader(reader_, generation);
  run holder(reader_, 0);
#if K > 1
  run holder(reader_, 1);
#endif
#if GENERATIONS > 1 || defined(READER_GOES)
  run publisher_socket(reader_);
#endif
#ifdef WAIT
  run reader_socket(reader_);
#endif
}

#include "publisher.pml"

/* A crash, between any two steps or not at all. What others learn of it, and when, is up to them. */
#if defined(PUBLISHER_CRASHES) || defined(READER_GOES)
proctype fate()
{
  if
#ifdef PUBLISHER_CRASHES
  :: publisher_dead = 1
#endif
#ifdef READER_GOES
  :: d_step { reader_dead[0] = 1; reader_closed[0] = 1 }
#endif
  :: true
  fi
}
#endif

init
{
  byte i, j;
  atomic {
    for (i : 0 .. GENERATIONS - 1) {
      for (j : 0 .. RING - 1) {
        segment[i].history[j] = NONE
      }
      segment[i].latest = NONE
    }
    slots = N_FOR(FIRST_READERS);
    for (i : 0 .. FIRST_READERS - 1) {
      listed[i] = 1;
      counted++;
      start_reader(i)
    }
#if defined(PUBLISHER_CRASHES) || defined(READER_GOES)
    run fate();
#endif
    run publisher();
    i = 0;
    j = 0
  }
}

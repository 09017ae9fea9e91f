/* How a reader waits (W), and the thread of its process that wakes it. */

#ifndef WAIT

/* Without WAIT a reader that finds nothing new makes no step until there is something; it may leave. */
inline is_expected()
{
  skip
}

inline wait_for_news()
{
  skip;
end_idle:
  if
  :: segment[gen].newest > seen
#if GENERATIONS > 1
  :: segment[gen].moved && nempty(hand_over[r])
#endif
#ifdef READER_GOES
#ifdef DEFECT_LEFT_WITH_MESSAGES
  :: true ->
#else
  :: NOTHING_HELD(r) ->
#endif
     reader_closed[r] = 1;
     goto left
#endif
  fi
}

#else

/* FUTEX_WAIT may return without a reason, and the reader's own process may wake it: each as often as this and not for
 * ever, so that a wake-up that was lost stays lost. */
#ifndef SPURIOUS
#define SPURIOUS 1
#endif
#ifndef OWN_WAKES
#define OWN_WAKES 1
#endif

/* A reader that has all there will be stops waiting. So one that sleeps when all others have come to an end lost a
 * wake-up, be it for a sample or for a generation: SPIN's "invalid end state" is property 4. */
#define HAS_ALL (seen == PUTS && gen == GENERATIONS - 1)

/* W3 asks the socket (README, findings, 2). The defect asks what the reader found at S1, before W1. */
#ifdef DEFECT_HAND_OVER_CHECKED_EARLY
#define HAND_OVER_THERE (!expected)
#define HAND_OVER_MISSING expected
#else
#define HAND_OVER_THERE nempty(hand_over[r])
#define HAND_OVER_MISSING empty(hand_over[r])
#endif

inline is_expected()
{
#ifdef DEFECT_HAND_OVER_CHECKED_EARLY
  expected = 1
#else
  skip
#endif
}

/* A publisher that crashed leaves its last complete sample to each reader that it owes no generation. */
inline end_of_waiting()
{
#ifdef PUBLISHER_CRASHES
#ifdef DEFECT_SAMPLE_OWED
  assert(seen >= segment[generation].newest);
#else
  assert(owed[r] || seen >= segment[generation].newest);
#endif
#endif
  goto left
}

inline read_ticket()
{
  ticket = page[r].word                                                    /* [W1] */
}

inline set_waiting()
{
  page[r].waiting = 1                                                      /* [W2] */
}

inline wait_for_news()
{
  if
  :: HAS_ALL || last_look -> end_of_waiting()
  :: else
  fi;
#if !defined(DEFECT_TICKET_AFTER_CHECK) && !defined(TICKET_SECOND)
  read_ticket();
#endif
#ifndef DEFECT_WAITING_AFTER_CHECK
  set_waiting();
#endif
#ifdef TICKET_SECOND                                                       /* no defect: README */
  read_ticket();
#endif
  if
  :: segment[gen].newest > seen -> goto awake                              /* [W3] */
  :: else
  fi;
#if GENERATIONS > 1
  if
  :: segment[gen].moved ->
     if
     :: HAND_OVER_THERE -> goto awake
     :: HAND_OVER_MISSING
     fi
  :: else
  fi;
#endif
#ifdef PUBLISHER_CRASHES
  if
  :: noticed[r] ->
     last_look = 1;
#ifdef DEFECT_NO_LAST_LOOK
     end_of_waiting();
#endif
     goto awake
  :: else
  fi;
#endif
#ifdef DEFECT_WAITING_AFTER_CHECK
  set_waiting();
#endif
#ifdef DEFECT_TICKET_AFTER_CHECK
  read_ticket();
#endif
  atomic {                                                                 /* [W4] */
    if
    :: page[r].word == ticket -> asleep[r] = 1
    :: else -> goto awake
    fi
  }
  if
  :: !asleep[r]
  :: spurious > 0 -> spurious--; asleep[r] = 0
  fi;
awake:
  ticket = 0;
  page[r].waiting = 0                                                      /* [W5] */
}

inline wake_reader()
{
  page[r].word++;
  futex_wake(r)
}

/* One wake-up for each time that the socket becomes readable, and one when it is closed. */
proctype reader_socket(byte r)
{
  byte own = OWN_WAKES;
end_idle:
  do
  :: arrived[r] -> arrived[r] = 0; wake_reader()
#ifdef PUBLISHER_CRASHES
  :: publisher_dead && !noticed[r] -> noticed[r] = 1; wake_reader()
#endif
  :: own > 0 -> own--; wake_reader()
  od
}

#endif

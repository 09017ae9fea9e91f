/* The publisher: put (A, C), generation change (M), join; and its thread for sockets. */

#if RING == 1
#define IN_HISTORY(s) (segment[generation].history[0] == s)
#elif RING == 2
#define IN_HISTORY(s) (segment[generation].history[0] == s || segment[generation].history[1] == s)
#elif RING == 3
#define IN_HISTORY(s) (segment[generation].history[0] == s || segment[generation].history[1] == s || \
  segment[generation].history[2] == s)
#endif

#define CANDIDATE(s) (s < slots && !(tried & (1 << s)) && !IN_HISTORY(s) && s != lent)

/* How often one search may have to start over with all candidates. A reader blocks more of them than it has pins only
 * when a message of its is released between its R3 and its R4, so each reader costs one round at most. */
#ifdef DEFECT_ONE_ROUND
#define ROUNDS 0
#else
#define ROUNDS READERS
#endif

/* A1 takes any candidate, so that nothing depends on the order in which the code has them; with FIRST_CANDIDATE the one
 * of the lowest number, where the state space would be too large. */
inline choose_slot()
{
#ifdef FIRST_CANDIDATE
  do
  :: s < N && !CANDIDATE(s) -> s++
  :: else -> break
  od;
#endif
  if
#ifdef FIRST_CANDIDATE
  :: s < N
#else
  :: CANDIDATE(0) -> s = 0
  :: CANDIDATE(1) -> s = 1
#if N > 2
  :: CANDIDATE(2) -> s = 2
#endif
#if N > 3
  :: CANDIDATE(3) -> s = 3
#endif
#if N > 4
  :: CANDIDATE(4) -> s = 4
#endif
#endif
  :: else ->
     rounds++;
     assert(rounds <= ROUNDS);                                             /* property 3 */
     tried = 0;
     s = NONE
  fi
}

#if N > 5 && !defined(FIRST_CANDIDATE)
#error "as many slots as this only with FIRST_CANDIDATE"
#endif

inline clear_guard()
{
  segment[generation].guard[s] = 0
}

inline read_pins()
{
  r = 0;
  k = 0;
  do
  :: atomic {
       r < PAGES && !taken ->
#ifdef DEFECT_NEVER_DROPPED
       taken = (page[r].pins[k] == s + 1);
#else
       taken = (listed[r] && page[r].pins[k] == s + 1);
#endif
       k++;
       if
       :: k == K -> k = 0; r++
       :: else
       fi
     }
  :: else -> break
  od
}

inline search()
{
  do
  :: atomic { choose_slot() };                                             /* [A1] */
     if
     :: s == NONE -> s = 0
     :: else ->
#ifdef DEFECT_GUARD_AFTER_PINS
        read_pins();
        clear_guard();
#else
        clear_guard();                                                     /* [A2] */
        read_pins();                                                       /* [A3] */
#endif
        atomic {
          if
          :: taken -> tried = tried | (1 << s); taken = 0; s = 0
          :: else -> break
          fi
        }
     fi
  od;
  atomic { ready = s; s = 0; r = 0; k = 0; tried = 0; rounds = 0 }
}

#ifdef RECLAIM
/* Takes samples that every reader has taken out of the history, but the newest. A reader page is read in one step, and
 * an entry given up in another. */
inline reclaim()
{
  floor = (q == 0 -> 0 : q - 1);
  r = 0;
  do
  :: r < PAGES ->
#ifndef DEFECT_RECLAIM_UNTOLD
     d_step {                                /* reads it once: it may grow between two reads */
       if
       :: listed[r] && page[r].told < floor -> floor = page[r].told
       :: else
       fi
     };
#endif
     r++
  :: else -> break
  od;
  r = 0;
  i = 1;
  do
  :: i <= floor ->
     if
     :: i + RING > q -> segment[generation].history[i % RING] = NONE       /* [A4] */
     :: else
     fi;
     i++
  :: else -> break
  od;
  atomic { i = 0; floor = 0 }
}
#endif

/* A1-A3: finds the slot of the next put; in one step with SEARCH_AT_ONCE, where the search is not the subject. */
inline prepare()
{
#ifdef RECLAIM
  if
  :: reclaim()
  :: true
  fi;
#endif
#ifdef SEARCH_AT_ONCE
  atomic {
    search()
  }
#else
  search()
#endif
}

inline wake_waiting()
{
#ifdef WAIT
  r = 0;
  do
  :: r < PAGES ->
     if
     :: listed[r] && page[r].waiting ->
#ifndef DEFECT_WORD_NOT_COUNTED
        page[r].word++;
#endif
        futex_wake(r)
     :: else
     fi;
     r++
  :: else -> break
  od;
  r = 0
#else
  skip
#endif
}

/* The sample in slot s becomes sequence q. */
inline put(s_)
{
  q++;
#ifdef DEFECT_NEWEST_FIRST
  segment[generation].newest = q;
#endif
#ifdef DEFECT_GUARD_FIRST
  segment[generation].guard[s_] = q;
#endif
#ifndef NO_PAYLOAD
  segment[generation].head[s_] = q;                                        /* [C1] */
  segment[generation].tail[s_] = q;
#endif
  segment[generation].guard[s_] = q;                                       /* [C2] */
  segment[generation].history[q % RING] = s_;                              /* [C3] */
  segment[generation].latest = s_;
  segment[generation].newest = q;                                          /* [C4] */
  wake_waiting()                                                           /* [C5] */
}

/* Nobody sees the new segment before M2: one step. */
inline copy_history()
{
  d_step {
    generation++;
    segment[generation].newest = q;
    i = 0;
    do
    :: i < H && i < q ->
#ifndef DEFECT_HISTORY_NOT_COPIED
       segment[generation].history[(q - i) % RING] = i;
#else
       if
       :: i == 0 -> segment[generation].history[q % RING] = 0
       :: else
       fi;
#endif
       segment[generation].guard[i] = q - i;
       segment[generation].head[i] = q - i;
       segment[generation].tail[i] = q - i;
       i++
    :: else -> break
    od;
    segment[generation].latest = 0;
    i = 0
  }
}

inline offer_generation()
{
  do
  :: r < PAGES ->
     atomic {
       if
       :: listed[r] && unacknowledged[r] -> owed[r] = 1
       :: listed[r] && !unacknowledged[r] -> send_hand_over(r)
       :: else
       fi;
       r++
     }
  :: else -> break
  od;
  r = 0
}

inline change_generation()
{
#ifdef PUT_BEFORE_MOVE
  /* The sample that a loan of the next segment brings is put there before anybody can see it, and the history needs
   * nothing but it: so the put is part of that one step. Or there is none, as ever. */
  if
  :: q < PUTS -> q++
  :: true
  fi;
#endif
  copy_history();                                                          /* [M1] */
#ifdef MOVED_FIRST                                                         /* no defect: README */
  segment[generation - 1].moved = 1;
  offer_generation();
#else
  offer_generation();                                                      /* [M2] */
  segment[generation - 1].moved = 1;                                       /* [M3] */
#endif
#ifndef DEFECT_NO_WAKE_ON_MOVE
  wake_waiting();                                                          /* [M4] */
#endif
  prepare()
}

/* A reader connects, under the lock of put; there is a page for it when those of readers that left are dropped. The
 * first hand-over comes with the page: the reader starts with it. */
inline join()
{
#ifndef DEFECT_NO_GROWTH
  if
  :: slots < N -> slots = N; change_generation()
  :: else
  fi;
#endif
  atomic {
    listed[joining] = 1;
    counted++;
    start_reader(joining);
    joining++
  }
}

#ifdef DEFECT_NO_GROWTH
#define NO_CHANGE true
#else
#define NO_CHANGE false
#endif

proctype publisher()
{
  byte q;                    /* sequence of the last put */
  byte ready;                /* slot that A1-A3 found */
  byte lent = NONE;          /* slot that a loan of the user is in */
  byte joining = FIRST_READERS;
  byte s, r, k, i, tried, rounds;
#ifdef RECLAIM
  byte floor;
#endif
  bit taken;

  {
    prepare();
    do
#if GENERATIONS > 1 && !defined(GROWS)
    :: generation < GENERATIONS - 1 ->
       change_generation()
#endif
    :: q < PUTS ->
       put(ready);
       prepare()
#if L > 0
    :: lent == NONE && q < PUTS ->
       lent = ready;
       segment[generation].head[lent] = NONE;                              /* [C1] in place, long before C2 */
       prepare();
    :: lent != NONE ->
       segment[generation].tail[lent] = NONE;
       if
       :: q < PUTS -> put(lent)
       :: true                                                   /* given back */
       fi;
       lent = NONE
#endif
#if PAGES > FIRST_READERS
    :: joining < PAGES && counted < READERS ->
       join()
#endif
    :: q == PUTS && lent == NONE && joining == PAGES && (GENERATIONS - 1 == generation || NO_CHANGE) ->
       break
    od
  }
#ifdef PUBLISHER_CRASHES
  unless {
    publisher_dead
  }
#endif
}

#if GENERATIONS > 1 || defined(READER_GOES)

/* The publisher's thread for sockets, here one for each reader. It takes no lock against put: its steps may come
 * between any two of the publisher. */
proctype publisher_socket(byte r)
{
end_idle:
  do
#if GENERATIONS > 1
  :: atomic {
       !publisher_dead && nempty(acknowledge[r]) ->
       acknowledge[r]?_;
       unacknowledged[r] = 0;
       if
#ifndef DEFECT_OWED_FORGOTTEN
       :: owed[r] -> owed[r] = 0; send_hand_over(r)
#endif
       :: else
       fi
     }
#endif
#ifdef READER_GOES
#ifdef DEFECT_DROPPED_EARLY
  :: listed[r] ->
#else
  :: listed[r] && reader_closed[r] ->
#endif
     d_step { listed[r] = 0; counted-- }                                   /* its pins die with it: property 5 */
#endif
  od
}

#endif

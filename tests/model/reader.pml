/* A reader: get (R) and change of generation (S); and the holders of its messages (R6, U1).
 * The names: n is the newest sequence seen at R1, s a slot, q its sequence, k a pin; m is the sequence that get next
 * wants, 0: this is get newest. */

#define OLDEST (n > H && n - H >= seen + 1 -> n - H + 1 : seen + 1)

inline choose_get()
{
  if
#ifdef GET_NEXT
  :: m = OLDEST
#endif
#if defined(GET_NEWEST) || !defined(GET_NEXT)
  :: m = 0
#endif
  fi
}

inline unpin()
{
#ifdef DEFECT_UNPIN_FORGOTTEN
  skip
#else
  page[r].pins[k] = 0
#endif
}

inline forget()
{
  n = 0;
  s = 0;
  q = 0;
  k = 0;
  m = 0
}

/* A message lives in pin k from now on. */
inline take()
{
  assert(q > seen);                                                        /* property 2 */
  assert(m != 0 || q >= n);
  assert(m == 0 || q == seen + 1 || q == n - H + 1);                       /* property 6 */
  seen = q;
  held[r].sequence[k] = q;
  held[r].of_generation[k] = gen;
  forget()
}

proctype reader(byte r; byte gen)
{
  byte seen, n, s, q, k, m;
#ifdef WAIT
  byte ticket;
  byte spurious = SPURIOUS;
#endif
  bit last_look, expected;

  {
    skip;
look:
    atomic {
      n = segment[gen].newest;                                             /* [R1] */
      if
      :: n <= seen -> n = 0; goto nothing_new
      :: else
      fi
    }
chosen:
    atomic {
      choose_get();
      if
      :: m == 0 -> s = segment[gen].latest                                 /* [R2] */
      :: m != 0 -> s = segment[gen].history[m % RING]                      /* [R2'] */
      fi
    }
    atomic {
      assert(s != NONE);
      q = segment[gen].guard[s];                                           /* [R3] [R3'] */
      if
#ifdef DEFECT_NEXT_UNGUARDED
      :: q == 0 -> goto overtaken
#else
      :: q == 0 || (m != 0 && q != m) -> goto overtaken
#endif
      :: else
      fi
    }
    atomic {                                                               /* [R4] */
      if
      :: page[r].pins[0] == 0 -> k = 0
#if K > 1
      :: page[r].pins[0] != 0 && page[r].pins[1] == 0 -> k = 1
#endif
      :: else ->
         assert(held[r].sequence[0] != 0 && held[r].sequence[K - 1] != 0); /* no pin is lost */
         forget();
         goto too_many
      fi;
      page[r].pins[k] = s + 1
    }
#ifdef DEFECT_TOLD_EARLY
    page[r].told = q;
#endif
    atomic {                                                               /* [R5] */
      if
#ifdef DEFECT_NO_RECHECK
      :: true
#else
      :: segment[gen].guard[s] == q
#endif
#ifdef RECLAIM
         -> take()
#else
         -> take(); goto look
#endif
      :: else -> goto too_late
      fi
    }

#ifdef RECLAIM
#ifndef DEFECT_TOLD_EARLY
    page[r].told = seen;                                                   /* [R7] */
#endif
    goto look;
#endif

too_late:
    unpin();                                                               /* [R5] it was not q any more */

overtaken:
    atomic {
      /* A get starts again only when the publisher has gone on: one that is stalled or dead keeps no reader busy. */
      assert(segment[gen].newest > n);
      forget();
      n = segment[gen].newest;                                             /* [R1] */
      goto chosen
    }

too_many:
    skip;
end_too_many:
    page[r].pins[0] == 0 || page[r].pins[K - 1] == 0;
    goto look;

nothing_new:
#if GENERATIONS > 1
    if
    :: segment[gen].moved ->                                               /* [R1] nothing new, so: moved? */
       atomic {
         if
         :: hand_over[r]?gen; expected = 0                                 /* [S1] [S2] */
         :: empty(hand_over[r]) -> is_expected(); goto idle
         fi
       }
       acknowledge[r]!1;                                                   /* [S3] */
       goto look
    :: else
    fi;
idle:
#endif
    wait_for_news();
    goto look;

left:
    skip
  }
#ifdef READER_GOES
  unless {
    reader_dead[r]
  }
#endif
}

/* Whoever holds the message in pin k of reader r, in any thread of it: reads it in place when it likes, and releases it
 * when it likes. It finds the sample that the message promises, so no byte of it changed (property 1). */
#define MESSAGE held[r].sequence[k]
#define HOME segment[held[r].of_generation[k]]

proctype holder(byte r; byte k)
{
  {
    skip;
end_idle:
    do
    :: MESSAGE != 0 ->
#ifndef NO_PAYLOAD
       assert(HOME.head[page[r].pins[k] - 1] == MESSAGE);                  /* [R6] */
       assert(HOME.tail[page[r].pins[k] - 1] == MESSAGE);
#endif
       d_step {
         page[r].pins[k] = 0;                                              /* [U1] */
         held[r].sequence[k] = 0;
         held[r].of_generation[k] = 0
       }
    od
  }
#ifdef READER_GOES
  unless {
    reader_dead[r]
  }
#endif
}

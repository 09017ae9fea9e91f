/* What the processes share: the segments, the reader pages, the sockets; and the numbers that a configuration sets. */

#ifndef READERS
#define READERS 1            /* readers that count into N at once, at most */
#endif
#ifndef FIRST_READERS
#define FIRST_READERS READERS
#endif
#ifndef PAGES
#define PAGES READERS        /* readers over the whole run: FIRST_READERS, and those that join later */
#endif
#ifndef K
#define K 1                  /* pins of a reader */
#endif
#ifndef H
#define H 1                  /* history depth */
#endif
#ifndef L
#define L 0                  /* loans */
#endif
#ifndef PUTS
#define PUTS 3
#endif
#ifndef GENERATIONS
#define GENERATIONS 1
#endif
#ifdef WAIT
#define WAITS 1
#else
#define WAITS 0
#endif

#define NONE 255

/* The ring has an entry more than the history is deep, so C3 of sample n + 1 overwrites none that a reader wants
 * which sees newest == n (README, findings, 1). The sample in that entry is the one that N counts as kept one round longer. */
#ifdef DEFECT_RING_OF_H
#define RING H
#else
#define RING (H + 1)
#endif

/* N: being written + history + kept one round longer + pins + loans */
#ifdef DEFECT_ONE_SLOT_FEWER
#define N_FOR(readers) (H + 1 + (readers) * K + L)
#else
#define N_FOR(readers) (1 + H + 1 + (readers) * K + L)
#endif
#define N N_FOR(READERS)

typedef Segment {
  byte newest;               /* sequence of the newest sample; 0: none */
  byte latest;               /* its slot */
  bit moved;                 /* the publisher uses a younger generation from now on */
  byte history[RING];        /* slot of sequence n at [n % RING] */
  byte guard[N];             /* sequence of the sample in the slot; 0: none, or being written */
  byte head[N];              /* the plain memory of the slot: size and stamp, ... */
  byte tail[N]               /* ... payload */
};
Segment segment[GENERATIONS];

typedef Page {
  byte word;                 /* futex word */
  bit waiting;
#ifdef RECLAIM
  byte told;                 /* the reader has taken all that it will ever want up to this sequence */
#endif
  byte pins[K]               /* slot + 1; 0: free */
};
Page page[PAGES];

/* The publisher's side of its readers */
byte generation;             /* the one that put works on */
byte slots;                  /* how many slots that one has */
byte counted;                /* readers that count into N */
bit listed[PAGES];           /* its page is read and woken */
bit unacknowledged[PAGES];   /* a hand-over was sent, its acknowledgement has not come */
bit owed[PAGES];             /* it gets the then current generation when it has acknowledged */
bit publisher_dead;          /* crashed; its sockets are closed */

/* The socket between them, one channel for each direction: reliable, in order. */
chan hand_over[PAGES] = [1] of { byte };
chan acknowledge[PAGES] = [1] of { bit };
bit arrived[PAGES];          /* the edge that the reader's thread for sockets gets when there is something to read */
bit reader_dead[PAGES];      /* crashed: makes no step any more */
bit reader_closed[PAGES];    /* its end is closed: it left or crashed */

/* The reader's side */
bit asleep[PAGES];           /* the kernel's: in FUTEX_WAIT */
bit noticed[PAGES];          /* its process knows that the publisher's end is closed */
typedef Messages {
  byte sequence[K];          /* of the message that lives in pin k; 0: none */
  byte of_generation[K]
};
Messages held[PAGES];

inline futex_wake(reader_)
{
  asleep[reader_] = 0
}

inline send_hand_over(reader_)
{
  assert(nfull(hand_over[reader_]));         /* a send never blocks: at most one is not acknowledged */
  hand_over[reader_]!generation;
  unacknowledged[reader_] = 1;
  arrived[reader_] = WAITS
}

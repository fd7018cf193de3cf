/* thalweg_stack.h - a transport stack without I/O, in virtual time.
 *
 * A shared library that exports these functions is a stack for Thalweg: `thalweg run SCENARIO --stack ./libmine.so`.
 * The event loop calls it as it calls its own endpoints, and carries its datagrams over the links of a scenario.
 *
 * Time        is in nanoseconds of simulated time since the start of the trial. It comes with each call and never
 *             falls. A stack reads no other clock.
 * Randomness  comes from `seed` alone. A stack that draws from elsewhere has trials that do not repeat.
 * Ownership   A stack belongs to the caller from create until destroy. Data that goes in is the caller's and valid
 *             during the call only; data that comes out is written into memory of the caller. Texts of
 *             thalweg_stack_info live as long as the library. Nothing is freed on the other side.
 * Threads     A stack is called by one thread at a time. Several stacks exist at once in a process (both ends of a
 *             connection, and several connections), so state shared by them must be constant. A library starts no
 *             threads of its own. Each trial runs in a process of its own that is forked before the library is
 *             loaded: nothing of one trial is left in the next.
 * Output      A stack has no I/O: no sockets, files, prints.
 * Failure     A function that returns an integer may return THALWEG_STACK_FAULT, which ends the trial. Exceptions
 *             of C++ and panics of Rust must not leave the library.
 *
 * Order of calls: create; then, at each event, datagram_in or expire; then any of status, read, open, write, close;
 * then datagram_out until it has nothing; then next. Between two events no time is taken.
 */
#ifndef THALWEG_STACK_H
#define THALWEG_STACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. Another one is refused. */
#define THALWEG_STACK_ABI 1

#define THALWEG_STACK_OK 0
#define THALWEG_STACK_BLOCKED (-1)
#define THALWEG_STACK_FAULT (-2)

/* No time: a timer that is not set. */
#define THALWEG_STACK_NEVER UINT64_MAX
/* A number that a probe does not know. */
#define THALWEG_STACK_UNKNOWN UINT64_MAX
/* Most datagrams that a stack may send at one instant. */
#define THALWEG_STACK_MOST_AT_ONCE 131072

/* Roles. */
#define THALWEG_STACK_CLIENT 0
#define THALWEG_STACK_SERVER 1

/* States of a connection. */
#define THALWEG_STACK_CONNECTING 0
#define THALWEG_STACK_ESTABLISHED 1
#define THALWEG_STACK_CLOSED 2

/* ECN codepoints, as in the IP header (RFC 3168 section 5). */
#define THALWEG_STACK_NOT_ECT 0
#define THALWEG_STACK_ECT1 1
#define THALWEG_STACK_ECT0 2
#define THALWEG_STACK_CE 3

/* One end of one connection. What is in it is the library's business. */
typedef struct thalweg_stack thalweg_stack;

/* What a library is. */
typedef struct {
  uint32_t abi;            /* THALWEG_STACK_ABI */
  uint32_t max_streams;    /* most streams of a connection; 0 for as many as a scenario may have */
  const char *name;        /* "quinn-proto" */
  const char *version;     /* "0.11.13" */
  const char *controllers; /* names of its congestion controllers: "cubic, new-reno, bbr" */
} thalweg_stack_info;

/* How an end of a connection shall be. A stack follows what it can and ignores the rest. */
typedef struct {
  uint32_t role;             /* THALWEG_STACK_CLIENT or THALWEG_STACK_SERVER */
  uint32_t ack_every;        /* ack-eliciting packets for each acknowledgement (RFC 9000 section 13.2.2) */
  uint8_t seed[32];          /* of all random numbers; the two ends of a connection have different ones */
  uint8_t connection[32];    /* the same for the two ends of a connection, such as for a shared key */
  const char *controller;    /* one of its controllers, with options after a colon if the user gave some */
  uint64_t initial_window;   /* initial congestion window, bytes */
  uint64_t initial_mtu;      /* UDP payload of a full packet at the start, bytes */
  uint64_t max_mtu;          /* largest UDP payload that the path carries, bytes; longer datagrams are a fault */
  uint64_t max_ack_delay_ns; /* largest delay of an acknowledgement */
  uint64_t receive_window;   /* flow-control window of the connection, bytes; 0 for one that never limits */
  uint32_t paced;            /* whether a controller without a rate of its own is paced */
  uint32_t ack_frequency;    /* whether the sender asks for fewer acknowledgements */
} thalweg_stack_options;

/* A datagram that leaves. */
typedef struct {
  uint8_t *data;       /* in: room for max_mtu bytes; the stack writes the UDP payload there */
  size_t length;       /* in: the room; out: bytes written */
  uint32_t ecn;        /* out: its codepoint */
  uint32_t reserved;   /* 0 */
  uint64_t not_before; /* out: earliest time of departure; a time that is not later than now means now */
} thalweg_stack_datagram;

/* Bytes of a stream that have arrived in order. */
typedef struct {
  uint64_t stream; /* its number */
  uint64_t bytes;  /* how many more than the last time */
  uint32_t fin;    /* whether these are the last */
  uint32_t reserved;
} thalweg_stack_arrival;

/* What a stack thinks, for traces and outcomes. THALWEG_STACK_UNKNOWN where it does not know. */
typedef struct {
  uint64_t window;           /* congestion window, bytes */
  uint64_t in_flight;        /* bytes in flight */
  uint64_t smoothed_rtt_ns;  /* smoothed RTT; unknown before the first sample */
  uint64_t latest_rtt_ns;    /* latest RTT sample; if unknown, changes of the smoothed RTT count as samples */
  uint64_t pacing_rate;      /* bits per second */
  uint64_t packets_lost;     /* packets declared lost so far */
  const char *state;         /* state of the controller, such as "startup"; NULL if unknown; valid until the next call */
} thalweg_stack_probes;

/* What the library is. Called once, before anything else. */
const thalweg_stack_info *thalweg_stack_describe(void);

/* An end of a connection that starts at `now`. A client sends its first datagram at the next datagram_out. NULL if it
 * cannot be, with a text of why in `problem`, which has `room` bytes. */
thalweg_stack *thalweg_stack_create(const thalweg_stack_options *options, uint64_t now, char *problem, size_t room);

/* Frees an end. It is not called again. */
void thalweg_stack_destroy(thalweg_stack *stack);

/* A datagram has arrived with this codepoint. */
int32_t thalweg_stack_datagram_in(thalweg_stack *stack, uint64_t now, uint32_t ecn, const uint8_t *data, size_t length);

/* The next datagram to send: 1, or 0 if there is none now. */
int32_t thalweg_stack_datagram_out(thalweg_stack *stack, uint64_t now, thalweg_stack_datagram *datagram);

/* When expire shall be called; THALWEG_STACK_NEVER for never. A time that is not later than now means at once, and
 * must move on when expire has been called. */
uint64_t thalweg_stack_next(thalweg_stack *stack);

/* Time has come to `now`: timers that are due fire. */
int32_t thalweg_stack_expire(thalweg_stack *stack, uint64_t now);

/* Opens a stream that carries data both ways. Clients open all streams. The first has number 0 at both ends, the next
 * 1, and so on. Returns the number, or THALWEG_STACK_BLOCKED: it is asked again. */
int64_t thalweg_stack_open(thalweg_stack *stack, uint64_t now);

/* Writes bytes of any content to a stream, and its end after them if `fin`. Returns how many bytes were taken: the rest
 * is offered again, with `fin`. The end is taken with the last byte; if there are none, 0 says that it was taken, and
 * THALWEG_STACK_BLOCKED that it was not. */
int64_t thalweg_stack_write(thalweg_stack *stack, uint64_t now, uint64_t stream, uint64_t bytes, uint32_t fin);

/* Bytes that have arrived in order, of any stream, which are consumed by this: 1, or 0 if there are none. More than the
 * other end has written, and an end of the stream elsewhere than there, are faults. */
int32_t thalweg_stack_read(thalweg_stack *stack, uint64_t now, thalweg_stack_arrival *arrival);

/* Closes the connection. */
int32_t thalweg_stack_close(thalweg_stack *stack, uint64_t now);

/* The state of the connection. It is CLOSED when both ends know of the end, or nothing will be sent any more. */
int32_t thalweg_stack_status(const thalweg_stack *stack);

/* Optional. What the stack thinks now: 1, or 0 if it knows nothing. */
int32_t thalweg_stack_probe(const thalweg_stack *stack, thalweg_stack_probes *probes);

/* Optional. After THALWEG_STACK_FAULT: why, in words; valid until the next call. */
const char *thalweg_stack_fault(const thalweg_stack *stack);

#ifdef __cplusplus
}
#endif

#endif

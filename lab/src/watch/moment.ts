// What is on a hop at a moment: the numbers beside the animation.

import type { Table, Trace } from "../engine/engine";
import { after, largest, numbers, pick, rowsOf, words } from "../trial/columns";
import { type Lane, near, whereabouts } from "./lane";

/** Samples of one link of a trace. */
export interface Samples {
  times: Float64Array;
  capacity: Float64Array;
  dropped: Float64Array;
  marked: Float64Array;
  /** The longest backlog of the trial, in bytes. */
  longest: number;
}

export function samples({ links }: Trace, link: string): Samples {
  const rows = rowsOf(words(links, "link"), link);
  const column = (name: string) => pick(numbers(links, name), rows);
  return {
    times: column("time_s"),
    capacity: column("capacity_bps"),
    dropped: column("dropped_packets"),
    marked: column("marked_packets"),
    longest: Math.max(0, largest(column("queue_bytes"))),
  };
}

export interface Moment {
  /** What waits. */
  packets: number;
  bytes: number;
  /** How long a packet arriving now would wait, in seconds. */
  delay: number;
  /** The row of the packet in transmission, how many travel, and how many are held back at the end of the link. */
  sending: number | null;
  travelling: number;
  held: number;
  /** So far. */
  dropped: number;
  marked: number;
}

export function moment(lane: Lane, known: Samples, time: number): Moment {
  const found: Moment = { packets: 0, bytes: 0, delay: 0, sending: null, travelling: 0, held: 0, dropped: 0, marked: 0 };
  const [begin, end] = near(lane, time);
  for (let row = begin; row < end; row++) {
    switch (whereabouts(lane, row, time)) {
      case "waiting":
        found.packets++;
        found.bytes += lane.size[row] as number;
        break;
      case "sending":
        found.sending = row;
        break;
      case "travelling":
        found.travelling++;
        break;
      case "held":
        found.held++;
        break;
    }
  }
  const last = after(known.times, time) - 1;
  const [capacity = Number.NaN, dropped = 0, marked = 0] = [known.capacity, known.dropped, known.marked].map((column) => column[last]);
  const transmission = found.sending === null ? 0 : Math.max(0, (lane.sent[found.sending] as number) - time);
  found.delay = found.bytes === 0 && transmission === 0 ? 0 : transmission + (8 * found.bytes) / capacity;
  return { ...found, dropped, marked };
}

/** The room of a queue at a time, in bytes; Infinity if it has no limit. */
export function room(limits: Table, link: string, time: number, capacity: number, largestPacket: number): number {
  const rows = rowsOf(words(limits, "link"), link);
  const column = (name: string) => pick(numbers(limits, name), rows);
  const row = Math.max(0, after(column("time_s"), time) - 1);
  const [seconds = Number.NaN, bytes = Number.NaN, packets = Number.NaN] = ["limit_s", "limit_bytes", "limit_packets"].map((name) => column(name)[row]);
  const found = [(seconds * capacity) / 8, bytes, packets * largestPacket].filter((limit) => !Number.isNaN(limit));
  return found[0] ?? Infinity;
}

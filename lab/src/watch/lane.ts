// The packets of one link, by time: which are on it at a moment, and where.

import type { Passages } from "../engine/engine";
import { after, numbers, pick, rowsOf, words } from "../trial/columns";

export interface Lane {
  /** The name of the link. */
  link: string;
  /** The index of the flow of each packet among the names of flows. */
  flow: Uint32Array;
  /** Its number, its size, and the times of its passage in seconds; NaN for what never came. */
  packet: Float64Array;
  size: Float64Array;
  entered: Float64Array;
  marked: Float64Array;
  left: Float64Array;
  sent: Float64Array;
  due: Float64Array;
  arrived: Float64Array;
  /** What became of it: "delivered", or why not. */
  fate: string[];
  /** When it was gone from the link. */
  gone: Float64Array;
  /** The latest `gone` of a packet and of all before it: ascends. */
  latest: Float64Array;
}

export function lane({ tables: { packets } }: Passages, link: string): Lane {
  const rows = rowsOf(words(packets, "link"), link);
  const column = (name: string) => pick(numbers(packets, name), rows);
  const [flows, fates] = [words(packets, "flow"), words(packets, "fate")];
  const [left, sent, arrived] = [column("left_s"), column("sent_s"), column("arrived_s")];
  const fate = Array.from(rows, (row) => fates.words[fates.indices[row] as number] as string);
  const gone = arrived.map((time, row) => {
    if (fate[row] === "delivered") return time;
    const loss = sent[row] as number;
    if (fate[row] === "loss") return Number.isNaN(loss) ? Infinity : loss;
    return left[row] as number;
  });
  let most = -Infinity;
  return {
    link,
    flow: Uint32Array.from(rows, (row) => flows.indices[row] as number),
    packet: column("packet"),
    size: column("size_bytes"),
    entered: column("entered_s"),
    marked: column("marked_s"),
    left,
    sent,
    due: column("due_s"),
    arrived,
    fate,
    gone,
    latest: gone.map((time) => (most = Math.max(most, time))),
  };
}

/** The rows, begin and end, among which all packets are that are on a link at a time, or left it less than `before` earlier. */
export function near({ entered, latest }: Lane, time: number, before = 0): [number, number] {
  return [after(latest, time - before - 1e-12), after(entered, time)];
}

/** Where a packet is; held back at the end of the link by jitter, or by a packet before it. */
export type Whereabouts = "outside" | "waiting" | "sending" | "travelling" | "held";

export function whereabouts({ entered, left, sent, due, gone }: Lane, row: number, time: number): Whereabouts {
  if (time < (entered[row] as number) || time >= (gone[row] as number)) return "outside";
  if (time < (left[row] as number)) return "waiting";
  // Of a packet without an end, the capacity stays zero amid its transmission.
  if (!(time >= (sent[row] as number))) return "sending";
  return time < (due[row] as number) ? "travelling" : "held";
}

/** All times at which something happens to packets of some links, in order. */
export function happenings(lanes: Lane[], until: number): Float64Array {
  const columns = lanes.flatMap(({ entered, marked, left, sent, arrived }) => [entered, marked, left, sent, arrived]);
  const times = new Float64Array(columns.reduce((sum, column) => sum + column.length, 0));
  let count = 0;
  for (const column of columns) for (const time of column) if (time <= until) times[count++] = time;
  return times.subarray(0, count).sort();
}

/** What happens to packets of a link at a time, in words. */
export function events(lane: Lane, flows: string[], time: number): string[] {
  const found: string[] = [];
  const [begin, end] = near(lane, time);
  for (let row = begin; row < end; row++) {
    const is = (column: Float64Array) => column[row] === time;
    const name = `packet ${lane.packet[row]} of ${flows[lane.flow[row] as number]}`;
    const fate = lane.fate[row] as string;
    const isDropped = fate !== "delivered" && fate !== "loss";
    if (is(lane.entered)) found.push(`${name} comes to ${lane.link}`);
    if (is(lane.marked)) found.push(`${name} is marked`);
    if (is(lane.left)) found.push(isDropped ? `${name} is dropped (${DROPS[fate] ?? fate})` : `${name} leaves the queue`);
    if (is(lane.sent)) found.push(fate === "loss" ? `${name} is lost at random` : `the last bit of ${name} is sent`);
    if (is(lane.arrived)) found.push(`${name} arrives`);
  }
  return found;
}

const DROPS: Record<string, string> = { queue: "the queue is full", aqm: "by the queue discipline", "ack-filter": "by the filter of ACKs", policer: "by the policer", shrunk: "the queue has shrunk", flushed: "the queue was emptied" };

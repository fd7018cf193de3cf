// The trace of a trial as qlog: what `thalweg run --trace FILE.sqlog` and `FILE.qlog` write (python/thalweg/engine/trace/qlog.py, where
// sources and limits are); tests/lab/test_take_away.py compares both, event by event.

import type { Table, Trace } from "../engine/engine";
import { numbers, words } from "./columns";

interface Event {
  time: number;
  flow: string;
  name: string;
  fields: Record<string, unknown>;
}

type Kind = "packet" | "frame" | "held" | "drop" | "sample";

/** A row of one of the tables, its time, and how kinds of the same time are ordered. */
interface Entry {
  kind: Kind;
  row: number;
  time: number;
}

/** Columns, their names in qlog, and the factor between: qlog counts milliseconds, and all else in integers. */
const METRICS: [column: string, name: string, factor: number][] = [
  ["smoothed_rtt_s", "smoothed_rtt", 1e3],
  ["latest_rtt_s", "latest_rtt", 1e3],
  ["window_bytes", "congestion_window", 1],
  ["in_flight_bytes", "bytes_in_flight", 1],
  ["pacing_bps", "pacing_rate", 1],
];
/** A controller that does not pace asks for a packet each nanosecond (python/thalweg/engine/trace). */
const UNPACED_BPS = 1200 * 8 * 1e9;

const OLDER_NAMES: Record<string, string> = {
  "quic:packet_sent": "transport:packet_sent",
  "quic:packet_received": "transport:packet_received",
  "quic:packet_lost": "recovery:packet_lost",
  "quic:recovery_metrics_updated": "recovery:metrics_updated",
  "quic:congestion_state_updated": "recovery:congestion_state_updated",
};

/** The current drafts: a JSON text sequence, each record of which begins with RS (RFC 7464). */
export function sequence(trace: Trace, version: string): string {
  const header = {
    file_schema: "urn:ietf:params:qlog:file:sequential",
    serialization_format: "application/qlog+json-seq",
    title: `thalweg ${version}`,
    trace: {
      common_fields: { time_format: "relative_to_epoch", reference_time: { clock_type: "monotonic", epoch: "unknown" } },
      vantage_point: { type: "server" },
      event_schemas: ["urn:ietf:params:qlog:events:quic-12", ...["drop", "held_back", "frame"].map((name) => `urn:thalweg:qlog:${name}`)],
    },
  };
  const records = events(trace).map(({ time, flow, name, fields }) => ({ time, group_id: flow, name, data: fields }));
  return [header, ...records].map((record) => `\x1e${JSON.stringify(record)}\n`).join("");
}

/** The older form that qvis reads: one document, a trace for each flow. */
export function forQvis(trace: Trace, version: string): string {
  const traces = new Map<string, unknown[]>();
  for (const { time, flow, name, fields } of events(trace)) {
    if (!traces.has(flow)) traces.set(flow, []);
    traces.get(flow)?.push({ time, name: OLDER_NAMES[name] ?? name, data: fields });
  }
  const document = {
    qlog_version: "0.3",
    qlog_format: "JSON",
    title: `thalweg ${version}`,
    traces: Array.from(traces, ([flow, records]) => ({
      title: flow,
      vantage_point: { name: flow, type: "server" },
      common_fields: { ODCID: flow, time_format: "absolute", reference_time: 0 },
      events: records,
    })),
  };
  return `${JSON.stringify(document)}\n`;
}

/** Words of a column by row. */
function word(table: Table, name: string): (row: number) => string {
  const { indices, words: known } = words(table, name);
  return (row) => known[indices[row] as number] as string;
}

function number(table: Table, name: string): (row: number) => number {
  const column = numbers(table, name);
  return (row) => column[row] as number;
}

/** All rows in the order of time; what became of a packet comes before the sample that it changed. */
function ordered(trace: Trace): Entry[] {
  const parts: [Kind, Table][] = [
    ["packet", trace.packets],
    ["frame", trace.frames],
    ["held", trace.held],
    ["drop", trace.drops],
    ["sample", trace.flows],
  ];
  const entries = parts.flatMap(([kind, table]) => Array.from(numbers(table, "time_s"), (time, row) => ({ kind, row, time })));
  return entries.sort((a, b) => a.time - b.time); // stable
}

function events(trace: Trace): Event[] {
  const found: Event[] = [];
  const say = (time: number, flow: string, name: string, fields: Record<string, unknown>) =>
    found.push({ time: Number((time * 1e3).toFixed(6)), flow, name, fields });
  const { packets, drops, held, frames, flows } = trace;
  const [packetFlow, fate, first, last, size] = [word(packets, "flow"), word(packets, "event"), number(packets, "first_packet"), number(packets, "last_packet"), number(packets, "size_bytes")];
  const [dropFlow, dropLink, reason] = [word(drops, "flow"), word(drops, "link"), word(drops, "reason")];
  const [heldFlow, heldLink, heldFor] = [word(held, "flow"), word(held, "link"), number(held, "held_s")];
  const [frameFlow, stream, delay, deadline] = [word(frames, "flow"), word(frames, "stream"), number(frames, "delay_s"), number(frames, "deadline_s")];
  const [sampleFlow, state] = [word(flows, "flow"), word(flows, "state")];
  const metrics = METRICS.map(([column, name, factor]) => ({ read: number(flows, column), name, factor, column }));
  const shown = new Map<string, Record<string, number>>();
  const states = new Map<string, string>();
  /** Ranges that one flow has acknowledged at one time: one ACK frame. */
  let pending: { time: number; flow: string; ranges: [number, number][] } | null = null;
  const flush = () => {
    if (!pending) return;
    const { time, flow, ranges } = pending;
    ranges.sort(([one], [other]) => one - other);
    say(time, flow, "quic:packet_received", { header: { packet_type: "1RTT" }, frames: [{ frame_type: "ack", acked_ranges: ranges }] });
    pending = null;
  };
  for (const { kind, row, time } of ordered(trace)) {
    const acknowledges = kind === "packet" && fate(row) === "acknowledged";
    if (acknowledges) {
      const flow = packetFlow(row);
      if (pending && (pending.flow !== flow || pending.time !== time)) flush();
      pending ??= { time, flow, ranges: [] };
      pending.ranges.push([first(row), last(row)]);
      continue;
    }
    flush();
    switch (kind) {
      case "packet": {
        const header = { packet_type: "1RTT", packet_number: first(row) };
        if (fate(row) === "lost") say(time, packetFlow(row), "quic:packet_lost", { header });
        else say(time, packetFlow(row), "quic:packet_sent", { header, raw: { length: size(row) } });
        break;
      }
      case "drop":
        say(time, dropFlow(row), "thalweg:drop", { link: dropLink(row), reason: reason(row) });
        break;
      case "held":
        say(time, heldFlow(row), "thalweg:held_back", { link: heldLink(row), held: heldFor(row) * 1e3 });
        break;
      case "frame": {
        const arrived = Number.isNaN(delay(row)) ? {} : { delay: delay(row) * 1e3, late: delay(row) > deadline(row) };
        say(time, frameFlow(row), "thalweg:frame", { stream: stream(row), deadline: deadline(row) * 1e3, ...arrived });
        break;
      }
      case "sample": {
        const flow = sampleFlow(row);
        const before = states.get(flow);
        if (before !== state(row)) {
          say(time, flow, "quic:congestion_state_updated", before === undefined ? { new: state(row) } : { old: before, new: state(row) });
          states.set(flow, state(row));
        }
        const known = shown.get(flow) ?? {};
        shown.set(flow, known);
        const changed: Record<string, number> = {};
        for (const { read, name, factor, column } of metrics) {
          const value = factor === 1 ? Math.round(read(row)) : read(row) * factor;
          const has = !Number.isNaN(value) && !(column === "pacing_bps" && value >= UNPACED_BPS);
          if (has && known[name] !== value) changed[name] = known[name] = value;
        }
        if (Object.keys(changed).length > 0) say(time, flow, "quic:recovery_metrics_updated", changed);
        break;
      }
    }
  }
  flush();
  return found;
}

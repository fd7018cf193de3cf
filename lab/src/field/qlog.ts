// A log of a QUIC connection: qlog 0.3 and 0.4 as JSON, the text sequences of the main schema (draft-ietf-quic-qlog-main-schema),
// and the rows of draft-02 with `event_fields`. Names of events are those of draft-ietf-quic-qlog-quic-events, also the older ones.
//
// Read are metrics, packets sent, received and lost, and congestion states; of several connections, and of both ends of one, the log
// with the most of these. Times, round-trip times among them, are milliseconds (or as `time_units` says), rates bits per second. Times
// count from the first event.

import { line, type Moments, panel, type Ribbon, type Span } from "../trial/panels";
import { quantile } from "../trial/quantile";
import { DASHES, dropHue } from "../words/looks";
import { stateOf } from "../words/states";
import { type Field, MOST_ROWS, rates } from "./field";

type Json = unknown;
type Table = Record<string, Json>;

interface Event {
  time: number;
  /** The log that it is of: one end of one connection. */
  log: Log;
  name: string;
  data: Table;
}

/** What one end has logged of one connection. */
interface Log {
  /** The connection, as far as the log names it: logs of both ends have one. */
  connection: string;
  /** Who has logged. */
  end: string;
  /** Seconds in a unit of its round-trip times. */
  seconds: number;
  events: Event[];
}

const METRICS = ["smoothed_rtt", "latest_rtt", "min_rtt", "congestion_window", "bytes_in_flight", "ssthresh", "pacing_rate"] as const;
type Metric = (typeof METRICS)[number];
const SEQUENCE = "\u001e";
const NO_QLOG = "it is not a qlog; accepted: JSON with traces, or a JSON text sequence with a header (qlog 0.3 and later, draft-02)";
const ACCEPTED = "accepted: recovery:metrics_updated, transport:packet_sent, packet_received or recovery:packet_lost";

/** Reads a log. Throws what a person can read. */
export function readQlog(text: string, name: string): Field {
  const all = text.trimStart().startsWith(SEQUENCE) || isLines(text) ? ofSequence(text) : ofDocument(parsed(text));
  const logs = new Set<Log>();
  for (const event of all) {
    event.log.events.push(event);
    logs.add(event.log);
  }
  const [first, ...rest] = logs;
  if (!first) throw new Error(`it has no event that the lab draws; ${ACCEPTED}`);
  const longest = rest.reduce((found, log) => (log.events.length > found.events.length ? log : found), first);
  return drawn(longest, name, othersOf(longest, [...logs]));
}

/** What else a file has, in words. */
function othersOf(drawn: Log, logs: Log[]): string {
  const connections = new Set(logs.map(({ connection }) => connection));
  const ends = logs.filter(({ connection }) => connection === drawn.connection).length;
  const named = (word: string) => (word ? ` (${word.slice(0, 40)})` : "");
  const ofConnections = connections.size > 1 ? `, the longest of ${connections.size} connections${named(drawn.connection)}` : "";
  return ofConnections + (ends > 1 ? `, the longest of ${ends} vantage points${named(drawn.end)}` : "");
}

/** A document on each line, the header first. */
function isLines(text: string): boolean {
  const end = text.indexOf("\n");
  if (end < 0) return false;
  try {
    const first = JSON.parse(text.slice(0, end)) as Json;
    return isTable(first) && ("qlog_version" in first || "file_schema" in first) && !("traces" in first);
  } catch {
    return false;
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new Error(`${NO_QLOG} (${(error as Error).message.slice(0, 120)})`);
  }
}

function isTable(value: Json): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function inner(table: Json, key: string): Table {
  const value = isTable(table) ? table[key] : undefined;
  return isTable(value) ? value : {};
}

/** A number that is written as one, or as a text. */
function number(value: Json): number {
  const found = typeof value === "number" ? value : typeof value === "string" && value !== "" ? Number(value) : Number.NaN;
  return Number.isFinite(found) && found >= 0 && found < 1e18 ? found : Number.NaN;
}

function* ofSequence(text: string): Generator<Event> {
  let header: Table | null = null;
  let trace: TraceOf | null = null;
  let rows = 0;
  for (const record of records(text)) {
    if (header === null) {
      const first = parsed(record);
      if (!isTable(first) || !("qlog_version" in first || "qlog_format" in first || "file_schema" in first)) throw new Error(NO_QLOG);
      header = first;
      trace = new TraceOf(inner(header, "trace"), []);
      continue;
    }
    limited(++rows);
    let event: Json;
    try {
      event = JSON.parse(record) as Json;
    } catch {
      continue; // RFC 7464 section 2.3: a record that was cut off is passed over
    }
    const read = trace && eventOf(event, trace);
    if (read) yield read;
  }
  if (header === null) throw new Error(NO_QLOG);
}

function* records(text: string): Generator<string> {
  const mark = text.includes(SEQUENCE) ? SEQUENCE : "\n";
  for (let begin = 0; begin < text.length; ) {
    const found = text.indexOf(mark, begin);
    const end = found < 0 ? text.length : found;
    const record = text.slice(begin, end).trim();
    if (record) yield record;
    begin = end + 1;
  }
}

function* ofDocument(document: Json): Generator<Event> {
  const traces = isTable(document) ? document["traces"] : null;
  if (!Array.isArray(traces)) throw new Error(NO_QLOG);
  let rows = 0;
  const before: TraceOf[] = [];
  for (const table of traces) {
    const events = isTable(table) ? table["events"] : null;
    if (!Array.isArray(events)) continue;
    const trace = new TraceOf(table as Table, before);
    before.push(trace);
    const fields = (table as Table)["event_fields"];
    for (const entry of events) {
      limited(++rows);
      const event = eventOf(Array.isArray(entry) && Array.isArray(fields) ? ofRow(entry, fields) : entry, trace);
      if (event) yield event;
    }
  }
}

function limited(rows: number): void {
  if (rows > MOST_ROWS) throw new Error(`it has more than ${MOST_ROWS} events; accepted: at most so many`);
}

/** An event of draft-02: values under the names of `event_fields`. */
function ofRow(row: Json[], fields: Json[]): Table {
  const named = Object.fromEntries(fields.map((field, index) => [String(field), row[index]]));
  const category = named["category"] ?? named["CATEGORY"];
  const event = named["event"] ?? named["EVENT_TYPE"] ?? named["event_type"];
  const time = named["relative_time"] ?? named["time"] ?? named["TIME"];
  return { time, name: `${String(category)}:${String(event)}`, data: named["data"] ?? named["DATA"], group_id: named["group_id"] };
}

/** A trace of a file: its times, whichever of the formats of the schema they have, and the logs in it. */
class TraceOf {
  private before = 0;
  private readonly isDelta: boolean;
  /** Seconds in a unit of its times: up to draft-02 `time_units` is of round-trip times too. */
  private readonly seconds: number;
  /** Empty where the trace does not name its connection. */
  private readonly name: string;
  private readonly end: string;
  private readonly connection: string;
  private readonly logs = new Map<string, Log>();

  constructor(trace: Table, before: TraceOf[]) {
    const common = inner(trace, "common_fields");
    const format = common["time_format"];
    this.isDelta = format === "delta" || format === "relative_to_previous_event";
    this.seconds = inner(trace, "configuration")["time_units"] === "us" ? 1e-6 : 1e-3;
    const id = String(trace["description"] ?? ""); // of picoquic
    const names = [common["group_id"], common["ODCID"], /^([0-9a-f]{2}){4,20}$/i.test(id) ? id : ""];
    this.name = String(names.find((name) => typeof name === "string" && name !== "") ?? "");
    const point = inner(trace, "vantage_point");
    this.end = String(point["type"] ?? point["name"] ?? "");
    // Without names, the first log of a client and the first of a server are of one connection.
    const others = before.filter(({ name, end }) => name === "" && end === this.end);
    this.connection = this.name || (others.length > 0 ? String(others.length + 1) : "");
  }

  /** The log of the connection that an event names, if it names one. */
  log(group: Json): Log {
    const connection = String(group ?? this.connection).slice(0, 100);
    const known = this.logs.get(connection) ?? { connection, end: this.end, seconds: this.seconds, events: [] };
    this.logs.set(connection, known);
    return known;
  }

  read(value: Json): number {
    // Only differences count; a time before the reference is negative.
    const time = typeof value === "number" ? value : Number(value);
    if (!Number.isFinite(time)) return Number.NaN;
    this.before = this.isDelta ? this.before + time : time;
    return this.before * this.seconds;
  }
}

function eventOf(value: Json, trace: TraceOf): Event | null {
  if (!isTable(value)) return null;
  const time = trace.read(value["time"]);
  const name = String(value["name"] ?? value["type"] ?? "").replace(/^.*:/, "").replace(/^recovery_/, "");
  if (Number.isNaN(time) || !["metrics_updated", "metric_update", "packet_sent", "packet_received", "packet_lost", "congestion_state_updated"].includes(name)) return null;
  return { time, name, data: inner(value, "data"), log: trace.log(value["group_id"]) };
}

function sizeOf(data: Table): number {
  return [inner(data, "raw")["length"], inner(data, "header")["packet_size"], data["packet_size"]].map(number).find((size) => size > 0) ?? 0;
}

/** The most steps over packets that were not sent in the order of their numbers: seconds. */
const MOST_STEPS = 200_000_000;

/** What acknowledgements say of packets that were sent. A log may name any ranges, millions of times. */
class Acknowledged {
  readonly times: number[] = [];
  readonly sizes: number[] = [];
  /** Numbers that ascend, the bytes of each, and where the first may be that is outstanding from there on. */
  private readonly packets: number[] = [];
  private readonly bytes: number[] = [];
  private readonly next: number[] = [];
  /** Packets with a number that is not above those before: of several paths, or of the handshake. */
  private readonly strays = new Map<number, number>();
  private steps = 0;

  sent(data: Table): void {
    const header = inner(data, "header");
    const packet = number(header["packet_number"] ?? data["packet_number"]);
    if (!isOfData(header) || Number.isNaN(packet)) return;
    const at = this.search(packet);
    if (at === this.packets.length) {
      this.packets.push(packet);
      this.bytes.push(sizeOf(data));
      this.next.push(at);
    } else if (this.packets[at] === packet && this.next[at] === at) this.bytes[at] = sizeOf(data);
    else this.strays.set(packet, sizeOf(data));
  }

  received(time: number, data: Table): void {
    const frames = data["frames"];
    if (!isOfData(inner(data, "header")) || !Array.isArray(frames)) return;
    let size = 0;
    for (const frame of frames) {
      const ranges = isTable(frame) && frame["frame_type"] === "ack" ? frame["acked_ranges"] : null;
      for (const range of Array.isArray(ranges) ? ranges : []) size += this.take(range);
    }
    if (size === 0) return;
    this.times.push(time);
    this.sizes.push(size);
  }

  /** Bytes of a range, `[3, 5]` or `[3]`, that were not acknowledged before. */
  private take(range: Json): number {
    const [first, last] = (Array.isArray(range) ? [range[0], range[range.length - 1]] : [range, range]).map(number) as [number, number];
    if (!(last >= first)) return 0;
    let size = 0;
    for (let at = this.outstanding(this.search(first)); (this.packets[at] as number) <= last; at = this.outstanding(at + 1)) {
      size += this.bytes[at] as number;
      this.next[at] = at + 1;
    }
    this.steps += this.strays.size;
    if (this.steps > MOST_STEPS) throw new Error("its acknowledgements name too many ranges; accepted: fewer, or packets sent in the order of their numbers");
    for (const [packet, bytes] of this.strays) {
      if (packet < first || packet > last) continue;
      size += bytes;
      this.strays.delete(packet);
    }
    return size;
  }

  /** Where the first packet is that has this number or a higher one. */
  private search(packet: number): number {
    let [from, until] = [0, this.packets.length];
    if (until === 0 || (this.packets[until - 1] as number) < packet) return until;
    while (from < until) {
      const middle = (from + until) >> 1;
      if ((this.packets[middle] as number) < packet) from = middle + 1;
      else until = middle;
    }
    return from;
  }

  /** Where the first packet is, from a place on, that was not acknowledged; on its way it shortens the next. */
  private outstanding(from: number): number {
    let at = from;
    for (let to = this.next[at]; to !== undefined && to !== at; to = this.next[at]) {
      this.next[at] = this.next[to] ?? to;
      at = to;
    }
    return at;
  }
}

/** Packets of the handshake have numbers of their own. */
function isOfData(header: Table): boolean {
  const kind = header["packet_type"];
  return kind === undefined || String(kind).toUpperCase() === "1RTT";
}

function drawn({ events, seconds }: Log, name: string, others: string): Field {
  events.sort((one, other) => one.time - other.time);
  const begin = events[0]?.time ?? 0;
  const end = (events[events.length - 1]?.time ?? 0) - begin;
  const metrics = Object.fromEntries(METRICS.map((metric) => [metric, { times: [] as number[], values: [] as number[] }])) as Record<Metric, { times: number[]; values: number[] }>;
  const sent = { times: [] as number[], sizes: [] as number[] };
  const received = { times: [] as number[], sizes: [] as number[] };
  const acknowledged = new Acknowledged();
  const lost: number[] = [];
  const spans: Span[] = [];
  for (const { time: at, name: kind, data } of events) {
    const time = at - begin;
    if (kind === "packet_lost") lost.push(time);
    else if (kind === "packet_sent" || kind === "packet_received") {
      const to = kind === "packet_sent" ? sent : received;
      to.times.push(time);
      to.sizes.push(sizeOf(data));
      if (to === sent) acknowledged.sent(data);
      else acknowledged.received(time, data);
    } else if (kind === "congestion_state_updated") {
      const state = String(data["new"] ?? "").slice(0, 40);
      const last = spans[spans.length - 1];
      if (last) last.until = time;
      if (state && spans.length < 10_000) spans.push({ state, from: time, until: end, colour: stateOf(state).colour });
    } else {
      for (const metric of METRICS) {
        // aioquic calls its congestion window so.
        const value = number(data[metric] ?? (metric === "congestion_window" ? data["cwnd"] : undefined));
        if (Number.isNaN(value)) continue;
        metrics[metric].times.push(time);
        metrics[metric].values.push(metric.endsWith("_rtt") ? value * seconds : value);
      }
    }
  }
  const total = (of: { sizes: number[] }) => of.sizes.reduce((sum, size) => sum + size, 0);
  const isSender = total(sent) >= total(received);
  const carrying = isSender ? (acknowledged.times.length > 0 ? acknowledged : sent) : received;
  let minRtt = Number.POSITIVE_INFINITY;
  for (const { values } of [metrics.min_rtt, metrics.latest_rtt]) for (const value of values) if (value > 0 && value < minRtt) minRtt = value;
  const rttS = Number.isFinite(minRtt) ? minRtt : undefined;
  const width = Math.max(end / 200, 4 * (rttS ?? 0), 1e-3);
  const rate = rates(carrying.times, carrying.sizes, width);
  const of = (metric: Metric) => [metrics[metric].times, metrics[metric].values] as const;
  const losses: Moments[] = lost.length > 0 ? [{ name: "lost", term: "drop", hue: dropHue("loss"), times: Float64Array.from(lost) }] : [];
  const direction = carrying === acknowledged ? "delivery rate" : isSender ? "sent" : "received";
  const carried = total(carrying) > 0 ? rate : { times: [], values: [] };
  const panels = [
    panel("window", [line("window", "window_bytes", ...of("congestion_window")), line("window", "in_flight_bytes", ...of("bytes_in_flight"))], losses),
    panel("rtt", [
      line("rtt", "latest_rtt_s", ...of("latest_rtt"), { faint: true }),
      line("rtt", "smoothed_rtt_s", ...of("smoothed_rtt")),
      line("rtt", "min_rtt_s", ...of("min_rtt"), { dash: DASHES[2] as number[] }),
    ]),
    panel("rate", [line("rate", "delivery_bps", carried.times, carried.values, { name: direction }), line("rate", "pacing_bps", ...of("pacing_rate"), { spikes: true })]),
  ];
  const ribbons: Ribbon[] = spans.length > 0 ? [{ flow: "the log", spans: spans.filter((span) => span.until > span.from) }] : [];
  const highest = metrics.latest_rtt.values.length > 0 ? quantile(metrics.latest_rtt.values, 0.99) : Number.NaN;
  const bottleneck = quantile(rate.values.slice(0, -1), 0.95);
  return {
    name,
    about: `qlog of ${events.length} events${others}, ${isSender ? "seen from the sender" : "seen from the receiver"}`,
    picture: { end, ribbons, panels: panels.filter(({ lines }) => lines.length > 0) },
    facts: {
      ...(bottleneck > 0 && { rateBps: bottleneck }),
      ...(rttS !== undefined && { rttS }),
      ...(rttS !== undefined && highest > rttS && { bufferS: highest - rttS }),
      ...(total(carrying) > 0 && { transfer: total(carrying) }),
    },
  };
}

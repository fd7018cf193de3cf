// The panels of a trial: which series of its trace are drawn together, with their units and colours.
//
// With one flow, colour tells the series of a panel apart; with several, colour is the flow and the dash the series, as in
// the figures of `thalweg plot`.

import type { Table, Trace, Trial } from "../engine/engine";
import { after, largest, numbers, pick, rowsOf, words } from "./columns";
import { stateOf } from "../words/states";
import type { Unit } from "./quantity";

export type Hue = "blue" | "vermilion" | "green" | "purple" | "orange" | "sky" | "grey";

export interface Line {
  name: string;
  /** The entry of the glossary that explains it. */
  term: string;
  hue: Hue;
  dash: number[];
  times: Float64Array;
  values: Float64Array;
  /** Points are drawn alone: values in between mean nothing. */
  points?: boolean;
  /** Has peaks far above what matters: the scale is that of the other lines. */
  spikes?: boolean;
  /** A light line in the background. */
  faint?: boolean;
}

/** Moments, each a cross at the bottom of a panel. */
export interface Moments {
  name: string;
  term: string;
  hue: Hue;
  times: Float64Array;
  /** The row that the crosses stand in; by default the first. */
  row?: number;
}

export interface Panel {
  id: string;
  title: string;
  unit: Unit;
  lines: Line[];
  moments: Moments[];
  /** Values may be negative: a difference. */
  signed?: boolean;
  /** The scale shows at least this, in the unit of the panel: what the two runs of a difference are scaled by. */
  span?: number;
}

export interface Span {
  state: string;
  from: number;
  until: number;
  colour: string;
}

export interface Ribbon {
  flow: string;
  spans: Span[];
}

export interface Picture {
  end: number;
  ribbons: Ribbon[];
  panels: Panel[];
}

export const HUES: Hue[] = ["blue", "vermilion", "green", "purple", "orange", "sky"];
const DASHES = [[], [6, 3], [2, 3]];
/** More flows are not told apart by colour. */
export const MOST_FLOWS = 6;

export function picture(trial: Trial): Picture {
  const trace = trial.trace;
  if (!trace) return { end: 0, ribbons: [], panels: [] };
  const ends = numbers(trial.outcomes.trials, "end_s");
  const end = ends[0] ?? 0;
  const flows = words(trace.flows, "flow").words.slice(0, MOST_FLOWS);
  const panels = [
    windows(trace, flows),
    trips(trace, flows, trial),
    rates(trace, flows),
    queue(trace),
    marks(trace),
    held(trace, flows),
    ...frames(trace),
  ];
  return {
    end,
    ribbons: flows.map((flow) => ribbon(trace, flow, end)),
    panels: panels.filter((panel) => panel.lines.some((line) => line.values.length > 0)),
  };
}

/** Lines of several columns of the samples of flows. */
function senderLines(trace: Trace, flows: string[], series: [column: string, name: string, term: string, hue: Hue][]): Line[] {
  const of = words(trace.flows, "flow");
  const times = numbers(trace.flows, "time_s");
  return flows.flatMap((flow, number) => {
    const rows = rowsOf(of, flow);
    const own = pick(times, rows);
    return series.map(([column, name, term, hue], index) => ({
      name: flows.length > 1 ? `${flow}: ${name}` : name,
      term,
      hue: flows.length > 1 ? (HUES[number] as Hue) : hue,
      dash: flows.length > 1 ? (DASHES[index % DASHES.length] as number[]) : [],
      times: own,
      values: known(pick(numbers(trace.flows, column), rows), column),
      faint: column === "latest_rtt_s",
      spikes: column === "pacing_bps" || column === "delivery_bps",
    }));
  });
}

/** A controller that does not pace asks for a packet each nanosecond: that is no rate to draw. */
function known(values: Float64Array, column: string): Float64Array {
  return column === "pacing_bps" ? values.map((rate) => (rate >= 1200 * 8 * 1e9 ? Number.NaN : rate)) : values;
}

function windows(trace: Trace, flows: string[]): Panel {
  const lines = senderLines(trace, flows, [
    ["window_bytes", "window", "congestion window", "blue"],
    ["in_flight_bytes", "in flight", "bytes in flight", "orange"],
  ]);
  return { id: "window", title: "Window and bytes in flight", unit: "bytes", lines, moments: [] };
}

function trips(trace: Trace, flows: string[], trial: Trial): Panel {
  const lines = senderLines(trace, flows, [
    ["latest_rtt_s", "latest", "latest RTT", "sky"],
    ["smoothed_rtt_s", "smoothed", "smoothed RTT", "vermilion"],
  ]);
  const least = numbers(trial.outcomes.flows, "min_rtt_s")[0];
  const [first] = lines;
  if (least !== undefined && first && first.times.length > 0) {
    const times = Float64Array.of(first.times[0] as number, first.times[first.times.length - 1] as number);
    const values = Float64Array.of(least, least);
    lines.push({ name: "least", term: "base RTT", hue: "green", dash: [2, 3], times, values });
  }
  return { id: "rtt", title: "Round-trip time", unit: "s", lines, moments: [] };
}

/** The samples of the link that carries the data: the one that delivers the most bytes. */
export function bottleneck(trace: Trace): { name: string; rows: Uint32Array } {
  const of = words(trace.links, "link");
  const delivered = numbers(trace.links, "delivered_bytes");
  let found: { name: string; rows: Uint32Array; bytes: number } = { name: "", rows: new Uint32Array(), bytes: -1 };
  for (const name of of.words) {
    const rows = rowsOf(of, name);
    const bytes = delivered[rows[rows.length - 1] ?? -1] ?? 0;
    if (bytes > found.bytes) found = { name, rows, bytes };
  }
  return found;
}

function rates(trace: Trace, flows: string[]): Panel {
  const lines = senderLines(trace, flows, [
    ["pacing_bps", "pacing", "pacing rate", "blue"],
    ["delivery_bps", "delivery", "delivery rate", "vermilion"],
  ]);
  const { rows } = bottleneck(trace);
  lines.push({
    name: "capacity",
    term: "capacity",
    hue: "grey",
    dash: [],
    times: pick(numbers(trace.links, "time_s"), rows),
    values: pick(numbers(trace.links, "capacity_bps"), rows),
  });
  return { id: "rate", title: "Sending, delivery and capacity", unit: "bps", lines, moments: [] };
}

function queue(trace: Trace): Panel {
  const { name, rows } = bottleneck(trace);
  const dropped = rowsOf(words(trace.drops, "link"), name);
  return {
    id: "queue",
    title: `Queue of ${name}`,
    unit: "s",
    lines: [
      {
        name: "waiting time",
        term: "queue delay",
        hue: "purple",
        dash: [],
        times: pick(numbers(trace.links, "time_s"), rows),
        values: pick(numbers(trace.links, "queue_delay_s"), rows),
      },
    ],
    moments: [
      {
        name: "drops",
        term: "drop",
        hue: "vermilion",
        times: pick(numbers(trace.drops, "time_s"), dropped),
      },
    ],
  };
}

/** Marks so far: absent if nothing was marked. */
function marks(trace: Trace): Panel {
  const { rows } = bottleneck(trace);
  const values = pick(numbers(trace.links, "marked_packets"), rows);
  const marked = largest(values) > 0;
  return {
    id: "marks",
    title: "Packets marked so far",
    unit: "packets",
    lines: [
      {
        name: "marked",
        term: "ECN mark",
        hue: "orange",
        dash: [],
        times: marked ? pick(numbers(trace.links, "time_s"), rows) : new Float64Array(),
        values: marked ? values : new Float64Array(),
      },
    ],
    moments: [],
  };
}

/** Packets that links held back, by jitter or behind others. */
function held(trace: Trace, flows: string[]): Panel {
  const of = words(trace.held, "flow");
  const lines = flows.map((flow, number): Line => {
    const rows = rowsOf(of, flow);
    return {
      name: flows.length > 1 ? flow : "held back",
      term: "jitter",
      hue: flows.length > 1 ? (HUES[number] as Hue) : "green",
      dash: [],
      times: pick(numbers(trace.held, "time_s"), rows),
      values: pick(numbers(trace.held, "held_s"), rows),
      points: true,
    };
  });
  return { id: "held", title: "Packets held back by jitter", unit: "s", lines, moments: [] };
}

/** The frames of each flow that carries a call: how late each came, and which missed their deadline. */
function frames(trace: Trace): Panel[] {
  const of = words(trace.frames, "flow");
  return of.words.map((flow) => {
    const rows = rowsOf(of, flow);
    const streams = words(trace.frames, "stream");
    const [times, delays, deadlines] = ["time_s", "delay_s", "deadline_s"].map((name) =>
      numbers(trace.frames, name),
    ) as [Float64Array, Float64Array, Float64Array];
    const late = rows.filter((row) => !((delays[row] as number) <= (deadlines[row] as number)));
    const lines = streams.words.map((stream, number): Line => {
      const index = streams.words.indexOf(stream);
      const own = rows.filter((row) => streams.indices[row] === index);
      return {
        name: stream,
        term: "frame delay",
        hue: HUES[number % HUES.length] as Hue,
        dash: [],
        times: pick(times, own),
        values: pick(delays, own),
        points: true,
      };
    });
    return {
      id: `frames-${flow}`,
      title: of.words.length > 1 ? `Frames of the call ${flow}` : "Frames of the call",
      unit: "s" as const,
      lines,
      moments: [
        { name: "deadline missed", term: "deadline", hue: "vermilion" as const, times: pick(times, late) },
      ],
    };
  });
}

function ribbon(trace: Trace, flow: string, end: number): Ribbon {
  const rows = rowsOf(words(trace.flows, "flow"), flow);
  const times = numbers(trace.flows, "time_s");
  const states = words(trace.flows, "state");
  const spans: Span[] = [];
  for (const row of rows) {
    const state = states.words[states.indices[row] as number] as string;
    const last = spans[spans.length - 1];
    const from = times[row] as number;
    if (last?.state === state) continue;
    if (last) last.until = from;
    spans.push({ state, from, until: end, colour: stateOf(state).colour });
  }
  return { flow, spans: spans.filter((span) => span.until > span.from) };
}

/** The state of a flow at a time. */
export function stateAt(ribbon: Ribbon, time: number): string | null {
  const starts = Float64Array.from(ribbon.spans, (span) => span.from);
  const index = after(starts, time) - 1;
  return ribbon.spans[index]?.state ?? null;
}

/** A word of a CSV file. With an apostrophe before it, a spreadsheet takes a name such as `=1+1` for no formula. */
function quoted(word: string): string {
  const inert = /^[=+\-@\t\r]/.test(word) ? `'${word}` : word;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/** Rows of a table as text of CSV, for spreadsheets. */
export function csv(table: Table): string {
  const names = Object.keys(table);
  const columns = names.map((name) => table[name] as NonNullable<Table[string]>);
  const [first] = columns;
  const rows = first ? ("indices" in first ? first.indices.length : first.length) : 0;
  const cell = (column: Table[string], row: number): string => {
    const value = "indices" in column ? column.words[column.indices[row] as number] : column[row];
    if (typeof value === "string") return quoted(value);
    return value === undefined || Number.isNaN(value) ? "" : String(value);
  };
  const lines = Array.from({ length: rows }, (_, row) => columns.map((column) => cell(column, row)).join(","));
  return [names.join(","), ...lines, ""].join("\n");
}

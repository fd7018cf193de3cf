// The panels of a trial: which series of its trace are drawn together, with their units and colours.
//
// With one flow, colour tells the series of a panel apart; with several, colour is the flow and the dash the series, as in
// the figures of `thalweg plot`.

import type { Table, Trace, Trial } from "../engine/engine";
import { DASHES, dropHue, FLOW_HUES, FRAME_HUES, HELD_HUES, type Hue, LINK_HUES, linkCalled, PANELS, type PanelName, seriesOf, titleOf, unitOf } from "../words/looks";
import type { Unit } from "../words/quantity";
import { stateOf } from "../words/states";
import { after, largest, numbers, pick, rowsOf, words } from "./columns";

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
  /** What its spans are, if not states of the controller. */
  title?: string;
  spans: Span[];
}

export interface Picture {
  end: number;
  ribbons: Ribbon[];
  panels: Panel[];
}

/** More flows are not told apart by colour. */
export const MOST_FLOWS = FLOW_HUES.length;

/** A line of a panel: the series of a column, with its colour, or what `more` says. */
export function line(of: PanelName, column: string, times: ArrayLike<number>, values: ArrayLike<number>, more: Partial<Line> = {}): Line {
  const { name, hue } = seriesOf(of).find((series) => series.column === column) ?? { name: column, hue: "grey" as const };
  return { name, term: name, hue, dash: [], times: Float64Array.from(times), values: Float64Array.from(values), ...more };
}

/** A panel, with its title and its unit. */
export function panel(id: PanelName, lines: Line[], moments: Moments[] = [], more: Partial<Panel> = {}): Panel {
  return { id, title: titleOf(id), unit: unitOf(id), lines: lines.filter(({ times }) => times.length > 0), moments, ...more };
}

export function picture(trial: Trial): Picture {
  const trace = trial.trace;
  if (!trace) return { end: 0, ribbons: [], panels: [] };
  const ends = numbers(trial.outcomes.trials, "end_s");
  const end = ends[0] ?? 0;
  const flows = words(trace.flows, "flow").words.slice(0, MOST_FLOWS);
  const makers: Record<Exclude<PanelName, "states">, () => Panel[]> = {
    window: () => [panel("window", senderLines(trace, flows, "window"))],
    rtt: () => [trips(trace, flows, trial)],
    rate: () => [rates(trace, flows)],
    queue: () => [queue(trace)],
    marks: () => [marks(trace)],
    held: () => [held(trace)],
    encoder: () => encoders(trace),
    frames: () => frames(trace),
  };
  return {
    end,
    ribbons: flows.map((flow) => ribbon(trace, flow, end)),
    panels: PANELS.flatMap((name) => (name === "states" ? [] : makers[name]())).filter(({ lines }) => lines.length > 0),
  };
}

/** The series of a panel that the samples of flows have. */
function senderLines(trace: Trace, flows: string[], of: PanelName): Line[] {
  const names = words(trace.flows, "flow");
  const times = numbers(trace.flows, "time_s");
  const series = seriesOf(of).filter(({ column }) => column in trace.flows);
  return flows.flatMap((flow, number) => {
    const rows = rowsOf(names, flow);
    const own = pick(times, rows);
    return series.map(({ column, name }, index) =>
      line(of, column, own, known(pick(numbers(trace.flows, column), rows), column), {
        ...(flows.length > 1 && { name: `${flow}: ${name}`, hue: FLOW_HUES[number] as Hue, dash: DASHES[index % DASHES.length] as number[] }),
        faint: column === "latest_rtt_s",
        spikes: column === "pacing_bps" || column === "delivery_bps",
      }),
    );
  });
}

/** A controller that does not pace asks for a packet each nanosecond: that is not a rate to draw. */
function known(values: Float64Array, column: string): Float64Array {
  return column === "pacing_bps" ? values.map((rate) => (rate >= 1200 * 8 * 1e9 ? Number.NaN : rate)) : values;
}

function trips(trace: Trace, flows: string[], trial: Trial): Panel {
  const lines = senderLines(trace, flows, "rtt");
  const least = numbers(trial.outcomes.flows, "min_rtt_s")[0];
  const times = lines[0]?.times ?? new Float64Array();
  if (least !== undefined && times.length > 0) {
    lines.push(line("rtt", "min_rtt_s", [times[0] as number, times[times.length - 1] as number], [least, least], { dash: DASHES[2] as number[] }));
  }
  return panel("rtt", lines);
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
  return panel("rate", [...senderLines(trace, flows, "rate"), capacity(trace)]);
}

function capacity(trace: Trace): Line {
  const { rows } = bottleneck(trace);
  return line("rate", "capacity_bps", pick(numbers(trace.links, "time_s"), rows), pick(numbers(trace.links, "capacity_bps"), rows));
}

/** The rate of each encoder, and what it is told: absent if no stream has one. */
function encoders(trace: Trace): Panel[] {
  const [flows, streams] = [words(trace.frames, "flow"), words(trace.frames, "stream")];
  const [times, rates] = [numbers(trace.frames, "time_s"), numbers(trace.frames, "encoder_bps")];
  const sources = flows.words.flatMap((flow) =>
    streams.words.flatMap((stream, number) => {
      const rows = rowsOf(flows, flow).filter((row) => streams.indices[row] === number && !Number.isNaN(rates[row]));
      return rows.length > 0 ? [{ name: flows.words.length > 1 ? `${flow}: ${stream}` : stream, rows }] : [];
    }),
  );
  if (sources.length === 0) return [];
  const lines = sources.flatMap(({ name: source, rows }, place) =>
    seriesOf("encoder").map(({ column, name }, index) =>
      line("encoder", column, pick(times, rows), pick(numbers(trace.frames, column), rows), {
        ...(sources.length > 1 && { name: `${source}: ${name}`, hue: FLOW_HUES[place % FLOW_HUES.length] as Hue, dash: DASHES[index % DASHES.length] as number[] }),
      }),
    ),
  );
  return [panel("encoder", [...lines, capacity(trace)])];
}

/** The line of a queue. A wait in a link without capacity has no end: there is no line. */
export function queueLine(link: string, times: ArrayLike<number>, delays: ArrayLike<number>): Line {
  const known = Float64Array.from(delays, (delay) => (Number.isFinite(delay) ? delay : Number.NaN));
  return line("queue", `queue, ${linkCalled(link)}`, times, known, { term: "queue delay", hue: LINK_HUES[0] as Hue });
}

function queue(trace: Trace): Panel {
  const { name, rows } = bottleneck(trace);
  const dropped = rowsOf(words(trace.drops, "link"), name);
  const times = numbers(trace.drops, "time_s");
  const reasons = words(trace.drops, "reason");
  const moments = reasons.words.map((reason, index): Moments => {
    const own = dropped.filter((row) => reasons.indices[row] === index);
    return { name: `dropped (${reason})`, term: "drop", hue: dropHue(reason), times: pick(times, own) };
  });
  return panel("queue", [queueLine(name, pick(numbers(trace.links, "time_s"), rows), pick(numbers(trace.links, "queue_delay_s"), rows))], moments);
}

/** Marks so far: absent if nothing was marked. */
function marks(trace: Trace): Panel {
  const { name, rows } = bottleneck(trace);
  const values = pick(numbers(trace.links, "marked_packets"), rows);
  const more = { term: "ECN mark", hue: LINK_HUES[0] as Hue };
  return panel("marks", largest(values) > 0 ? [line("marks", `marked, ${linkCalled(name)}`, pick(numbers(trace.links, "time_s"), rows), values, more)] : []);
}

/** Packets that links held back, by jitter or behind others. */
function held(trace: Trace): Panel {
  const links = words(trace.held, "link");
  const lines = links.words.map((link, number) => {
    const rows = rowsOf(links, link);
    const more = { term: "jitter", hue: HELD_HUES[number % HELD_HUES.length] as Hue, points: true };
    return line("held", `held back, ${linkCalled(link)}`, pick(numbers(trace.held, "time_s"), rows), pick(numbers(trace.held, "held_s"), rows), more);
  });
  return panel("held", lines);
}

type Fate = keyof typeof FRAME_HUES;

/** A panel for each stream of each call: how late each frame came, and which never did. */
function frames(trace: Trace): Panel[] {
  const [flows, streams] = [words(trace.frames, "flow"), words(trace.frames, "stream")];
  const [times, delays, deadlines] = ["time_s", "delay_s", "deadline_s"].map((name) => numbers(trace.frames, name)) as [Float64Array, Float64Array, Float64Array];
  const counted = trace.frames["counted"];
  const fateOf = (row: number): Fate => {
    if (counted instanceof Uint8Array && counted[row] === 0) return "before the start of measurement";
    const delay = delays[row] as number;
    return Number.isNaN(delay) ? "never came" : delay > (deadlines[row] as number) ? "late" : "in time";
  };
  return flows.words.flatMap((flow) =>
    streams.words.flatMap((stream, number) => {
      const rows = rowsOf(flows, flow).filter((row) => streams.indices[row] === number);
      if (rows.length === 0) return [];
      const label = flows.words.length > 1 ? `${flow}: ${stream}` : stream;
      const of = (fate: Fate) => rows.filter((row) => fateOf(row) === fate);
      const points = (["in time", "late", "before the start of measurement"] as const).map((fate) =>
        line("frames", fate, pick(times, of(fate)), pick(delays, of(fate)), { term: "frame delay", hue: FRAME_HUES[fate], points: true }),
      );
      const [first, last] = [rows[0] as number, rows[rows.length - 1] as number];
      const limit = deadlines[first] as number;
      const deadline = line("frames", "deadline", [times[first] as number, times[last] as number], [limit, limit], { dash: DASHES[1] as number[] });
      const never = { name: "never came", term: "frame delay", hue: FRAME_HUES["never came"], times: pick(times, of("never came")) };
      return [panel("frames", [...points, deadline], [never], { id: `frames-${label}`, title: `${titleOf("frames")}: ${label}` })];
    }),
  );
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

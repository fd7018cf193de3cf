// Traces that the command line reads too: delivery opportunities (mahimahi), jitter, and series of `thalweg probe`.

import { line, panel } from "../trial/panels";
import { quantile } from "../trial/quantile";
import { dropHue, HELD_HUES, type Hue } from "../words/looks";
import { text } from "../words/quantity";
import { type Field, MOST_ROWS, rates } from "./field";

/** A packet of mahimahi's traces (docs/reference/models.md, capacity). */
const OPPORTUNITY = 1500;
const SERIES = "number,sent_ns,arrived_ns,returned_ns,received_ns,replies,counted";

function wrong(number: number, text: string, accepted: string): Error {
  return new Error(`line ${number}: "${text.slice(0, 60)}"; accepted: ${accepted}`);
}

function lines(text: string): string[] {
  const found = text.split(/\r?\n/);
  if (found[found.length - 1] === "") found.pop();
  if (found.length > MOST_ROWS) throw new Error(`it has ${found.length} lines; accepted: at most ${MOST_ROWS}`);
  if (found.length === 0) throw new Error("it is empty; accepted: a number on each line");
  return found;
}

/** A trace by the numbers on its first line: one is a time, two are a time and a delay. */
export function readTrace(text: string, name: string): Field {
  const [first = ""] = text.split("\n", 1);
  return first.trim().split(/\s+/).length === 2 ? readJitter(text, name) : readDelivery(text, name);
}

/** Times in milliseconds, each an opportunity to deliver a packet. */
function readDelivery(text: string, name: string): Field {
  const times = lines(text).map((content, index) => {
    if (!/^\s*\d{1,8}\s*$/.test(content)) throw wrong(index + 1, content, "a time in whole milliseconds on each line");
    return Number(content);
  });
  times.forEach((time, index) => {
    if (index > 0 && time < (times[index - 1] as number)) throw wrong(index + 1, String(time), `a time that is not before ${times[index - 1]}`);
  });
  const end = (times[times.length - 1] as number) / 1e3;
  const seconds = times.map((time) => time / 1e3);
  const width = Math.max(end / 300, 0.1);
  const capacity = rates(seconds, seconds.map(() => OPPORTUNITY), width);
  const mean = (8 * OPPORTUNITY * times.length) / Math.max(end, 1e-3);
  return {
    name,
    about: `a delivery trace of ${times.length} packets in ${end.toFixed(1)} s`,
    picture: { end, ribbons: [], panels: [panel("rate", [line("rate", "capacity_bps", capacity.times, capacity.values)])] },
    facts: { trace: `ms: ${times.join(" ")}`, transfer: (mean / 8) * Math.min(end, 10) },
  };
}

/** Times and delays in microseconds. */
function readJitter(source: string, name: string): Field {
  const rows = lines(source).map((content, index) => {
    const [time, delay, more] = content.trim().split(/\s+/);
    if (!/^\d{1,11}$/.test(time ?? "") || !/^\d{1,11}$/.test(delay ?? "") || more !== undefined) throw wrong(index + 1, content, "a time and a delay in whole microseconds on each line");
    return [Number(time), Number(delay)] as const;
  });
  const times = rows.map(([time]) => time / 1e6);
  const delays = rows.map(([, delay]) => delay / 1e6);
  const end = times[times.length - 1] as number;
  return {
    name,
    about: `a trace of jitter over ${end.toFixed(1)} s: median ${text(quantile(delays, 0.5), "s")}, 95 % within ${text(quantile(delays, 0.95), "s")}`,
    picture: { end, ribbons: [], panels: [panel("held", [line("held", "held back", times, delays, { term: "jitter", hue: HELD_HUES[0] as Hue, points: true })])] },
    facts: { jitter: `us: ${rows.flat().join(" ")}` },
  };
}

/**
 * The series of a probe, read as python/thalweg/probe/series.py reads it: half of what each round trip has above the least is the
 * jitter of either direction. Remarks, lines that begin with #, may stand anywhere.
 */
export function readSeries(text: string, name: string): Field {
  const all = lines(text).map((content, index) => ({ content: content.trim(), number: index + 1 }));
  const [head, ...rows] = all.filter(({ content }) => content !== "" && !content.startsWith("#"));
  const names = head?.content.split(",").map((cell) => cell.trim());
  if (!head || names?.join() !== SERIES) throw wrong(head?.number ?? 1, head?.content ?? "", `a series of thalweg probe, which begins with ${SERIES}`);
  const [sent, rtts, lost]: [number[], number[], number[]] = [[], [], []];
  let first: number | null = null;
  let last = -1;
  for (const { content, number } of rows) {
    const fields = content.split(",").map((cell) => (cell.trim() === "" ? Number.NaN : Number(cell)));
    const [, at, arrived, returned, back] = fields as [number, number, number, number, number];
    const isAnswered = [arrived, returned, back].every(Number.isFinite);
    if (fields.length !== 7 || !Number.isFinite(at) || (isAnswered && !(back >= at))) throw wrong(number, content, `numbers under ${SERIES}`);
    first ??= at;
    last = Math.max(last, at);
    if (!isAnswered) lost.push((at - first) / 1e9);
    else {
      sent.push((at - first) / 1e9);
      // Without the time that the server took.
      rtts.push((back - at - (returned - arrived)) / 1e9);
    }
  }
  if (rtts.length === 0) throw new Error("no probe was answered; accepted: a series with answers");
  const least = quantile(rtts, 0);
  const end = (last - (first ?? 0)) / 1e9;
  const interval = end / Math.max(1, rows.length - 1);
  const jitter: number[] = [];
  sent.forEach((time, index) => {
    const at = Math.round(time * 1e6);
    if (at > (jitter[jitter.length - 2] ?? -1)) jitter.push(at, Math.round(((rtts[index] as number) - least) * 5e5));
  });
  // The last line closes the period with the delay of the first, so that a repetition does not jump.
  jitter.push(Math.round((end + interval) * 1e6) || 1, jitter[1] as number);
  return {
    name,
    about: `a probe of ${rows.length} packets in ${end.toFixed(1)} s, ${lost.length} without an answer`,
    picture: {
      end,
      ribbons: [],
      panels: [panel("rtt", [line("rtt", "latest_rtt_s", sent, rtts, { points: true })], [{ name: "lost", term: "drop", hue: dropHue("loss"), times: Float64Array.from(lost) }])],
    },
    facts: { rttS: least, jitter: `us: ${jitter.join(" ")}` },
  };
}

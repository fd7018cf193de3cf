// What was measured elsewhere: its series, and what they say of the path. Drawn beside a simulated run of the same path.

import { signal } from "@preact/signals";
import type { Picture } from "../trial/panels";
import { written } from "../words/quantity";

/** What a measurement says of its path, as far as it says it. */
export interface PathFacts {
  rttS?: number;
  /** Bytes of the transfer. */
  transfer?: number;
  /** Times of delivery opportunities, as `trace` of a scenario takes them. */
  trace?: string;
  /** Times and delays, as `file` of a jitter takes them. */
  jitter?: string;
}

export interface Field {
  name: string;
  /** What it is, in a sentence. */
  about: string;
  picture: Picture;
  facts: PathFacts;
}

/** The measurement that is drawn beside the present run. */
export const field = signal<Field | null>(null);

/** The most bytes of a file, packed and unpacked. */
export const LARGEST = 64 << 20;
/** The most rows that are read. */
export const MOST_ROWS = 2_000_000;

/** Bits per second in intervals of `width` seconds: where sizes in bytes lie at times that ascend. */
export function rates(times: number[], sizes: number[], width: number): { times: number[]; values: number[] } {
  const last = times[times.length - 1] ?? 0;
  const sums = new Float64Array(Math.min(Math.floor(last / width) + 1, 100_000));
  times.forEach((time, index) => {
    const at = Math.floor(time / width);
    if (at >= 0 && at < sums.length) sums[at] = (sums[at] as number) + (sizes[index] as number);
  });
  return { times: Array.from(sums, (_, index) => index * width), values: Array.from(sums, (sum) => (8 * sum) / width) };
}

const OTHERWISE = { rate: 20e6, rtt: 0.04, bytes: 10e6 };

/** A scenario with such a path and one download. What the measurement does not say has a common value, and the note says so. */
export function scenario({ name, facts }: Field, controller: string): string {
  const known = (value: number | undefined, least: number, most: number) => value !== undefined && value >= least && value <= most;
  const rtt = known(facts.rttS, 1e-5, 60) ? (facts.rttS as number) : null;
  const assumed = [...(facts.trace === undefined ? ["rate"] : []), ...(rtt === null ? ["rtt"] : [])];
  const note = assumed.length > 0 ? `The measurement does not say: ${assumed.join(", ")}.` : "All from the measurement.";
  const lines = [
    `title = ${JSON.stringify(`Path of ${plain(name)}`)}`,
    `note = ${JSON.stringify(note)}`,
    "",
    "[path]",
    facts.trace === undefined ? `rate = "${written(OTHERWISE.rate, "bps")}"` : `trace = "${facts.trace}"`,
    `rtt = "${written(rtt ?? OTHERWISE.rtt, "s")}"`,
    ...(facts.jitter === undefined ? [] : [`jitter = { model = "trace", file = "${facts.jitter}" }`]),
    "",
    "[[flow]]",
    'name = "main"',
    `controller = ${JSON.stringify(controller)}`,
    `download = "${written(known(facts.transfer, 1e3, 1e10) ? (facts.transfer as number) : OTHERWISE.bytes, "bytes")}"`,
    "",
  ];
  return lines.join("\n");
}

/** A name that TOML and a title take. */
function plain(name: string): string {
  return name.replaceAll(/[^\w. -]/g, "_").slice(0, 80);
}

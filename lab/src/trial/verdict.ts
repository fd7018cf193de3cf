// What criteria ask of a number, in one trial and in many: as python/thalweg/judging/verdict.py has it, whose words say why.

import type { Criterion, Outcomes, Table } from "../engine/engine";
import { numbers, words } from "./columns";
import { quantile } from "./quantile";

/** Times of a flow, from the start of the trial. */
const TIMES = ["completion_s", "closed_s"];

/** What a criterion bounds, and how. */
export type Bound = Pick<Criterion, "flow" | "stream" | "metric" | "column" | "until_the_end" | "at_most" | "at_least" | "in" | "floor">;

/** What trials say about a criterion. */
export interface Judgement {
  n: number;
  median: number;
  p95: number;
  /** The largest value, or the smallest where the bound is a least one. */
  worst: number;
  /** Trials beyond the bound. */
  failures: number;
  answer: "holds" | "fails" | "infeasible";
}

/** The completion of a flow, for comparison: in the form of a criterion. */
export function completionOf(flow: string): Criterion {
  return {
    flow, metric: "completion", stream: null, column: "completion_s", unit: "s", until_the_end: false,
    at_most: null, at_least: null, in: 1, floor: null, source: null, informative: true,
  };
}

/** The value of what did not finish: infinite, on the side of failure. */
export function missing({ at_least }: Pick<Criterion, "at_least">): number {
  return at_least === null ? Infinity : -Infinity;
}

/**
 * What a criterion bounds in each trial, by its index. Times count from when the scenario has the flow start, at `starts`, as if it had
 * started then.
 */
export function values(outcomes: Pick<Outcomes, "flows" | "streams">, criterion: Bound, trials: number, starts: Record<string, number>): Float64Array {
  const found = new Float64Array(trials).fill(missing(criterion));
  const own = rowsWith(outcomes.flows, "flow", criterion.flow);
  const { finished } = outcomes.flows;
  const isAsked = !criterion.until_the_end;
  const late = TIMES.includes(criterion.column) && criterion.stream === null ? (starts[criterion.flow] ?? 0) : null;
  const begins = numbers(outcomes.flows, "start_s");
  const trialOf = numbers(outcomes.flows, "trial");
  const column = numbers(criterion.stream === null ? outcomes.flows : outcomes.streams, criterion.column);
  const rows = criterion.stream === null ? null : rowByTrial(outcomes.streams, criterion.flow, criterion.stream);
  for (const row of own) {
    const trial = trialOf[row] as number;
    const value = column[rows === null ? row : (rows.get(trial) ?? -1)] ?? Number.NaN;
    const isDone = !isAsked || !(finished instanceof Uint8Array) || finished[row] === 1;
    if (isDone && !Number.isNaN(value)) found[trial] = late === null ? value : value - ((begins[row] ?? late) - late);
  }
  return found;
}

function rowsWith(table: Table, name: string, word: string): number[] {
  const { indices, words: known } = words(table, name);
  const index = known.indexOf(word);
  const rows: number[] = [];
  if (index >= 0) indices.forEach((value, row) => value === index && rows.push(row));
  return rows;
}

function rowByTrial(streams: Table, flow: string, stream: string): Map<number, number> {
  const named = new Set(rowsWith(streams, "stream", stream));
  const trials = numbers(streams, "trial");
  return new Map(rowsWith(streams, "flow", flow).flatMap((row) => (named.has(row) ? [[trials[row] as number, row]] : [])));
}

/** Whether a number meets a criterion. */
export function meets(value: number, { at_most, at_least }: Pick<Criterion, "at_most" | "at_least">): boolean {
  return (at_most === null || value <= at_most) && (at_least === null || value >= at_least);
}

/** What the values of trials say about a criterion. */
export function judge(found: Float64Array, criterion: Bound): Judgement {
  const { at_most: most, at_least: least, floor } = criterion;
  const n = found.length;
  const failures = found.reduce((sum, value) => sum + (meets(value, criterion) ? 0 : 1), 0);
  // Rounded first: 10 trials less 90 % of them are 1, and not 0.9999999999999998.
  const allowed = Math.floor(Number((n * (1 - criterion.in)).toFixed(9)));
  const isOutOfReach = least === null && most !== null && floor !== null && most < floor && failures === n;
  return {
    n,
    median: quantile(found, 0.5),
    p95: quantile(found, 0.95),
    worst: found.reduce((worst, value) => (least === null ? Math.max(worst, value) : Math.min(worst, value)), -missing(criterion)),
    failures,
    answer: isOutOfReach ? "infeasible" : failures > allowed ? "fails" : "holds",
  };
}

/** A criterion in words: `main closed`, `main audio mean-delay`. */
export function subject({ flow, stream, metric }: Pick<Criterion, "flow" | "stream" | "metric">): string {
  return [flow, stream, metric].filter((word) => word !== null).join(" ");
}

// The numbers that criteria bound, in one trial and in many.

import type { Criterion, Outcomes } from "../engine/engine";
import { numbers, words } from "./columns";

/** The number of a criterion in each trial, by its index; NaN where it has none. */
export function values(outcomes: Outcomes, criterion: Criterion): Float64Array {
  const table = criterion.stream === null ? outcomes.flows : outcomes.streams;
  const flows = words(table, "flow");
  const streams = criterion.stream === null ? null : words(table, "stream");
  const column = numbers(table, criterion.column);
  const trials = numbers(table, "trial");
  const found = new Float64Array(numbers(outcomes.trials, "trial").length).fill(Number.NaN);
  column.forEach((value, row) => {
    const isFlow = flows.words[flows.indices[row] as number] === criterion.flow;
    const isStream = !streams || streams.words[streams.indices[row] as number] === criterion.stream;
    if (isFlow && isStream) found[trials[row] as number] = value;
  });
  return found;
}

/** Whether a number meets a criterion. A number that is missing does not: the transfer has not ended. */
export function meets(value: number, { at_most, at_least }: Criterion): boolean {
  return (at_most === null || value <= at_most) && (at_least === null || value >= at_least);
}

/** The value that a share of the known ones does not exceed, by rank. */
export function quantile(known: Float64Array, share: number): number {
  const sorted = known.filter((value) => !Number.isNaN(value)).sort();
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

/** A criterion in words: `main closed`, `main/audio mean-delay`. */
export function subject(criterion: Criterion): string {
  const of = criterion.stream === null ? criterion.flow : `${criterion.flow} ${criterion.stream}`;
  return `${of} ${criterion.metric}`;
}

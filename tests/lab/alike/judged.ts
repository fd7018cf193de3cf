// A criterion, judged as the page does, from tables as JSON has them.

import { judge, values } from "../../../lab/src/trial/verdict";
import type { Bound } from "../../../lab/src/trial/verdict";
import type { Column, Table } from "../../../lab/src/engine/engine";

type Plain = Record<string, (string | number | boolean)[]>;

export function judged(outcomes: Record<"flows" | "streams", Plain>, criterion: Bound, trials: number, starts: Record<string, number>) {
  const found = values({ flows: table(outcomes.flows), streams: table(outcomes.streams) }, criterion, trials, starts);
  return [found, judge(found, criterion)];
}

function table(plain: Plain): Table {
  return Object.fromEntries(Object.entries(plain).map(([name, column]) => [name, packed(column)]));
}

function packed(column: (string | number | boolean)[]): Column {
  if (column.every((value) => typeof value === "boolean")) return Uint8Array.from(column, Number);
  if (column.every((value) => typeof value === "number")) return Float64Array.from(column as number[]);
  const words = [...new Set(column as string[])];
  return { indices: Uint32Array.from(column, (word) => words.indexOf(word as string)), words };
}

// Reading tables: columns of one kind, rows of one flow or link, and where a time lies.

import type { Column, Table, Words } from "../engine/engine";

export function numbers(table: Table, name: string): Float64Array {
  const column = table[name];
  return column instanceof Float64Array ? column : new Float64Array();
}

export function words(table: Table, name: string): Words {
  const column: Column | undefined = table[name];
  return column && "indices" in column ? column : { indices: new Uint32Array(), words: [] };
}

/** The rows in which a column of words has this word. */
export function rowsOf(column: Words, word: string): Uint32Array {
  const index = column.words.indexOf(word);
  const rows: number[] = [];
  if (index >= 0) column.indices.forEach((value, row) => value === index && rows.push(row));
  return Uint32Array.from(rows);
}

export function pick(column: Float64Array, rows: Uint32Array): Float64Array {
  return Float64Array.from(rows, (row) => column[row] as number);
}

/** The number of values, which ascend, that are at most `limit`: the index after the last of them. */
export function after(values: Float64Array, limit: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] as number) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function largest(values: Float64Array): number {
  let found = -Infinity;
  for (const value of values) if (value > found) found = value;
  return found;
}

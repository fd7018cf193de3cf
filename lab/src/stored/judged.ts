// The criteria of a stored scenario, judged by its tables of flows and of streams of media.

import type { Column, Table } from "../engine/engine";
import { judge, values } from "../trial/verdict";
import type { StoredDescription } from "./document";
import type { StoredCriterion } from "./stored";
import { type Columns, readTable } from "./table";

const OF_FLOWS = ["trial", "flow", "finished", "start_s"];
const OF_STREAMS = ["trial", "flow", "stream"];

/** What `trials` trials say about each criterion. Throws what a person can read. */
export async function judged({ name, criteria, startsS }: StoredDescription, trials: number, flows?: File, streams?: File): Promise<StoredCriterion[]> {
  if (!flows || criteria.length === 0) return [];
  const ofStreams = criteria.filter(({ stream }) => stream !== null);
  const read = async (file: File | undefined, part: string, columns: string[]) => packed(file ? await readTable(file, `${name}/${part}.parquet`, [...new Set(columns)]) : { rows: 0, of: new Map() });
  const tables = {
    flows: await read(flows, "flows", [...OF_FLOWS, ...criteria.map(({ column }) => column)]),
    streams: await read(ofStreams.length > 0 ? streams : undefined, "streams", [...OF_STREAMS, ...ofStreams.map(({ column }) => column)]),
  };
  return criteria.map((criterion) => ({ ...criterion, ...judge(values(tables, criterion, trials, startsS), criterion) }));
}

function packed({ of }: Columns): Table {
  return Object.fromEntries([...of].map(([name, cells]) => [name, column(cells)]));
}

function column(cells: unknown[]): Column {
  if (cells.some((cell) => typeof cell === "boolean")) return Uint8Array.from(cells, Number);
  if (!cells.some((cell) => typeof cell === "string")) return Float64Array.from(cells, (cell) => (cell == null ? Number.NaN : Number(cell)));
  const found = new Map<string, number>();
  const indices = Uint32Array.from(cells, (cell) => {
    const word = String(cell);
    const index = found.get(word) ?? found.size;
    found.set(word, index);
    return index;
  });
  return { indices, words: [...found.keys()] };
}

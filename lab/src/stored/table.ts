// A table of a stored result, a file in Parquet: columns by their names, once it is known that nothing in it is larger than it says.
//
// Parquet is read by hyparquet, its Zstandard pages by fzstd. Both are loaded when the first result is opened.

import type { FileMetaData } from "hyparquet";
import { refuseLies } from "./pages";

const LARGEST_TABLE = 16 << 20;
/** Bytes of a page of a table, unpacked. */
const LARGEST_PAGE = 64 << 20;
/** Bytes of all columns of a table, unpacked, and its rows. */
const LARGEST_UNPACKED = 256 << 20;
const MOST_ROWS = 1_000_000;
const CODECS = ["ZSTD", "UNCOMPRESSED"];

type Cell = bigint | number | string | boolean | null | undefined;

/** The columns of a table that were asked for, those that it has. */
export interface Columns {
  rows: number;
  of: Map<string, Cell[]>;
}

/** Reads columns of a table; `name` is its own in messages. Throws what a person can read. */
export async function readTable(file: File, name: string, wanted: string[]): Promise<Columns> {
  if (file.size > LARGEST_TABLE) throw new Error(`${name} has ${file.size} bytes; accepted: at most ${LARGEST_TABLE}`);
  try {
    const [{ parquetMetadataAsync, parquetRead }, { decompress }] = await Promise.all([import("hyparquet"), import("fzstd")]);
    const buffer = await file.arrayBuffer();
    const source = { byteLength: buffer.byteLength, slice: (from: number, until?: number) => buffer.slice(from, until) };
    const head = await parquetMetadataAsync(source);
    refuseOthers(head);
    const known = new Set(head.schema.slice(1).map((element) => element.name));
    const columns = wanted.filter((column) => known.has(column));
    const ZSTD = (packed: Uint8Array, length: number): Uint8Array => {
      if (!(length <= LARGEST_PAGE)) throw new Error(`a page of ${length} bytes`);
      return decompress(packed, new Uint8Array(length));
    };
    refuseLies(buffer, head, columns, ZSTD);
    const rows = Number(head.num_rows);
    const of = new Map(columns.map((column) => [column, new Array<Cell>(rows)]));
    const onChunk = ({ columnName, columnData, rowStart }: { columnName: string; columnData: ArrayLike<unknown>; rowStart: number }) => {
      const column = of.get(columnName);
      for (let row = 0; column && row < columnData.length; row++) column[rowStart + row] = columnData[row] as Cell;
    };
    if (columns.length > 0) await parquetRead({ file: source, metadata: head, columns, compressors: { ZSTD }, onChunk });
    return { rows, of };
  } catch (error) {
    throw damaged(name, error);
  }
}

/** What to say of a table that is none of thalweg's. */
export function damaged(name: string, error: unknown): Error {
  return new Error(`${name} is damaged (${String((error as Error).message).slice(0, 120)}); accepted: a table of thalweg`);
}

/** Refuses what thalweg does not write, before it is unpacked. */
function refuseOthers(head: FileMetaData): void {
  if (head.num_rows > MOST_ROWS) throw new Error(`${head.num_rows} rows, at most ${MOST_ROWS}`);
  let [rows, bytes] = [0, 0];
  for (const group of head.row_groups) {
    // A negative number would hide what another group has too many of: the sum alone says nothing.
    if (!(group.num_rows >= 0 && group.num_rows <= head.num_rows)) throw new Error(`${group.num_rows} rows in a group, ${head.num_rows} in all`);
    rows += Number(group.num_rows);
    for (const { meta_data: column } of group.columns) {
      if (!column || !CODECS.includes(column.codec)) throw new Error(`a column is packed as ${column?.codec}, not as ${CODECS.join(" or ")}`);
      const size = Number(column.total_uncompressed_size);
      bytes += size >= 0 ? size : Number.NaN;
    }
  }
  if (rows !== Number(head.num_rows)) throw new Error(`${rows} rows in groups, ${head.num_rows} in all`);
  if (!(bytes <= LARGEST_UNPACKED)) throw new Error(`${bytes} bytes unpacked, at most ${LARGEST_UNPACKED}`);
}

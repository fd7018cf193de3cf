// Headers of the pages of a Parquet file, looked through before any page is unpacked: a reader makes arrays as long as
// a header says.
//
// A header is a structure of Thrift's compact protocol (parquet.thrift, PageHeader). A number that is longer than 32
// bits is refused, since readers differ in what they take it for.

import type { ColumnMetaData, FileMetaData } from "hyparquet";
import { refuseRuns } from "./runs";

/** Bytes of a page, unpacked, and of all pages of a column. */
const LARGEST_PAGE = 64 << 20;
const LARGEST_COLUMN = 256 << 20;
/** What thalweg writes: PLAIN, PLAIN_DICTIONARY, RLE_DICTIONARY. */
const ENCODINGS = [0, 2, 8];
/** And the kinds of values. */
const TYPES = ["INT64", "BYTE_ARRAY", "DOUBLE", "BOOLEAN"];

/** Unpacks a page. */
type Unpack = (packed: Uint8Array, length: number) => Uint8Array;

type Field = number | Fields | undefined;
type Fields = Map<number, Field>;

/** Reads the compact protocol. Throws where it ends too early. */
class Reader {
  constructor(
    private readonly view: DataView,
    public at: number,
  ) {}

  private number(bits = 28): number {
    let found = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.view.getUint8(this.at++);
      found |= (byte & 0x7f) << shift;
      if (!(byte & 0x80)) return found >>> 0;
      if (shift >= bits) throw new Error("a page header with a number that is too long");
    }
  }

  private signed(): number {
    const found = this.number();
    return (found >>> 1) ^ -(found & 1);
  }

  fields(): Fields {
    const found: Fields = new Map();
    for (let id = 0; ; ) {
      const byte = this.view.getUint8(this.at++);
      if ((byte & 15) === 0) return found;
      id = byte >> 4 ? id + (byte >> 4) : this.signed();
      found.set(id, this.value(byte & 15));
    }
  }

  private value(type: number): Field {
    switch (type) {
      case 1: // true
      case 2: // false
        return type === 1 ? 1 : 0;
      case 3:
        return this.view.getInt8(this.at++);
      case 4:
      case 5:
        return this.signed();
      case 6: // 64 bits, of statistics alone
        this.number(63);
        return undefined;
      case 8: {
        const length = this.number();
        if (length > this.view.byteLength - this.at) throw new Error("a page header that is longer than its column");
        this.at += length;
        return undefined;
      }
      case 12:
        return this.fields();
      default: // no page header has lists
        throw new Error(`a page header with a value of type ${type}`);
    }
  }
}

const whole = (value: Field, most: number): value is number => typeof value === "number" && value >= 0 && value <= most;

/** Refuses columns whose pages say that they are, or have, more than the file says. Throws what a person can read. */
export function refuseLies(file: ArrayBuffer, head: FileMetaData, columns: string[], unpack: Unpack): void {
  for (const group of head.row_groups) {
    for (const { meta_data: column } of group.columns) {
      const name = column?.path_in_schema[0] ?? "";
      if (!column || !columns.includes(name)) continue;
      const fields = head.schema.filter((element) => element.name === name);
      const kinds = [head.schema[0], ...fields].map((element) => element?.repetition_type);
      const isAlone = column.path_in_schema.length === 1 && fields.length === 1 && !fields[0]?.num_children;
      if (!isAlone || kinds.includes("REPEATED")) throw new Error("a column of lists or tables");
      if (!TYPES.includes(column.type) || column.type !== fields[0]?.type) throw new Error(`a column of ${column.type}`);
      refusePages(file, column, Number(group.num_rows), kinds[1] !== "REQUIRED", unpack);
    }
  }
}

function refusePages(file: ArrayBuffer, column: ColumnMetaData, rows: number, isOptional: boolean, unpack: Unpack): void {
  const begin = Number(column.dictionary_page_offset || column.data_page_offset);
  const length = Number(column.total_compressed_size);
  if (!(begin >= 0 && length >= 0 && begin + length <= file.byteLength)) throw new Error("a column that is not in the file");
  const view = new DataView(file, begin, length);
  const isPacked = column.codec !== "UNCOMPRESSED";
  let [at, values, bytes] = [0, 0, 0];
  while (at < length - 1) {
    const reader = new Reader(view, at);
    const header = reader.fields();
    const [size, packed] = [header.get(2), header.get(3)];
    if (!whole(packed, length - reader.at)) throw new Error(`a page of ${packed} bytes where ${length - reader.at} are left`);
    if (!whole(size, LARGEST_PAGE) || (!isPacked && size !== packed)) throw new Error(`a page of ${size} bytes`);
    const page = pageOf(header, rows);
    values += page.isDictionary ? 0 : page.values;
    bytes += size;
    if (values > rows) throw new Error(`${values} values in pages, ${rows} rows`);
    if (bytes > LARGEST_COLUMN) throw new Error(`${bytes} bytes unpacked, at most ${LARGEST_COLUMN}`);
    const content = new Uint8Array(file, begin + reader.at, packed);
    if (!page.isDictionary) refuseRuns(isPacked ? unpack(content, size) : content, { ...page, isOptional });
    at = reader.at + packed;
  }
}

/** What the header of a page says; a dictionary has at most as many values as there are rows. */
function pageOf(header: Fields, rows: number): { values: number; isDictionary: boolean; isIndexed: boolean } {
  const kind = header.get(1);
  // A page header has one field for each kind of page: 5 for pages of data, 7 for a dictionary. Thalweg writes no others.
  const own = header.get(kind === 0 ? 5 : kind === 2 ? 7 : -1);
  if (!(own instanceof Map)) throw new Error(`a page of kind ${typeof kind === "number" ? kind : "none"}`);
  const values = own.get(1);
  if (!whole(values, rows)) throw new Error(`a page of ${typeof values === "number" ? values : "no"} values, ${rows} rows`);
  const encoding = own.get(2);
  if (!ENCODINGS.includes(Number(encoding))) throw new Error(`a page in encoding ${encoding}, which thalweg does not write`);
  return { values, isDictionary: kind === 2, isIndexed: encoding !== 0 };
}

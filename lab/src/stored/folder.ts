// A stored result in a folder of the reader (thalweg.store.results): `metadata.json`, and `trials.parquet` of each scenario.
//
// Parquet is read by hyparquet, its Zstandard pages by fzstd. Both are loaded when the first result is opened.

import type { FileMetaData } from "hyparquet";
import { refuseLies } from "./pages";
import type { Stored, StoredScenario } from "./stored";

const METADATA = "metadata.json";
const FORMAT = "thalweg-result/2";
const LARGEST_DOCUMENT = 64 << 20;
const LARGEST_TABLE = 16 << 20;
/** Bytes of a page of a table, unpacked. */
const LARGEST_PAGE = 64 << 20;
/** Bytes of all columns of a table, unpacked, and its rows. */
const LARGEST_UNPACKED = 256 << 20;
const MOST_ROWS = 1_000_000;
const CODECS = ["ZSTD", "UNCOMPRESSED"];
const COLUMNS = ["seed", "trace_hash"];
const MOST_TRIALS = 1000;
const MOST_FILES = 5000;
const LARGEST_SEED = 2n ** 64n - 1n;

/** Files by their paths, as a folder gives them. */
export type Tree = Map<string, File>;

/** Reads the result in a folder. Throws what a person can read. */
export async function readFolder(files: Tree): Promise<Stored> {
  const document = [...files.keys()].filter((path) => path === METADATA || path.endsWith(`/${METADATA}`)).sort((one, other) => one.length - other.length)[0];
  const file = document === undefined ? undefined : files.get(document);
  if (document === undefined || !file) throw new Error(`there is no ${METADATA}; accepted: a folder that thalweg run or suite --out has written`);
  const root = document.slice(0, -METADATA.length);
  const head = await metadata(file);
  const scenarios: StoredScenario[] = [];
  for (const { name, title, toml } of head.scenarios) {
    const table = files.get(`${root}${name}/trials.parquet`);
    if (!table) continue; // it was not finished
    const rows = await trials(table, name);
    scenarios.push({ name, title, toml, about: `${rows.all} trials`, seeds: rows.seeds, hashes: rows.hashes });
  }
  if (scenarios.length === 0) throw new Error("no scenario of this result was finished; accepted: a folder with trials.parquet of a scenario");
  return { title: head.title, version: head.version, scenarios };
}

type Table = Record<string, unknown>;

async function metadata(file: File): Promise<{ title: string; version: string; scenarios: { name: string; title: string; toml: string }[] }> {
  if (file.size > LARGEST_DOCUMENT) throw new Error(`${METADATA} has ${file.size} bytes; accepted: at most ${LARGEST_DOCUMENT}`);
  let document: Table;
  try {
    document = JSON.parse(await file.text()) as Table;
  } catch (error) {
    throw new Error(`${METADATA}: ${(error as Error).message.slice(0, 120)}; accepted: JSON`);
  }
  if (typeof document !== "object" || document === null || document["format"] !== FORMAT || !Array.isArray(document["scenarios"])) {
    throw new Error(`${METADATA} is not a result that this version reads; accepted: ${FORMAT}`);
  }
  const text = (value: unknown, key: string, most: number): string => {
    if (typeof value !== "string" || value.length > most) throw new Error(`${METADATA}: ${key} is no text; accepted: a text`);
    return value;
  };
  const scenarios = (document["scenarios"] as unknown[]).map((entry, index) => {
    const table = (typeof entry === "object" && entry !== null ? entry : {}) as Table;
    const at = `scenarios.${index}`;
    return { name: text(table["name"], `${at}.name`, 200), title: text(table["title"], `${at}.title`, 500), toml: text(table["toml"], `${at}.toml`, 32 << 20) };
  });
  return { title: text(document["title"], "title", 500), version: text(document["version"], "version", 40), scenarios };
}

async function trials(file: File, name: string): Promise<{ all: number; seeds: string[]; hashes: string[] }> {
  if (file.size > LARGEST_TABLE) throw new Error(`${name}/trials.parquet has ${file.size} bytes; accepted: at most ${LARGEST_TABLE}`);
  try {
    const [{ parquetMetadataAsync, parquetReadObjects }, { decompress }] = await Promise.all([import("hyparquet"), import("fzstd")]);
    const buffer = await file.arrayBuffer();
    const source = { byteLength: buffer.byteLength, slice: (from: number, until?: number) => buffer.slice(from, until) };
    const head = await parquetMetadataAsync(source);
    refuseOthers(head);
    const ZSTD = (packed: Uint8Array, length: number): Uint8Array => {
      if (!(length <= LARGEST_PAGE)) throw new Error(`a page of ${length} bytes`);
      return decompress(packed, new Uint8Array(length));
    };
    refuseLies(buffer, head, COLUMNS, ZSTD);
    const rows = await parquetReadObjects({ file: source, metadata: head, columns: COLUMNS, rowEnd: MOST_TRIALS, compressors: { ZSTD } });
    const seeds = rows.map((row) => {
      const seed = BigInt(row["seed"] as bigint | number);
      if (seed < 0n || seed > LARGEST_SEED) throw new Error(`seed ${seed}`);
      return String(seed);
    });
    const hashes = rows.map((row) => {
      const hash = String(row["trace_hash"]);
      if (!/^[0-9a-f]{16}$/.test(hash)) throw new Error("a trace hash that is none");
      return hash;
    });
    return { all: Number(head.num_rows), seeds, hashes };
  } catch (error) {
    throw new Error(`${name}/trials.parquet is damaged (${String((error as Error).message).slice(0, 120)}); accepted: a table of thalweg`);
  }
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

/** The files of what was chosen. */
export function ofList(list: FileList): Tree {
  const files = [...list].slice(0, MOST_FILES);
  return new Map(files.map((file) => [file.webkitRelativePath || file.name, file]));
}

/** The files of a folder that was dropped. */
export async function ofEntry(entry: FileSystemEntry): Promise<Tree> {
  const found: Tree = new Map();
  const walk = async (place: FileSystemEntry, path: string, depth: number): Promise<void> => {
    if (found.size >= MOST_FILES || depth > 3) return;
    if (place.isFile) {
      found.set(path, await new Promise<File>((resolve, reject) => (place as FileSystemFileEntry).file(resolve, reject)));
      return;
    }
    const reader = (place as FileSystemDirectoryEntry).createReader();
    for (;;) {
      const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (entries.length === 0) return;
      for (const inner of entries) await walk(inner, `${path}/${inner.name}`, depth + 1);
    }
  };
  await walk(entry, entry.name, 0);
  return found;
}

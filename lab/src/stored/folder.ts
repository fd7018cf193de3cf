// A stored result in a folder of the reader (thalweg.results.suite_result): `experiment.json`, and `trials.parquet` of each scenario.

import { judged } from "./judged";
import { DOCUMENT, readSuiteDocument } from "./document";
import type { StoredResult, StoredScenario } from "./stored";
import { damaged, readTable } from "./table";

const COLUMNS = ["seed", "trace_hash"];
const MOST_TRIALS = 1000;
const MOST_FILES = 5000;
const LARGEST_SEED = 2n ** 64n - 1n;

/** Files by their paths, as a folder gives them. */
export type Tree = Map<string, File>;

/** Reads the result in a folder. Throws what a person can read. */
export async function readFolder(files: Tree): Promise<StoredResult> {
  const path = [...files.keys()].filter((name) => name === DOCUMENT || name.endsWith(`/${DOCUMENT}`)).sort((one, other) => one.length - other.length)[0];
  const file = path === undefined ? undefined : files.get(path);
  if (path === undefined || !file) throw new Error(`there is no ${DOCUMENT}; accepted: a folder that thalweg suite --out has written`);
  const root = path.slice(0, -DOCUMENT.length);
  const { title, version, scenarios: all } = await readSuiteDocument(file);
  const scenarios: StoredScenario[] = [];
  for (const scenario of all) {
    const { name } = scenario;
    const [table, flows, streams] = ["trials", "flows", "streams"].map((part) => files.get(`${root}${name}/${part}.parquet`));
    if (!table) continue; // it was not finished
    const rows = await trials(table, `${name}/trials.parquet`);
    const criteria = await judged(scenario, rows.all, flows, streams);
    scenarios.push({ name, title: scenario.title, toml: scenario.toml, about: `${rows.all} trials`, seeds: rows.seeds, hashes: rows.hashes, criteria });
  }
  if (scenarios.length === 0) throw new Error("no scenario of this result was finished; accepted: a folder with trials.parquet of a scenario");
  return { title, version, scenarios };
}

/** How many trials a scenario has, and the seeds and hashes of the first ones. */
async function trials(file: File, name: string): Promise<{ all: number; seeds: string[]; hashes: string[] }> {
  const { rows, of } = await readTable(file, name, COLUMNS);
  try {
    const [seeds = [], hashes = []] = COLUMNS.map((column) => of.get(column)?.slice(0, MOST_TRIALS));
    if (seeds.length !== hashes.length) throw new Error(`it lacks ${COLUMNS.find((column) => !of.has(column))}`);
    return { all: rows, seeds: seeds.map(seedOf), hashes: hashes.map(hashOf) };
  } catch (error) {
    throw damaged(name, error);
  }
}

function seedOf(cell: unknown): string {
  const seed = BigInt(cell as bigint | number);
  if (seed < 0n || seed > LARGEST_SEED) throw new Error(`seed ${seed}`);
  return String(seed);
}

function hashOf(cell: unknown): string {
  const hash = String(cell);
  if (!/^[0-9a-f]{16}$/.test(hash)) throw new Error("a trace hash that is none");
  return hash;
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

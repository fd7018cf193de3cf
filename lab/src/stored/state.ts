// The stored result that is open, and those that a server offers.

import { signal } from "@preact/signals";
import { drawn } from "../field/measured";
import { failure, openStored } from "../state/lab";
import { show as showField } from "../state/measurement";
import { tab } from "../state/tab";
import { readExplained } from "./explained";
import { ofEntry, ofList, readFolder, type Tree } from "./folder";
import { known, type ResultEntry, type Shelf, type StoredResult } from "./stored";

export const stored = signal<StoredResult | null>(null);
export const offered = signal<ResultEntry[]>([]);
/** Which scenario of the result is listed. */
export const chosen = signal(0);
let shelf: Shelf | null = null;

/** Takes a server that has results, and lists them. */
export function useShelf(found: Shelf): Promise<void> {
  shelf = found;
  return listOffered();
}

/** Lists what the server has now. */
export async function listOffered(): Promise<void> {
  try {
    if (shelf) offered.value = await shelf.list();
  } catch (error) {
    failure.value = (error as Error).message;
  }
}

export function openOffered(path: string): Promise<void> {
  return attempt(async () => show(known(await (shelf as Shelf).open(path))));
}

/** Opens the result in a folder that was chosen. */
export function openList(files: FileList): Promise<void> {
  return attempt(async () => show(await readFolder(ofList(files))));
}

/** Opens the result in a folder that was dropped. */
export function openEntry(entry: FileSystemEntry): Promise<void> {
  return attempt(async () => {
    const files: Tree = await ofEntry(entry);
    show(await readFolder(files));
  });
}

/** Opens a trial of the listed scenario. */
export function openTrial(index: number): Promise<void> {
  const result = stored.value;
  const scenario = result?.scenarios[chosen.value];
  const [seed, hash] = [scenario?.seeds[index], scenario?.hashes[index]];
  if (!result || !scenario || seed === undefined) return Promise.resolve();
  const setup = { text: scenario.toml, origin: `${scenario.name.replaceAll(/[^\w./ -]/g, "_").slice(0, 90)}.toml`, sets: {}, controllers: {} };
  return openStored({ setup, seed: BigInt(seed), version: result.version, hash: hash ?? "" });
}

/** Opens what `thalweg explain` has written of a file. Throws what a person can read. */
export async function openExplained(file: File): Promise<void> {
  show(readExplained(await file.text()));
}

function show(result: StoredResult): void {
  stored.value = result;
  chosen.value = 0;
  tab.value = "results";
  if (result.measured) showField(drawn(result.measured, result.title));
}

async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    failure.value = null;
    await work();
  } catch (error) {
    failure.value = (error as Error).message;
  }
}

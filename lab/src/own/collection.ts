// The reader's own controllers, whatever trial is open: opening another one does not take them away.

import { signal } from "@preact/signals";
import type { Files } from "../engine/engine";
import { same } from "./files";

export const ownFiles = signal<Files>({});

/** A name like this one that no file has. */
export function free(name: string, taken: Files): string {
  const [, stem = "mine", ending = ".js"] = /^(.*)(\.\w+)$/s.exec(name) ?? [];
  let found = name;
  for (let number = 2; Object.hasOwn(taken, found); number++) found = `${stem.slice(0, 50)}-${number}${ending}`;
  return found;
}

/** The reader's files that have a name of other files but not their content, and the names under which they are kept. */
export function moved(others: Files): [from: string, to: string][] {
  const taken = { ...ownFiles.value, ...others };
  const found: [string, string][] = [];
  for (const [name, content] of Object.entries(others)) {
    const own = ownFiles.value[name];
    if (own === undefined || same(own, content)) continue;
    const to = free(name, taken);
    taken[to] = own;
    found.push([name, to]);
  }
  return found;
}

/** Takes files of others beside those of the reader: none is lost. */
export function take(others: Files): void {
  const kept = moved(others).map(([from, to]) => [to, ownFiles.value[from] as string | Uint8Array]);
  ownFiles.value = { ...ownFiles.value, ...Object.fromEntries(kept), ...others };
}

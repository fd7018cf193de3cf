// Controllers that a reader brings along: files in JavaScript and WebAssembly, by name. Scenarios name them as `./mine.js`.

import type { Files, Setup } from "../engine/engine";

/** How a text names one: the file, and options behind a colon. */
export const NAMED = /^\.\/([\w-][\w. -]{0,60}\.(?:js|wasm))(?::(.*))?$/s;
const NAME = /^[\w-][\w. -]{0,60}\.(?:js|wasm)$/;
/** The largest file, in bytes. */
export const LARGEST = 1 << 20;

export function isOwn(name: string): boolean {
  return NAME.test(name);
}

/** The files that a trial may run: those that its scenario, or what changes it, names. */
export function used({ text, sets, controllers, files }: Setup): Files {
  const words = [text, ...Object.values(sets), ...Object.values(controllers)];
  const named = Object.entries(files ?? {}).filter(([name]) => words.some((word) => word.includes(`./${name}`)));
  return Object.fromEntries(named);
}

/** Whether two files have the same content. */
export function same(one: string | Uint8Array | undefined, other: string | Uint8Array): boolean {
  if (typeof one === "string" || typeof other === "string" || one === undefined) return one === other;
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

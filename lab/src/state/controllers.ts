// The controllers that the reader has brought along or writes here.

import { signal } from "@preact/signals";
import { change, setup } from "./lab";
import aimd from "../own/aimd.js?raw";
import newreno from "../own/newreno.js?raw";
import { isOwn, used } from "../own/files";
import { free, ownFiles } from "../own/collection";

/** The file that the editor shows. */
export const shown = signal<string | null>(null);

export const TEMPLATES: Record<string, string> = { "newreno.js": newreno, "aimd.js": aimd };

/** Takes a file, in the place of one with the same name, and shows it. It runs only where a flow names it. */
export function add(name: string, content: string | Uint8Array): void {
  write(name, content);
  shown.value = name;
}

/** Changes a file. Where it steers a flow, the trial runs again. */
export function write(name: string, content: string | Uint8Array): void {
  ownFiles.value = { ...ownFiles.value, [name]: content };
  if (Object.hasOwn(used({ ...setup.value, files: ownFiles.value }), name)) void change({});
}

/** The same for scripts. Throws what a person can read. */
export function bring(name: string, content: string | Uint8Array): void {
  if (!isOwn(name)) throw new Error(`"${name}" is not a name of a controller; accepted: letters, digits, - and _, and .js or .wasm`);
  add(name, content);
}

/** A template under a name that is free. */
export function start(template: string): void {
  add(free(template, ownFiles.value), TEMPLATES[template] ?? "");
}

/** Lets a file go, and the flows that it steered have the controllers of the scenario. */
export function remove(name: string): void {
  const { [name]: _, ...rest } = ownFiles.value;
  const controllers = Object.entries(setup.value.controllers).filter(([, text]) => text.split(":")[0] !== `./${name}`);
  if (shown.value === name) shown.value = Object.keys(rest)[0] ?? null;
  ownFiles.value = rest;
  if (controllers.length < Object.keys(setup.value.controllers).length) void change({ controllers: Object.fromEntries(controllers) });
}

/** Has a flow steered by a file. */
export function steer(flow: string, name: string): Promise<void> {
  return change({ controllers: { ...setup.value.controllers, [flow]: `./${name}` } });
}

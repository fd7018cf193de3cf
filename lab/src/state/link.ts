// A link that contains a trial: scenario, settings, controllers, seed, version, and the hash that it must have.
//
// It stands in the fragment of the address, which browsers do not send. What comes by link is a stranger's text: it is
// read as data, and each value is checked.

import type { Files, Setup } from "../engine/engine";
import { isOwn, same, used } from "../own/files";

export interface Linked {
  setup: Setup;
  seed: bigint;
  version: string;
  hash: string;
  /** The run that it is compared with. */
  kept?: Linked;
}

/** The most bytes that a link may unpack to. */
const MOST = 1 << 20;
/** Seeds have 64 bits. */
const LARGEST_SEED = 2n ** 64n - 1n;

export async function toFragment({ setup, seed, version, hash, kept }: Linked): Promise<string> {
  const all = { ...(kept && used(kept.setup)), ...used(setup) };
  const changed = Object.entries(kept ? used(kept.setup) : {}).find(([name, content]) => !same(all[name], content));
  if (changed) throw new Error(`./${changed[0]} has changed since the kept run: a link carries one of them; stop comparing, or run it again`);
  const files = Object.entries(all).map(([name, content]) => [name, typeof content === "string" ? content : { wasm: base64(content) }]);
  const words = {
    v: version, h: hash, n: setup.origin, d: String(seed), t: setup.text, s: setup.sets, c: setup.controllers,
    ...(files.length > 0 && { f: Object.fromEntries(files) }),
    ...(kept && { k: { h: kept.hash, n: kept.setup.origin, d: String(kept.seed), s: kept.setup.sets, c: kept.setup.controllers, ...(kept.setup.text !== setup.text && { t: kept.setup.text }) } }),
  };
  const bytes = new TextEncoder().encode(JSON.stringify(words));
  if (bytes.length > MOST) throw new Error(`this trial is too long for a link: it has ${bytes.length} bytes, accepted are at most ${MOST}`);
  const packed = await collect(new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw")), Infinity);
  return `#trial=${base64(packed).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function ofBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** What a fragment contains; `null` if it is none of ours. Throws what a person can read if it is damaged. */
export async function fromFragment(fragment: string): Promise<Linked | null> {
  const packed = /^#trial=([\w-]+)$/.exec(fragment)?.[1];
  if (packed === undefined) {
    if (fragment.startsWith("#trial=")) throw new Error("this link is damaged: ask for it again");
    return null;
  }
  try {
    const bytes = ofBase64(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const words = JSON.parse(new TextDecoder().decode(await collect(stream, MOST))) as unknown;
    return read(words);
  } catch (error) {
    throw new Error(`this link is damaged: ${(error as Error).message || "it ends too early"}`);
  }
}

async function collect(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error(`it unpacks to more than ${most} bytes`);
    }
    parts.push(value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function read(words: unknown): Linked {
  const object = table(words, "the link");
  const own = ofRun(object);
  if (object["k"] === undefined) return own;
  // What both runs have alike stands once.
  return { ...own, kept: ofRun({ t: object["t"], v: object["v"], f: object["f"], ...table(object["k"], "its kept run") }) };
}

function ofRun(object: Record<string, unknown>): Linked {
  const seed = text(object["d"], "seed");
  if (!/^\d{1,20}$/.test(seed) || BigInt(seed) > LARGEST_SEED) throw new Error(`its seed is not a whole number from 0 to ${LARGEST_SEED}`);
  return {
    setup: {
      text: text(object["t"], "scenario"),
      origin: text(object["n"], "name").slice(0, 100),
      sets: texts(object["s"], "settings"),
      controllers: texts(object["c"], "controllers"),
      files: filesOf(object["f"] ?? {}),
    },
    seed: BigInt(seed),
    version: text(object["v"], "version").slice(0, 40),
    hash: text(object["h"], "hash").slice(0, 16),
  };
}

function table(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${what} is not a table`);
  return value as Record<string, unknown>;
}

function text(value: unknown, what: string): string {
  if (typeof value !== "string") throw new Error(`its ${what} is missing`);
  return value;
}

function texts(value: unknown, what: string): Record<string, string> {
  return Object.fromEntries(Object.entries(table(value, `its ${what}`)).map(([name, inner]) => [name, text(inner, what)]));
}

/** Code of a stranger: it is kept as text until the reader has asked for it to run. */
function filesOf(value: unknown): Files {
  const entries = Object.entries(table(value, "its files")).map(([name, content]): [string, string | Uint8Array] => {
    if (!isOwn(name)) throw new Error(`"${name.slice(0, 60)}" is not a name of a controller`);
    return [name, name.endsWith(".js") ? text(content, name) : ofBase64(text(table(content, name)["wasm"], name))];
  });
  return Object.fromEntries(entries);
}

// Files of the reader: what kind each is, by its name and its content. All of them are data.

import { LARGEST as LARGEST_FIELD } from "../field/field";
import { openField } from "../state/measurement";
import { openExplained } from "../stored/state";
import { isOwn, LARGEST } from "../own/files";
import { add } from "../state/controllers";
import { tab } from "../state/tab";
import { failure, open } from "../state/lab";

interface Kind {
  /** In words, for messages. */
  accepted: string;
  /** Bytes. */
  largest: number;
  fits(name: string): boolean;
  open(file: File, name: string): Promise<void>;
}

const MIB = 1 << 20;
/** Files that the page has no reader for, and the one that has. */
const LOG = /\.(s?qlog|pcap|pcapng|cap|ndjson|jsonl)(\.gz)?$/;
const EXPLAIN = "open what thalweg explain FILE --out FILE.json writes, or put it into the folder of thalweg lab, which explains it under Results";

const KINDS: Kind[] = [
  {
    accepted: "a controller (.js, .wasm)",
    largest: LARGEST,
    fits: (name) => /\.(js|mjs|wasm)$/.test(name),
    open: async (file, name) => {
      const own = ownName(name);
      add(own, own.endsWith(".wasm") ? new Uint8Array(await file.arrayBuffer()) : await file.text());
      tab.value = "controller";
    },
  },
  {
    accepted: "a scenario (.toml)",
    largest: MIB,
    fits: (name) => name.endsWith(".toml"),
    open: async (file, name) => open(await file.text(), name.slice(0, 100)),
  },
  {
    accepted: "a series of thalweg probe (.csv), a trace of capacity or jitter (.trace, .jitter)",
    largest: LARGEST_FIELD,
    fits: (name) => /\.(csv|csv\.gz|trace|jitter|txt|up|down|pps)$/.test(name),
    open: openField,
  },
  {
    accepted: "an explanation of a log or a capture (.json)",
    largest: LARGEST_FIELD,
    fits: (name) => name.endsWith(".json"),
    open: openExplained,
  },
];

/** The kinds of files that the page opens, in words. */
export const ACCEPTED = KINDS.map(({ accepted }) => accepted).join(", ");

/** Opens a file of the reader, or says why not. */
export async function openFile(file: File): Promise<void> {
  failure.value = null; // that of the file before
  const name = file.name.toLowerCase();
  const kind = KINDS.find(({ fits }) => fits(name));
  try {
    if (LOG.test(name)) throw new Error(`thalweg explain reads it: ${EXPLAIN}`);
    if (!kind) throw new Error(`the lab cannot read it; accepted: ${ACCEPTED}`);
    if (file.size > kind.largest) throw new Error(`it has ${file.size} bytes; accepted: ${kind.accepted} of at most ${kind.largest}`);
    await kind.open(file, file.name);
  } catch (error) {
    failure.value = `${file.name.slice(0, 100)}: ${(error as Error).message}`;
  }
}

/** A name that a scenario can have for a controller. */
function ownName(name: string): string {
  const short = name.replace(/\.\w+$/, (ending) => ending.toLowerCase().replace(".mjs", ".js")).replaceAll(/[^\w. -]/g, "-").replace(/^[^\w-]+/, "").slice(-60);
  return isOwn(short) ? short : `mine${short.endsWith(".wasm") ? ".wasm" : ".js"}`;
}

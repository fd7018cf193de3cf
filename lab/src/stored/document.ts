// The document of a stored suite (thalweg.base.files.document, thalweg.results.described): what of it the page reads, checked.

import type { Criterion } from "../engine/engine";

export const DOCUMENT = "experiment.json";
const FORMAT = "thalweg-experiment/1";
const LARGEST_DOCUMENT = 64 << 20;
const UNITS = ["s", "bps", "share", "bytes"];

export interface StoredDescription {
  name: string;
  title: string;
  toml: string;
  criteria: Criterion[];
  /** When each flow starts, before noise. */
  startsS: Record<string, number>;
}

export interface SuiteDocument {
  title: string;
  version: string;
  scenarios: StoredDescription[];
}

type Table = Record<string, unknown>;

/** Reads the document. Throws what a person can read. */
export async function readSuiteDocument(file: File): Promise<SuiteDocument> {
  if (file.size > LARGEST_DOCUMENT) throw new Error(`${DOCUMENT} has ${file.size} bytes; accepted: at most ${LARGEST_DOCUMENT}`);
  let document: Table;
  try {
    document = JSON.parse(await file.text()) as Table;
  } catch (error) {
    throw new Error(`${DOCUMENT}: ${(error as Error).message.slice(0, 120)}; accepted: JSON`);
  }
  if (typeof document !== "object" || document === null || document["format"] !== FORMAT) {
    throw new Error(`${DOCUMENT} is not an experiment that this version reads; accepted: ${FORMAT}`);
  }
  if (document["kind"] !== "suite") throw new Error(`${DOCUMENT} is of a ${text(document, "", "kind", 20)}; accepted: the document of a suite`);
  const scenarios = listed(document, "", "scenarios").map(([at, table]) => ({
    name: text(table, at, "name", 200),
    title: text(table, at, "title", 500),
    toml: text(table, at, "toml", 32 << 20),
    criteria: listed(table, at, "criteria").map(([place, criterion]) => criterionOf(criterion, place)),
    startsS: Object.fromEntries(listed(table, at, "flows").map(([place, flow]) => [text(flow, place, "name", 200), number(flow, place, "start_s") ?? 0])),
  }));
  return { title: text(document, "", "title", 500), version: text(document, "", "version", 40), scenarios };
}

function criterionOf(table: Table, at: string): Criterion {
  const unit = UNITS.find((one) => one === table["unit"]) ?? "";
  return {
    flow: text(table, at, "flow", 200),
    metric: text(table, at, "metric", 200),
    stream: table["stream"] == null ? null : text(table, at, "stream", 200),
    column: text(table, at, "column", 200),
    unit: unit as Criterion["unit"],
    until_the_end: table["until_the_end"] === true,
    at_most: number(table, at, "at_most"),
    at_least: number(table, at, "at_least"),
    in: number(table, at, "in") ?? 1,
    floor: number(table, at, "floor"),
    source: table["source"] == null ? null : text(table, at, "source", 2000),
    informative: table["informative"] === true,
  };
}

/** The tables in a list, each with its place. */
function listed(table: Table, at: string, key: string): [at: string, table: Table][] {
  const list = table[key];
  if (!Array.isArray(list)) throw new Error(`${DOCUMENT}: ${at}${key} is not a list; accepted: a list`);
  return list.map((entry: unknown, index) => [`${at}${key}.${index}.`, (typeof entry === "object" && entry !== null ? entry : {}) as Table]);
}

function text(table: Table, at: string, key: string, most: number): string {
  const value = table[key];
  if (typeof value !== "string" || value.length > most) throw new Error(`${DOCUMENT}: ${at}${key} is not text; accepted: a text`);
  return value;
}

function number(table: Table, at: string, key: string): number | null {
  const value = table[key] ?? null;
  if (value !== null && typeof value !== "number") throw new Error(`${DOCUMENT}: ${at}${key} is not a number; accepted: a number`);
  return value;
}

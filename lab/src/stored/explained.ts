// A file that `thalweg explain FILE --out FILE.json` has written: the document that a server of the lab has for the same file.

import type { Measured } from "../field/measured";
import { MOST_ROWS } from "../field/field";
import type { StoredResult } from "./stored";

type Table = Record<string, unknown>;

const MOST_TEXTS = 1000;
const ACCEPTED = "what thalweg explain FILE --out FILE.json has written";

/** Reads such a file. Throws what a person can read. */
export function readExplained(text: string): StoredResult {
  let document: unknown;
  try {
    document = JSON.parse(text) as unknown;
  } catch (error) {
    throw new Error(`it is not JSON (${(error as Error).message.slice(0, 120)}); accepted: ${ACCEPTED}`);
  }
  const part = partOf(document, "", isTable);
  const measured = partOf(part["measured"], "measured", isTable);
  const times = partOf(measured["time_s"], "measured.time_s", isNumbers);
  const series = partOf(measured["series"], "measured.series", isTable);
  for (const [name, values] of Object.entries(series)) {
    const found = partOf(values, `measured.series.${name.slice(0, 40)}`, isKnown);
    if (found.length !== times.length) throw new Error(`measured.series.${name.slice(0, 40)} has ${found.length} values for ${times.length} times; accepted: ${ACCEPTED}`);
  }
  const scenarios = partOf(part["scenarios"], "scenarios", isList).map((one, index) => {
    const scenario = partOf(one, `scenarios.${index}`, isTable);
    const words = (key: string) => partOf(scenario[key], `scenarios.${index}.${key}`, isText);
    const seeds = partOf(scenario["seeds"], `scenarios.${index}.seeds`, isTexts);
    if (!seeds.every((seed) => /^\d{1,19}$/.test(seed))) throw new Error(`scenarios.${index}.seeds is wrong; accepted: ${ACCEPTED}`);
    const hashes = partOf(scenario["hashes"], `scenarios.${index}.hashes`, isTexts);
    return { name: words("name"), title: words("title"), about: words("about"), toml: words("toml"), seeds, hashes, criteria: [] };
  });
  const found: Measured = {
    about: partOf(measured["about"], "measured.about", isText),
    end_s: partOf(measured["end_s"], "measured.end_s", isNumber),
    time_s: times,
    series: series as Measured["series"],
    lost_s: partOf(measured["lost_s"], "measured.lost_s", isNumbers),
    limits: partOf(measured["limits"], "measured.limits", isRows(2)) as Measured["limits"],
    states: partOf(measured["states"], "measured.states", isRows(1)) as Measured["states"],
  };
  const sentences = partOf(part["sentences"], "sentences", isTexts);
  return { title: partOf(part["title"], "title", isText), version: partOf(part["version"], "version", isText), sentences, scenarios, measured: found };
}

function partOf<T>(value: unknown, name: string, is: (value: unknown) => value is T): T {
  if (!is(value)) throw new Error(`${name ? `${name} is missing or wrong` : "it is not an explanation"}; accepted: ${ACCEPTED}`);
  return value;
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length < 1 << 20;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length <= MOST_TEXTS;
}

function isTexts(value: unknown): value is string[] {
  return isList(value) && value.every(isText);
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.length <= MOST_ROWS && value.every(isNumber);
}

function isKnown(value: unknown): value is (number | null)[] {
  return Array.isArray(value) && value.every((one) => one === null || isNumber(one));
}

/** Rows of a name and of so many times. */
function isRows(times: number) {
  return (value: unknown): value is [string, ...number[]][] =>
    Array.isArray(value) && value.length <= MOST_ROWS && value.every((row) => Array.isArray(row) && isText(row[0]) && row.length === 1 + times && row.slice(1).every(isNumber));
}

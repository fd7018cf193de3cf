// Writes the changes of sliders and lists into the scenario.

import type { Value } from "../engine/engine";
import { inPlace } from "../scenario/write";
import { change, engineOf, setup } from "./lab";

/** A value whose tables have their keys in one order. */
function ordered(value: Value | undefined): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, inner]) => [key, ordered(inner)]));
}

/**
 * Each key in its place; where the engine would read that as another scenario, the text as it ran. What the page has read
 * last may be older than the changes, so both are read here; a change that comes meanwhile is written too.
 */
export async function writeDown(): Promise<void> {
  const wanted = setup.value;
  const written = { ...wanted, text: inPlace(wanted.text, wanted.sets, wanted.controllers), sets: {}, controllers: {} };
  const [read, found] = await Promise.all([wanted, written].map((one) => engineOf().check(one).catch(() => null)));
  if (setup.value !== wanted) return writeDown();
  if (!read) return;
  const same = found && JSON.stringify(ordered(found.values)) === JSON.stringify(ordered(read.values));
  await change({ text: same ? written.text : read.toml, sets: {}, controllers: {} });
}

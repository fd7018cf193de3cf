// Writes the changes of sliders and lists into the scenario.

import type { CheckedScenario, Value } from "../engine/engine";
import { ownFiles } from "../own/collection";
import { inPlace } from "../scenario/write";
import { change, engineOf, setup } from "./lab";

/** A value whose tables have their keys in one order. */
function ordered(value: Value | undefined): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, inner]) => [key, ordered(inner)]));
}

/** Each key in its place; where the engine would read that as another scenario, the text as it ran. */
export async function writeDown(read: CheckedScenario): Promise<void> {
  const { text, origin, sets, controllers } = setup.value;
  const written = inPlace(text, sets, controllers);
  const found = await engineOf().check({ text: written, origin, sets: {}, controllers: {}, files: ownFiles.value }).catch(() => null);
  const same = found && JSON.stringify(ordered(found.values)) === JSON.stringify(ordered(read.values));
  await change({ text: same ? written : read.toml, sets: {}, controllers: {} });
}

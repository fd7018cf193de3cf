// The medium of a hop: one for both directions, in which they take turns, or for which stations contend (docs/reference/wifi.md).

import type { Value, Values } from "../engine/engine";
import { type Knob, positionOf, valueAt } from "./knobs";

/** A list whose words set, or take away, keys among all that are set. */
export interface MediumChoice {
  chosen: string;
  words: string[];
  /** All settings, with this word chosen. */
  choose(word: string, sets: Record<string, string>): Record<string, string>;
}

export interface MediumSettings {
  medium: MediumChoice;
  /** How many neighbours there are; none unless stations contend. */
  neighbours: Knob | null;
  /** Which end hears those that the scenario writes; none without any. */
  heard: MediumChoice | null;
}

const NONE = "none";
const TURNS = "half-duplex";
const PRESETS = ["home", "apartment", "office", "hidden", "scan"];
const HEARD = ["both", "access-point", "client", "neither"];
/** Neighbours that a reader adds with the slider, where the scenario writes none of its own: a tenth of the time each. */
const ADDED = { airtime: "2 ms", on: "20 ms", off: "180 ms" };
/** As many as the engine allows. */
const MOST = 62;

function inside(value: Value | undefined): Values {
  return value !== undefined && typeof value === "object" && !Array.isArray(value) ? value : {};
}

/** A value as TOML writes it in a line. */
function toml(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  if (typeof value !== "object" || value === null) return typeof value === "string" ? JSON.stringify(value) : String(value);
  const pairs = Object.entries(value).map(([key, inner]) => `${key} = ${toml(inner as Value)}`);
  return `{ ${pairs.join(", ")} }`;
}

export function mediumSettings(hop: string, values: Values): MediumSettings {
  const written = values["medium"];
  const own = inside(written);
  const model = typeof written === "string" ? written : String(own["model"] ?? NONE);
  const key = `${hop}.medium`;
  const isSet = (name: string) => name === key || name.startsWith(`${key}.`);
  const preset = own["preset"] === undefined ? undefined : String(own["preset"]);
  const chosen = model === "wifi" ? (preset ?? "wifi") : model;
  const without = (all: Record<string, string>) => Object.fromEntries(Object.entries(all).filter(([name]) => !isSet(name)));
  const medium: MediumChoice = {
    chosen,
    words: [...new Set([NONE, TURNS, "wifi", ...PRESETS, chosen])],
    choose: (word, all) => {
      const text = [NONE, TURNS, "wifi"].includes(word) ? `"${word}"` : `{ model = "wifi", preset = "${word}" }`;
      return { ...without(all), [key]: text };
    },
  };
  if (model !== "wifi") return { medium, neighbours: null, heard: null };

  const listed = Array.isArray(own["neighbours"]) ? own["neighbours"].map(inside) : null;
  const first = listed?.[0] ?? ADDED;
  const count = (listed ?? []).reduce((sum, one) => sum + Number(one["count"] ?? 1), 0);
  // One kind takes the place of all, with what the first of them has.
  const withNeighbours = (changed: Values): string => {
    const kind: Values = { ...first, ...changed };
    const rest = Object.fromEntries(Object.entries(own).filter(([name]) => name !== "neighbours" && name !== "model"));
    const list = kind["count"] === 0 ? [] : [kind];
    return toml({ model: "wifi", ...rest, neighbours: list });
  };
  const ofPreset = listed === null && preset !== undefined;
  return {
    medium,
    neighbours: {
      key: `${key}.neighbours`,
      label: "Neighbours",
      position: ofPreset || count === 0 ? 0 : positionOf(count + 1, 1, MOST + 1),
      shown: ofPreset ? `as ${preset}` : String(count),
      at: (position) => ({ [key]: withNeighbours({ count: Math.round(valueAt(position, 1, MOST + 1)) - 1 }) }),
    },
    // Those of a preset are not known here.
    heard:
      count === 0
        ? null
        : {
            chosen: String(inside(first)["heard"] ?? "both"),
            words: HEARD,
            choose: (word, all) => ({ ...without(all), [key]: withNeighbours({ heard: word, count }) }),
          },
  };
}

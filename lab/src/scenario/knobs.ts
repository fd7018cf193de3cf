// The settings of a path that sliders and lists change, as `--set` does: what they are now, and which text sets them.

import type { CheckedScenario, Value, Values } from "../engine/engine";
import { written } from "../words/quantity";

/** A slider over powers of ten between two bounds, or a list of words. */
export interface Knob {
  key: string;
  label: string;
  /** Where the slider stands, from 0 to 1; `null` if the scenario has no such number. */
  position: number | null;
  /** The value as the scenario writes it. */
  shown: string;
  /** What sets it to a position. */
  at(position: number): Record<string, string>;
}

export interface Choice {
  key: string;
  label: string;
  chosen: string;
  words: string[];
  set(word: string): Record<string, string>;
}

/** Whether all flows have the hosts of Linux. */
export interface Switch {
  isOn: boolean;
  /** All settings, with this one turned. */
  turned(sets: Record<string, string>): Record<string, string>;
}

export interface Settings {
  /** Which hop: `path`, or `link.NAME`. */
  hop: string;
  /** What the scenario writes of it. */
  values: Values;
  /** How many hops the scenario has; the first one is changed. */
  hops: number;
  rate: Knob;
  rtt: Knob;
  /** Where the direction from client to server has a delay of its own. */
  upDelay: Knob | null;
  buffer: Knob;
  loss: Knob;
  queue: Choice;
  jitter: Choice;
  jitterMean: Knob | null;
  linuxHosts: Switch;
}

function inside(value: Value | undefined): Values {
  return value !== undefined && typeof value === "object" && !Array.isArray(value) ? value : {};
}

/** The first hop, and its key for `--set`. */
function hopOf(values: Values): [string, string, Values] {
  const links = values["link"];
  if (Array.isArray(links) && links.length > 0) {
    const first = inside(links[0]);
    return [`link.${String(first["name"] ?? 0)}`, "link.0", first];
  }
  return ["path", "path", inside(values["path"])];
}

function shown(value: Value | undefined, otherwise: string): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : otherwise;
}

/** Positions on a scale of powers of ten. */
export function positionOf(value: number, least: number, most: number): number {
  const share = Math.log(value / least) / Math.log(most / least);
  return Math.min(Math.max(share, 0), 1);
}

export function valueAt(position: number, least: number, most: number): number {
  return Number((least * (most / least) ** position).toPrecision(3));
}

const quoted = (text: string) => `"${text}"`;

interface Range {
  least: number;
  most: number;
  unit: "s" | "bps" | "share" | "bytes";
}

function knob(key: string, label: string, value: Value | undefined, amount: number | undefined, range: Range): Knob {
  const { least, most, unit } = range;
  return {
    key,
    label,
    position: amount === undefined ? null : positionOf(Math.max(amount, least), least, most),
    shown: shown(value, "–"),
    at: (position) => ({ [key]: quoted(written(valueAt(position, least, most), unit)) }),
  };
}

/** A buffer is a time, bytes, packets, or multiples of the bandwidth-delay product: the slider keeps the unit. */
function buffer(key: string, value: Value | undefined, amount: number | undefined): Knob {
  const text = typeof value === "string" ? value : "1 bdp";
  const counted = /^\s*([\d.]+)\s*(bdp|packets?)\s*$/.exec(text);
  if (counted) {
    const [least, most] = counted[2] === "bdp" ? [0.1, 32] : [1, 10_000];
    const unit = counted[2] === "bdp" ? "bdp" : "packets";
    const now = Number(counted[1]);
    return {
      key,
      label: "Buffer",
      position: positionOf(Math.max(now, least), least, most),
      shown: text,
      at: (position) => {
        const found = valueAt(position, least, most);
        return { [key]: quoted(`${unit === "packets" ? Math.round(found) : Number(found.toPrecision(2))} ${unit}`) };
      },
    };
  }
  const isTime = /s\s*$/.test(text);
  const range: Range = isTime ? { least: 1e-3, most: 4, unit: "s" } : { least: 2e3, most: 1e8, unit: "bytes" };
  return knob(key, "Buffer", text, amount, range);
}

/** Loss below this is none. */
const NO_LOSS = 1e-5;

function loss(key: string, value: Value | undefined, amount: number | undefined): Knob {
  const range: Range = { least: NO_LOSS, most: 0.2, unit: "share" };
  const isModel = typeof value === "object";
  return {
    ...knob(key, "Loss", value ?? "0 %", isModel ? undefined : (amount ?? 0), range),
    shown: isModel ? String(inside(value)["model"]) : shown(value, "0 %"),
    at: (position) => ({ [key]: quoted(position <= 0.005 ? "0 %" : written(valueAt(position, NO_LOSS, 0.2), "share")) }),
  };
}

const HOSTS = "flow.*.host";
const LINUX = quoted("linux");
/** The host that a flow has where its scenario says nothing. */
const DEFAULT_HOST = "{}";

/** Turning it back takes the setting away; only where the scenario itself has Linux, another one overrides that. */
export function linuxHosts(values: Values, set: string | undefined): Switch {
  const flows = Array.isArray(values["flow"]) ? values["flow"] : [];
  const hosts = flows.map((flow) => inside(flow)["host"]);
  const isRead = hosts.length > 0 && hosts.every((host) => host === "linux" || inside(host)["model"] === "linux");
  // What is read last may be older: a scenario that the switch makes impossible is refused, and has to be left again.
  const isOn = set === undefined ? isRead : set === LINUX;
  const [wanted, opposite] = isOn ? [DEFAULT_HOST, LINUX] : [LINUX, DEFAULT_HOST];
  return {
    isOn,
    turned: (sets) => {
      const others = Object.entries(sets).filter(([key]) => !/^flow\.[^.]+\.host(\.|$)/.test(key));
      return Object.fromEntries(sets[HOSTS] === opposite ? others : [...others, [HOSTS, wanted]]);
    },
  };
}

const DELAYS: Range = { least: 1e-3, most: 1, unit: "s" };

/** The settings of the scenario as it runs. `queues` are the disciplines of the engine. */
export function settings(checked: CheckedScenario, queues: string[], sets: Record<string, string>): Settings {
  const [hop, listed, values] = hopOf(checked.values);
  const amount = (name: string) => checked.amounts[`${listed}.${name}`];
  const queue = values["queue"];
  const upDelay = inside(values["up"])["delay"];
  const discipline = typeof queue === "string" ? queue : inside(queue)["model"];
  const jitter = values["jitter"];
  // The short form is a mean, or the word of a model without keys.
  const isMean = typeof jitter === "string" && !/^[a-z]/i.test(jitter);
  const model = isMean ? "normal" : typeof jitter === "string" ? jitter : String(inside(jitter)["model"] ?? "none");
  const least = amount("jitter.min") ?? 0;
  const most = amount("jitter.max");
  const mean = model === "uniform" ? (most === undefined ? undefined : (least + most) / 2) : amount(isMean ? "jitter" : "jitter.mean");
  const jitterOf = (word: string, seconds: number): string => {
    if (word === "none") return '{ model = "none" }';
    const text = written(seconds, "s");
    return word === "uniform" ? `{ model = "uniform", max = "${written(2 * seconds, "s")}" }` : `{ model = "${word}", mean = "${text}" }`;
  };
  const seconds = mean ?? 0.007;
  const key = `${hop}.jitter`;
  const meanKey = isMean ? key : `${key}.mean`;
  /** Sets one key, so that the model keeps its others: a uniform jitter has its mean between `min` and `max`. */
  const meanOf = (seconds: number): Record<string, string> =>
    model === "uniform"
      ? { [`${key}.max`]: quoted(written(Math.max(2 * seconds - least, least), "s")) }
      : { [meanKey]: quoted(written(seconds, "s")) };
  return {
    hop,
    values,
    hops: Array.isArray(checked.values["link"]) ? checked.values["link"].length : 1,
    rate: knob(`${hop}.rate`, "Rate", values["rate"], amount("rate"), { least: 1e5, most: 1e9, unit: "bps" }),
    rtt: knob(`${hop}.rtt`, upDelay === undefined ? "Round-trip time" : "Twice the delay down", values["rtt"], amount("rtt"), DELAYS),
    upDelay: upDelay === undefined ? null : knob(`${hop}.up.delay`, "Delay up", upDelay, amount("up.delay"), DELAYS),
    buffer: buffer(`${hop}.buffer`, values["buffer"], amount("buffer")),
    loss: loss(`${hop}.loss`, values["loss"], amount("loss")),
    queue: {
      key: `${hop}.queue`,
      label: "Queue discipline",
      chosen: String(discipline ?? "drop-tail"),
      words: queues,
      set: (word) => ({ [`${hop}.queue`]: quoted(word) }),
    },
    jitter: {
      key,
      label: "Jitter",
      chosen: model,
      words: [...new Set(["none", "wifi", "uniform", "normal", model])],
      set: (word) => ({ [key]: jitterOf(word, seconds) }),
    },
    jitterMean:
      model === "none" || !["wifi", "uniform", "normal"].includes(model)
        ? null
        : {
            key: meanKey,
            label: "Mean jitter",
            position: positionOf(Math.max(seconds, 1e-4), 1e-4, 0.1),
            shown: written(seconds, "s"),
            at: (position) => meanOf(valueAt(position, 1e-4, 0.1)),
          },
    linuxHosts: linuxHosts(checked.values, sets[HOSTS]),
  };
}

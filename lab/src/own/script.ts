// A controller in JavaScript: the class that a module exports as its default.

import { Mistake, lineOf, thrown } from "./mistake";
import type { CallRecords } from "./records";

/** Where a decision is read: window, pacing, quantum, startup_done, ecn. */
export const DECIDED = ["window", "pacing", "quantum", "startup_done", "ecn"] as const;

/** What the engine starts a controller with. */
export interface Init {
  mtu: number;
  initial_window: number;
  now: number;
}

/** One controller of one end of a connection. */
export interface Instance {
  call(handler: number, event: Float64Array, path: Float64Array): void;
  /** What it has decided, in the order of DECIDED; nothing of it is checked. */
  decision(): unknown[];
  observe(): unknown;
  /** Lets it go. */
  release?(): void;
}

/** A file with a controller. */
export interface Controller {
  defined: string[];
  report_every: string | null;
  senders_only: boolean;
  /** Makes one; `options` is what stands behind the name of the file. Throws what its code throws. */
  make(init: Init, options: string): Instance;
  /** Reads options without making one. Throws Mistake. */
  check(options: string): void;
  /** The line where something was thrown, or where a method begins. */
  line(error: unknown, method: string): number | null;
}

type Value = number | boolean | string;
type Class = { new (init: Init, options: Record<string, Value>): Record<string, unknown>; prototype: Record<string, unknown>; [name: string]: unknown };

/** Kinds of functions that run nothing when they are called, by their prototypes. */
const LATER = new Map<object, string>(
  ([
    [async () => {}, "a coroutine (async)"],
    [function* () {}, "a generator (*)"],
    [async function* () {}, "an asynchronous generator (async *)"],
  ] as const).map(([example, kind]) => [Object.getPrototypeOf(example) as object, kind]),
);

const FORM = "export default class Mine { on_ack(event, path) { this.window = ... } }";

/** Runs a module and finds its class. Throws Mistake. */
export async function loadScript(file: string, code: string, calls: CallRecords): Promise<Controller> {
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  let exported: unknown;
  try {
    exported = ((await import(/* @vite-ignore */ address)) as { default?: unknown }).default;
  } catch (error) {
    const line = lineOf(error, address) ?? (await syntaxLine(error));
    throw new Mistake(`${at(file, line)}: ${thrown(error)}`, file, line);
  } finally {
    URL.revokeObjectURL(address);
  }
  const begins = (method: string): number | null => {
    const lines = code.split("\n");
    const name = method.replaceAll(/\W/g, "");
    const own = name === "" ? -1 : lines.findIndex((line) => new RegExp(`^[^/'"]*\\b${name}\\s*\\(`).test(line));
    const index = own >= 0 ? own : lines.findIndex((line) => /\bexport\s+default\b/.test(line));
    return index < 0 ? null : index + 1;
  };
  const refuse = (problem: string, method = ""): never => {
    const line = begins(method);
    throw new Mistake(`${at(file, line)}: ${problem}`, file, line);
  };
  if (typeof exported !== "function" || typeof exported.prototype !== "object") {
    return refuse(`it exports no class; accepted: ${FORM}`);
  }
  const made = exported as unknown as Class;
  const methods = methodsOf(made);
  for (const method of methods.filter((name) => name.startsWith("on_") && !calls.names.includes(name))) {
    refuse(`nothing calls ${method}; accepted: ${calls.names.join(", ")}`, method);
  }
  for (const method of methods.filter((name) => calls.names.includes(name))) {
    const kind = LATER.get(Object.getPrototypeOf(made.prototype[method]) as object);
    if (kind) refuse(`${method} is ${kind}: nothing in it would run; accepted: ${method}(event, path), without async and *`, method);
  }
  const defined = calls.names.filter((name) => methods.includes(name));
  if (!defined.includes("on_ack") && !defined.includes("on_report")) refuse(`it has no on_ack; accepted: ${FORM}, or on_report`);
  const every = made["report_every"];
  if (defined.includes("on_report") && typeof every !== "string") {
    refuse('it says no report_every; accepted: static report_every = "1 rtt"', "on_report");
  }
  const known = (made["options"] ?? {}) as Record<string, Value>;
  return {
    defined,
    report_every: typeof every === "string" ? every : null,
    senders_only: made["senders_only"] === true,
    check: (options) => void read(options, known, file),
    make(init, options) {
      const instance = new made(init, read(options, known, file));
      if (instance["window"] === undefined) instance["window"] = init.initial_window;
      return {
        call: (handler, event, path) => {
          const method = instance[calls.names[handler] as string] as (...words: unknown[]) => void;
          method.apply(instance, calls.words(handler, event, path));
        },
        decision: () => DECIDED.map((name) => instance[name]),
        observe: () => (instance["observe"] as () => unknown)(),
      };
    },
    line: (error, method) => lineOf(error, address) ?? begins(method),
  };
}

function at(file: string, line: number | null): string {
  return line === null ? file : `${file}:${line}`;
}

/** The line that the browser names when an error is reported: that of a syntax error, which has no stack. */
function syntaxLine(error: unknown): Promise<number | null> {
  return new Promise((resolve) => {
    const hear = (event: ErrorEvent) => {
      event.preventDefault();
      resolve(event.lineno || null);
    };
    self.addEventListener("error", hear, { once: true });
    reportError(error);
    setTimeout(() => {
      self.removeEventListener("error", hear);
      resolve(null);
    });
  });
}

function methodsOf(made: Class): string[] {
  const found = new Set<string>();
  for (let prototype: object | null = made.prototype as object; prototype && prototype !== Object.prototype; ) {
    for (const name of Object.getOwnPropertyNames(prototype)) {
      const { value } = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
      if (typeof value === "function") found.add(name);
    }
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return [...found];
}

/** `beta=0.8,fast`: each option has the type of its default in `static options`. */
function read(text: string, known: Record<string, Value>, file: string): Record<string, Value> {
  const found = { ...known };
  const names = new Set<string>();
  for (const part of text.split(",").map((word) => word.trim()).filter(Boolean)) {
    const [name = "", value = "true"] = part.split(/=(.*)/s).map((word) => word.trim());
    const given = Object.hasOwn(known, name) ? known[name] : undefined;
    if (given === undefined) {
      throw new Mistake(`${file} has no option "${name}"; accepted: ${Object.keys(known).join(", ") || "none"}`, file);
    }
    if (names.has(name)) throw new Mistake(`option "${name}" of "./${file}" is given twice`, file);
    names.add(name);
    const accepted = typeof given === "number" ? "a number" : typeof given === "boolean" ? "true or false" : "a text";
    const number = value === "" ? Number.NaN : Number(value);
    if ((typeof given === "number" && !Number.isFinite(number)) || (typeof given === "boolean" && !["true", "false", "on", "off"].includes(value))) {
      throw new Mistake(`option "${name}" of ${file} cannot be "${value}"; accepted: ${accepted}`, file);
    }
    found[name] = typeof given === "number" ? number : typeof given === "boolean" ? value === "true" || value === "on" : value;
  }
  return found;
}

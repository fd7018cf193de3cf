// The side of the page of controllers that it brings along (crates/web/src/controller/host.rs): which there are, and what
// they decide. Runs where the engine runs, in a worker without network.

import type { Files } from "../engine/engine";
import { NAMED, same } from "./files";
import { Mistake, thrown } from "./mistake";
import { loadModule } from "./module";
import { CallRecords, type Records } from "./records";
import { type Controller, DECIDED, type Instance, loadScript } from "./script";

interface FlowController {
  text: string;
  flow: string;
  controller: Controller;
  file: string;
  instance: Instance;
  /** When it was called last, in simulated seconds. */
  now: number;
}

const UNITS: Record<string, string> = { window: "bytes", pacing: "bits per second", quantum: "bytes" };
const ECN = ["ect0", "ect1", "none"];
/** Names that a worker may have for variables and states: the engine keeps them. */
const MOST_NAMES = 500;

export class Host {
  private readonly calls: CallRecords;
  private readonly files = new Map<string, { content: string | Uint8Array; controller: Controller }>();
  private readonly controllers = new Map<number, FlowController>();
  private readonly names = new Set<string>();
  private number = 0;
  /** The seed of the present trial, for messages. */
  seed: bigint | null = null;

  /** `onCall` hears of each call, so that a long trial is told from a loop without end. */
  constructor(
    records: Records,
    private readonly draw: (source: number) => number,
    private readonly onCall: () => void,
  ) {
    this.calls = new CallRecords(records, draw);
  }

  /** Loads what is new; whether anything was. Throws Mistake. */
  async load(files: Files): Promise<boolean> {
    let isNew = false;
    for (const [name, content] of Object.entries(files)) {
      if (same(this.files.get(name)?.content, content)) continue;
      isNew = true;
      this.files.delete(name);
      const controller = await (typeof content === "string" ? loadScript(name, content, this.calls) : loadModule(name, content, this.calls, this.draw));
      this.files.set(name, { content, controller });
    }
    return isNew;
  }

  /** What the engine asks of a text: what its controller is, or null for a text that is not meant for this page. */
  resolve(text: string): Pick<Controller, "defined" | "report_every" | "senders_only"> | null {
    const [, file, options = ""] = NAMED.exec(text) ?? [];
    if (file === undefined) return null;
    const controller = this.files.get(file)?.controller;
    if (!controller) throw new Error(`"${text}": this page has no such file; accepted: ${[...this.files.keys()].map((name) => `./${name}`).join(", ") || "a name"}`);
    controller.check(options);
    return controller;
  }

  make(text: string, flow: string, init: Float64Array, decision: Float64Array): number {
    const [, file = "", options = ""] = NAMED.exec(text) ?? [];
    const { controller } = this.files.get(file) as { controller: Controller };
    const [mtu, initial_window, now] = init as unknown as [number, number, number];
    const handle = ++this.number;
    const own: FlowController = { text, flow, controller, file, now, instance: null as unknown as Instance };
    try {
      own.instance = controller.make({ mtu, initial_window, now }, options);
    } catch (error) {
      throw this.mistake(own, "constructor", error);
    }
    this.controllers.set(handle, own);
    this.decide(own, "constructor", decision);
    return handle;
  }

  call(handle: number, handler: number, event: Float64Array, path: Float64Array, decision: Float64Array): void {
    this.onCall();
    const own = this.controllers.get(handle) as FlowController;
    const name = this.calls.names[handler] as string;
    own.now = path[0] as number;
    try {
      own.instance.call(handler, event, path);
    } catch (error) {
      throw this.mistake(own, name, error);
    }
    this.decide(own, name, decision);
  }

  observe(handle: number): (string | number)[] {
    const own = this.controllers.get(handle) as FlowController;
    let shown: unknown;
    try {
      shown = own.instance.observe();
      if (typeof shown !== "object" || shown === null) throw new TypeError(`observe returns ${written(shown)}; accepted: an object of numbers`);
      return Object.entries(shown).flatMap(([name, value]) => this.variable(name, value));
    } catch (error) {
      throw this.mistake(own, "observe", error);
    }
  }

  release(handle: number): void {
    this.controllers.get(handle)?.instance.release?.();
    this.controllers.delete(handle);
  }

  private variable(name: string, value: unknown): (string | number)[] {
    if (value === null || value === undefined) return [];
    const isState = name === "state";
    if (typeof value !== (isState ? "string" : "number")) {
      throw new TypeError(`observe gives ${name} = ${written(value)}; accepted: ${isState ? "a text" : "a number"}`);
    }
    this.names.add(isState ? `state ${value as string}` : name);
    if (this.names.size > MOST_NAMES) throw new RangeError(`observe gives another name for each call, ${written(name)} the last`);
    return [name, value as string | number];
  }

  /** Checks what an instance has decided, and writes it where the engine reads it. */
  private decide(own: FlowController, method: string, decision: Float64Array): void {
    let decided: unknown[];
    try {
      decided = own.instance.decision();
    } catch (error) {
      throw this.mistake(own, method, error);
    }
    decided.forEach((value, index) => {
      const name = DECIDED[index] as string;
      const unit = UNITS[name];
      if (name === "startup_done") decision[index] = value ? 1 : 0;
      else if (name === "ecn") decision[index] = this.codepoint(own, method, value);
      else if ((value === null || value === undefined) && name !== "window") decision[index] = Number.NaN;
      else if (typeof value === "number" && value >= 0 && Number.isFinite(value)) decision[index] = value;
      else throw this.mistake(own, method, new RangeError(`${name} is ${written(value)}; accepted: a number of ${unit}, 0 or more`));
    });
  }

  private codepoint(own: FlowController, method: string, value: unknown): number {
    if (value === undefined) return Number.NaN; // the engine knows which handlers there are
    const index = ECN.indexOf(value as string);
    if (index < 0) throw this.mistake(own, method, new RangeError(`ecn is ${written(value)}; accepted: "ect0", "ect1" or "none"`));
    return index;
  }

  /** In the form of the messages about controllers in Python. */
  private mistake(own: FlowController, method: string, error: unknown): Mistake {
    const line = own.controller.line(error, method);
    const trial = this.seed === null ? "" : ` of the trial with seed ${this.seed}`;
    const whose = own.flow ? `flow ${own.flow}${trial}, ` : "";
    const where = line === null ? own.file : `${own.file}:${line}`;
    return new Mistake(`${where}: ${thrown(error)} (in ${method} of ${own.text}: ${whose}at ${own.now.toFixed(6)} s)`, own.file, line);
  }
}

function written(value: unknown): string {
  let text: string;
  try {
    text = typeof value === "string" ? JSON.stringify(value) : String(value);
  } catch {
    text = typeof value;
  }
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

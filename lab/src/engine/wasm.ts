// The engine in WebAssembly, over its boundary (crates/web/src/boundary.rs): requests in JSON, answers in JSON with the
// addresses of columns. One that a controller has thrown out of is in the middle of a trial and must not be asked again.

import type { Column, Table } from "./engine";

interface Exports {
  memory: WebAssembly.Memory;
  room(length: number): number;
  ask(): number;
  answer(): number;
  draw(source: number): number;
}

/** Who has the controllers of the page: own/host.ts. */
export interface Controllers {
  /** What the controller of a text is, or null if there is none. Throws what is wrong with it. */
  resolve(text: string): { defined: string[]; report_every?: string | null | undefined; senders_only?: boolean } | null;
  /** Makes one, writes its first decision, and returns its handle. */
  make(text: string, flow: string, init: Float64Array, decision: Float64Array): number;
  /** Calls a handler by its number with the record of its event and of the path, and writes the decision. */
  call(handle: number, handler: number, event: Float64Array, path: Float64Array, decision: Float64Array): void;
  /** A name, its value, another name, and so on. */
  observe(handle: number): (string | number)[];
  release(handle: number): void;
}

export type Request =
  | { name: "about" | "describe" | "records" }
  | { name: "read"; text: string; origin: string; sets: Record<string, string>; controllers: Record<string, string> }
  | { name: "run"; seed: bigint; traced: boolean }
  | { name: "packets"; seed: bigint; from_s: string; most: number }
  | { name: "trials"; seeds: bigint[] }
  | { name: "qlog"; trace: string; sequence: boolean };

interface Place {
  kind: "Float64Array" | "BigUint64Array" | "Uint8Array" | "Uint32Array";
  at: number;
  length: number;
}
type Found = string[] | Place | { indices: Place; words: string[] };

/** Tables of an answer, of the columns of each its name and where it is. */
export type Tables = Record<string, [string, Found][]>;

const ARRAYS = { Float64Array, BigUint64Array, Uint8Array, Uint32Array };
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Wasm {
  private readonly exports: Exports;
  private onFinished: (count: number) => boolean = () => true;
  /** What `onFinished` has thrown: it is thrown again once the engine has come to an end. */
  private thrown: { error: unknown } | null = null;
  /** None where every controller is one of Thalweg's. */
  controllers: Controllers | null = null;

  constructor(module: WebAssembly.Module) {
    const instance = new WebAssembly.Instance(module, {
      host: {
        finished: (count: number) => Number(this.finished(count)),
        resolve: (text: number, length: number) => this.write(JSON.stringify(this.resolved(this.text(text, length)))),
        make: (text: number, textLength: number, flow: number, flowLength: number, ...records: number[]) => {
          const [init, decision] = this.records(records) as [Float64Array, Float64Array];
          return this.present().make(this.text(text, textLength), this.text(flow, flowLength), init, decision);
        },
        call: (handle: number, handler: number, event: number, eventLength: number, path: number, pathLength: number, decision: number, decisionLength: number) => {
          const { buffer } = this.exports.memory;
          const record = new Float64Array(buffer, event, eventLength);
          this.present().call(handle, handler, record, new Float64Array(buffer, path, pathLength), new Float64Array(buffer, decision, decisionLength));
        },
        observe: (handle: number) => this.write(JSON.stringify(this.present().observe(handle).map(String))),
        release: (handle: number) => this.controllers?.release(handle),
      },
    });
    this.exports = instance.exports as unknown as Exports;
  }

  /** The result of a request. Throws an error `ScenarioError`, with `line` and `key`, if the scenario is refused. */
  ask<Result>(request: Request, onFinished: (count: number) => boolean = () => true): Result {
    this.onFinished = onFinished;
    this.thrown = null;
    this.write(JSON.stringify(request, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)));
    const length = this.exports.ask();
    if (this.thrown) throw (this.thrown as { error: unknown }).error;
    const said = JSON.parse(this.text(this.exports.answer(), length)) as
      | { result: Result }
      | { refused: { message: string; line: number | null; key: string | null } }
      | { failed: string };
    if ("result" in said) return said.result;
    if ("failed" in said) throw new Error(said.failed);
    const { message, line, key } = said.refused;
    throw Object.assign(new Error(message), { name: "ScenarioError", line, key });
  }

  /** The tables of the last answer, out of the memory of the engine. */
  tables<Name extends string>(found: Tables): Record<Name, Table> {
    const tables = Object.entries(found).map(([name, columns]) => [name, Object.fromEntries(columns.map(([column, place]) => [column, this.column(place)]))]);
    return Object.fromEntries(tables) as Record<Name, Table>;
  }

  /** A real number of a random source of the engine, for a controller. */
  readonly draw = (source: number): number => this.exports.draw(source);

  private column(found: Found): Column {
    if (Array.isArray(found)) return found;
    if ("kind" in found) return this.array(found) as Column;
    return { indices: this.array(found.indices) as Uint32Array, words: found.words };
  }

  private array({ kind, at, length }: Place) {
    const kept = ARRAYS[kind];
    return new kept(this.exports.memory.buffer.slice(at, at + length * kept.BYTES_PER_ELEMENT));
  }

  private text(at: number, length: number): string {
    return decoder.decode(new Uint8Array(this.exports.memory.buffer, at, length));
  }

  private write(text: string): void {
    const bytes = encoder.encode(text);
    const at = this.exports.room(bytes.length);
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
  }

  /** Records of numbers from addresses and lengths. */
  private records(places: number[]): Float64Array[] {
    const found: Float64Array[] = [];
    for (let place = 0; place < places.length; place += 2) found.push(new Float64Array(this.exports.memory.buffer, places[place], places[place + 1]));
    return found;
  }

  private finished(count: number): boolean {
    try {
      return this.onFinished(count);
    } catch (error) {
      this.thrown = { error };
      return false;
    }
  }

  private resolved(text: string): unknown {
    try {
      const found = this.controllers?.resolve(text) ?? null;
      if (!found) return null;
      const { defined, report_every, senders_only } = found;
      return { found: { defined, report_every: report_every ?? null, senders_only: Boolean(senders_only) } };
    } catch (error) {
      return { thrown: error instanceof Error ? error.message : String(error) };
    }
  }

  private present(): Controllers {
    if (!this.controllers) throw new Error("a controller of a host that is not there");
    return this.controllers;
  }
}

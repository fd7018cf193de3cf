// A controller in WebAssembly: a module that has no objects, so what it is told are the records themselves.
//
// It exports `memory` and, all without arguments and with a number as result:
//   thalweg_abi        1, the version of this interface
//   event_at, path_at, decision_at   where in memory records are written, and its decision is read: doubles
// and
//   make(mtu, initial_window, now)   of doubles: makes a controller and returns its handle
//   release(handle)                  lets it go; may be missing
//   on_ack(handle), on_lost(handle), ...   handlers, each of which may be missing but on_ack
// A decision is four doubles: window, pacing (NaN for none), quantum (NaN for the initial window), and 1 once start-up is
// over. It may import `thalweg.random`, a double from 0 to 1, and nothing else. It has no options and shows no variables.

import { Mistake, thrown } from "./mistake";
import type { CallRecords } from "./records";
import type { Controller } from "./script";

type Exports = Record<string, unknown>;
const NEEDED = ["thalweg_abi", "event_at", "path_at", "decision_at", "make", "on_ack"];

export async function loadModule(file: string, bytes: Uint8Array, calls: CallRecords, draw: (source: number) => number): Promise<Controller> {
  const refuse = (problem: string): never => {
    throw new Mistake(`${file}: ${problem}`, file);
  };
  let source = 0;
  let exports: Exports;
  try {
    const module = await WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>);
    const strange = WebAssembly.Module.imports(module).find(({ module: from, name }) => from !== "thalweg" || name !== "random");
    if (strange) refuse(`it imports ${strange.module}.${strange.name}; accepted: thalweg.random, or nothing`);
    const instance = await WebAssembly.instantiate(module, { thalweg: { random: () => draw(source) } });
    exports = instance.exports as Exports;
  } catch (error) {
    if (error instanceof Mistake) throw error;
    return refuse(`${thrown(error)}; accepted: a module in WebAssembly`);
  }
  const missing = NEEDED.filter((name) => typeof exports[name] !== "function");
  if (missing.length > 0 || !(exports["memory"] instanceof WebAssembly.Memory)) {
    refuse(`it exports no ${missing[0] ?? "memory"}; accepted: memory, ${NEEDED.join(", ")}`);
  }
  const memory = exports["memory"] as WebAssembly.Memory;
  const call = (name: string, ...words: number[]) => (exports[name] as (...words: number[]) => number)(...words);
  const version = call("thalweg_abi");
  if (version !== 1) refuse(`its thalweg_abi is ${version}; accepted: 1`);
  /** Doubles in its memory, which may have moved since the last call. */
  const doubles = (name: string, count: number): Float64Array => {
    const begin = call(name) >>> 0;
    if (begin % 8 !== 0 || begin + 8 * count > memory.buffer.byteLength) {
      return refuse(`${name} is ${begin}; accepted: a multiple of 8 with ${count} doubles of its memory behind it`);
    }
    return new Float64Array(memory.buffer, begin, count);
  };
  return {
    defined: calls.names.filter((name) => name !== "observe" && name !== "on_report" && typeof exports[name] === "function"),
    report_every: null,
    senders_only: false,
    check: (options) => {
      if (options.trim()) refuse("a module in WebAssembly has no options; accepted: none");
    },
    make: ({ mtu, initial_window, now }) => {
      const handle = call("make", mtu, initial_window, now);
      return {
        call: (handler, event, path) => {
          const numbers = path.length - 1;
          source = path[numbers] as number;
          doubles("path_at", numbers).set(path.subarray(0, numbers));
          doubles("event_at", event.length).set(event);
          call(calls.names[handler] as string, handle);
        },
        decision: () => {
          const [window, pacing, quantum, done] = doubles("decision_at", 4);
          const known = (value: number | undefined) => (Number.isNaN(value) ? null : value);
          return [window, known(pacing), known(quantum), done === 1, undefined];
        },
        observe: () => ({}),
        release: () => void (typeof exports["release"] === "function" && call("release", handle)),
      };
    },
    line: () => null,
  };
}

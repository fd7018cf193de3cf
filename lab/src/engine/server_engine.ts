// The engine behind `thalweg lab`: the same calls over a WebSocket to a process on this machine.

import type { About, CheckedScenario, Column, Engine, Outcomes, Passages, Setup, Table, Trace, Trial } from "./engine";
import type { Refused } from "./calls";
import type { ResultEntry, Shelf, StoredResult } from "../stored/stored";
import type { Report, RunLive } from "../live/live";
import { type Estimate, NoAnswer, type Progress, type SweepRequest, type Sweeps } from "./sweeps";
import { CallQueue } from "./call_queue";

/** An array in the header of an answer: where its values lie. */
interface Slice {
  at: number;
  length: number;
  kind: "f8" | "u8" | "u1" | "u4";
}

type Header = {
  id: number;
  finished?: number;
  /** How a run in real time goes. */
  live?: unknown;
  unfaithful?: string;
  failed?: string;
  refused?: Refused;
  result?: unknown;
  milliseconds?: number;
  outcomes?: Outcomes;
  trace?: Trace;
  tables?: Passages["tables"];
  links?: string[];
  untilS?: number;
  hash?: string;
};

/** The answer in some bytes, its columns as arrays over the same memory (python/thalweg/lab/wire.py). */
export function unpacked(data: ArrayBuffer): Header {
  const length = new DataView(data).getUint32(0, true);
  const begin = 4 + length;
  const array = ({ at, length: count, kind }: Slice): Column => {
    const offset = begin + at;
    switch (kind) {
      case "f8":
        return new Float64Array(data, offset, count);
      case "u8":
        return new BigUint64Array(data, offset, count);
      case "u1":
        return new Uint8Array(data, offset, count);
      case "u4":
        return new Uint32Array(data, offset, count) as unknown as Column;
    }
  };
  const revive = (_: string, value: unknown): unknown =>
    typeof value === "object" && value !== null && "at" in value && "kind" in value && "length" in value ? array(value as Slice) : value;
  return JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)), revive) as Header;
}

/** Bytes of a message that the server takes (python/thalweg/lab/server.py). */
const LARGEST_MESSAGE = 2 << 20;
/** Bytes of the number of a call. */
const NUMBERED = 64;

/** Refuses a call that the server would answer by closing the connection, without a word. */
function refuseLarge(words: Record<string, unknown>): void {
  const text = JSON.stringify(words);
  if (3 * text.length + NUMBERED <= LARGEST_MESSAGE) return;
  const bytes = new TextEncoder().encode(text).length + NUMBERED;
  if (bytes > LARGEST_MESSAGE) {
    throw new Error(`the scenario and its settings have ${bytes} bytes; accepted by thalweg lab: at most ${LARGEST_MESSAGE}, such as with a trace that is a file in its folder`);
  }
}

/** One connection, with a process of its own. */
class Connection {
  private socket: WebSocket | null = null;
  private readonly queue = new CallQueue<Record<string, unknown>, Header>({
    ask: (id, question) => {
      const socket = this.open();
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ id, ...question }));
    },
    stop: (id) => {
      if (this.socket?.readyState !== WebSocket.OPEN) return;
      // The server ends the process; an answer that is under way is of a call that nobody waits for.
      this.socket.send(JSON.stringify({ id, stop: true }));
      this.queue.ask();
    },
  });

  constructor(private readonly address: string) {}

  async call(words: Record<string, unknown>, signal?: AbortSignal, onFinished?: (count: number, live?: unknown) => void): Promise<Header> {
    refuseLarge(words);
    return this.queue.call(words, signal, onFinished);
  }

  private open(): WebSocket {
    if (this.socket && this.socket.readyState <= WebSocket.OPEN) return this.socket;
    const socket = new WebSocket(this.address);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.queue.ask();
    socket.onmessage = ({ data }) => this.hear(unpacked(data as ArrayBuffer));
    socket.onclose = ({ reason }) => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.queue.failAll(new Error(reason || "the server of the lab does not answer: start thalweg lab again"));
    };
    return socket;
  }

  private hear(header: Header): void {
    const { finished, live, refused, failed } = header;
    const said =
      finished !== undefined ? { finished, live } : refused ? { refused } : failed !== undefined ? { failed } : { reply: header };
    if (this.queue.hear(header.id, said) && finished === undefined) this.queue.ask();
  }
}

export class ServerEngine implements Engine {
  readonly kind = "server";
  /** A process starts an interpreter and imports the package. */
  readonly graceMs = 1000;
  private readonly runs: Connection;
  private readonly many: Connection;

  constructor(private readonly token: string) {
    const address = new URL(`engine?token=${encodeURIComponent(token)}`, location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.runs = new Connection(address.href);
    this.many = new Connection(address.href);
  }

  /** The stored results of the folder that the server was given. They do not wait for the hundred trials. */
  readonly shelf: Shelf = {
    list: async () => (await this.runs.call({ name: "results" })).result as ResultEntry[],
    open: async (path) => (await this.runs.call({ name: "result", path })).result as StoredResult,
  };

  readonly live: RunLive = async (setup, seed, onReport, signal) => {
    const { text, origin, sets, controllers } = setup;
    const words = { name: "live", setup: { text, origin, sets, controllers }, seed: String(seed) };
    const header = await this.many.call(words, signal, (_, live) => onReport(live as Report));
    return { ...trialOf(header, seed), unfaithful: header.unfaithful ?? "" };
  };

  /** Sweeps of the server: they go on when this page has gone. */
  readonly sweeps: Sweeps = {
    estimate: async (asked, signal) => (await this.many.call({ name: "estimate", sweep: asked }, signal)).result as Estimate,
    start: (asked) => this.sweep("/start", asked),
    state: () => this.sweep(""),
    stop: () => this.sweep("/stop", null),
  };

  private async sweep(call: string, body?: SweepRequest | null): Promise<Progress> {
    const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(new URL(`sweep${call}?token=${encodeURIComponent(this.token)}`, location.href), post).catch(() => null);
    if (!response) throw new NoAnswer("the server of the lab does not answer: start thalweg lab again");
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Progress;
  }

  async about(): Promise<About> {
    return (await this.runs.call({ name: "about" })).result as About;
  }

  async check(setup: Setup, signal?: AbortSignal): Promise<CheckedScenario> {
    return (await this.runs.call({ name: "check", setup }, signal)).result as CheckedScenario;
  }

  async run(setup: Setup, seed: bigint, traced: boolean, signal?: AbortSignal): Promise<Trial> {
    return trialOf(await this.runs.call({ name: "run", setup, seed: String(seed), traced }, signal), seed);
  }

  async packets(setup: Setup, seed: bigint, fromS: number, most: number, signal?: AbortSignal): Promise<Passages> {
    const header = await this.runs.call({ name: "packets", setup, seed: String(seed), fromS, most }, signal);
    const { tables, links = [], untilS = 0, hash } = header;
    return { tables: tables as Passages["tables"], links, fromS, untilS, hash };
  }

  async trials(setup: Setup, seeds: bigint[], onFinished: (count: number) => void, signal?: AbortSignal): Promise<Outcomes> {
    const header = await this.many.call({ name: "trials", setup, seeds: seeds.map(String) }, signal, onFinished);
    return header.outcomes as Outcomes;
  }
}

function trialOf({ outcomes, trace, milliseconds }: Header, seed: bigint): Trial {
  const found = outcomes as Outcomes;
  const [hash] = (found.trials as Table)["trace_hash"] as string[];
  return { hash: hash ?? "", seed, outcomes: found, trace: trace ?? null, milliseconds: milliseconds ?? Number.NaN };
}

/** The scenarios of the folder that the server was given, by name. */
export async function scenariosOf(token: string): Promise<Record<string, string>> {
  const response = await fetch(new URL(`scenarios?token=${encodeURIComponent(token)}`, location.href));
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Record<string, string>;
}

// The seam between the page and what runs trials: WebAssembly in this page, or a local server.

/** Words of a column of few different texts: the index of each row, and the words. */
export interface Words {
  indices: Uint32Array;
  words: string[];
}

/** The values of a column, one for each row. NaN where there is no value. */
export type Column = Float64Array | BigUint64Array | Uint8Array | string[] | Words;

/** Columns by their names, which end with their unit (docs/reference/results.md). */
export type Table = Record<string, Column>;

/** Tables of outcomes, with a row for each flow, link, trial, request or stream of media. */
export type Outcomes = Record<"flows" | "links" | "trials" | "requests" | "streams", Table>;

/** Tables of the time series of one trial. */
export type Trace = Record<"flows" | "variables" | "links" | "drops" | "packets" | "held" | "frames", Table>;

/** The passages of packets through links, of a part of a trial. */
export interface Passages {
  /** Passages in the order in which packets entered links, and the limits of queues. */
  tables: Record<"packets" | "limits", Table>;
  /** Names of the links, down and up for each hop. */
  links: string[];
  /** From when on they are, and up to when none is left out, in seconds. */
  fromS: number;
  untilS: number;
  /** Hash of the trial that was played for them; none where nothing but the setup decides it, as in the page. */
  hash?: string | undefined;
}

/** Controllers of a reader by the names of their files: JavaScript as text, WebAssembly as bytes. */
export type Files = Record<string, string | Uint8Array>;

/** What is to be run, as the command line has it: a scenario, `--set` and `--controller`. */
export interface Setup {
  text: string;
  /** The name that messages show. */
  origin: string;
  sets: Record<string, string>;
  controllers: Record<string, string>;
  /** What controllers such as `./mine.js` are; the command line has none of them. */
  files?: Files;
}

/** A pass criterion; bounds and floors in seconds, bits per second or parts of 1. */
export interface Criterion {
  flow: string;
  metric: string;
  stream: string | null;
  column: string;
  unit: "s" | "bps" | "share" | "bytes" | "";
  /** Whether a flow that does not finish has a value. */
  until_the_end: boolean;
  at_most: number | null;
  at_least: number | null;
  /** The share of trials that must meet it. */
  in: number;
  floor: number | null;
  source: string | null;
  informative: boolean;
}

/** A scenario that was read and checked. */
export interface CheckedScenario {
  title: string;
  /** The text as it runs, with what `sets` and `controllers` changed. */
  toml: string;
  /** Its keys and values. */
  values: Values;
  /** The number of each value that is a quantity, in base units, by its key: `path.rate`. */
  amounts: Record<string, number>;
  criteria: Criterion[];
  floorS: number | null;
  flows: string[];
  /** When each flow starts, before noise. */
  startsS: Record<string, number>;
}

export type Value = string | number | boolean | Value[] | Values;
export interface Values {
  [key: string]: Value;
}

/** One finished trial. */
export interface Trial {
  /** Hash over every arrival: equal hashes mean equal trials. */
  hash: string;
  seed: bigint;
  outcomes: Outcomes;
  trace: Trace | null;
  /** How long the engine took. */
  milliseconds: number;
}

export interface Option {
  name: string;
  accepted: string;
  default: string;
  meaning: string;
}

export interface CatalogueEntry {
  name: string;
  title: string;
  source: string;
  kind?: string;
  options?: Option[];
}

/** What an engine knows. */
export interface About {
  version: string;
  controllers: CatalogueEntry[];
  models: CatalogueEntry[];
  /** Controllers in Python of the folder that a local server was given, by the names that scenarios give them. */
  files?: string[];
  /** JSON schema of a scenario file. */
  schema: unknown;
}

/** A scenario or a request that is refused, in the words of the command line. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly line: number | null = null,
    readonly key: string | null = null,
    /** The file of the line, if it is not the scenario. */
    readonly file: string | null = null,
  ) {
    super(message);
    this.name = "Refusal";
  }
}

/** Runs trials. Every call can be stopped at once by its signal; it then throws the signal's reason. */
export interface Engine {
  readonly kind: "page" | "server";
  /** How long a trial may go on when a newer one is wanted, in milliseconds: what ending it and starting anew takes. */
  readonly graceMs: number;
  about(): Promise<About>;
  /** Reads and checks a scenario. Throws Refusal. */
  check(setup: Setup, signal?: AbortSignal): Promise<CheckedScenario>;
  /** Runs one trial. Throws Refusal. */
  run(setup: Setup, seed: bigint, traced: boolean, signal?: AbortSignal): Promise<Trial>;
  /** Runs one trial for the passages of at most `most` packets, from a time in seconds on. Throws Refusal. */
  packets(setup: Setup, seed: bigint, fromS: number, most: number, signal?: AbortSignal): Promise<Passages>;
  /** Runs a trial for each seed, and says after each how many are finished. Throws Refusal. */
  trials(
    setup: Setup,
    seeds: bigint[],
    onFinished: (count: number) => void,
    signal?: AbortSignal,
  ): Promise<Outcomes>;
}

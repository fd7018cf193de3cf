// What a page and its worker say to each other.

import type { About, CheckedScenario, Outcomes, Passages, Setup, Trace, Trial } from "./engine";

/** qlog of the current drafts, or the older form that qvis reads. */
export type QlogForm = "sqlog" | "qlog";

/** The calls that a worker answers: their arguments and their results. */
export interface Calls {
  about: { arguments: []; result: About };
  check: { arguments: [Setup]; result: CheckedScenario };
  run: { arguments: [Setup, bigint, boolean]; result: Trial };
  packets: { arguments: [Setup, bigint, number, number]; result: Passages };
  trials: { arguments: [Setup, bigint[]]; result: Outcomes };
  qlog: { arguments: [Trace, QlogForm]; result: string };
}

export type Call = { [Name in keyof Calls]: { id: number; name: Name; arguments: Calls[Name]["arguments"] } }[keyof Calls];

/** The first message to a worker: the compiled engine. */
export interface Start {
  module: WebAssembly.Module;
}

/** Why a scenario, or a controller of the reader, is refused. */
export interface Refused {
  message: string;
  line: number | null;
  key: string | null;
  /** The file of the line, if it is not the scenario. */
  file?: string | null;
}

export type Answer =
  | { id: number; result: unknown }
  | { id: number; finished: number }
  | { id: number; refused: Refused; thrown?: true }
  | { id: number; failed: string }
  | { id: number; alive: true };

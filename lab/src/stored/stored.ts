// Stored results: trials that ran before, with the texts of their scenarios, seeds and trace hashes.

import type { Measured } from "../field/measured";
import type { Criterion } from "../engine/engine";
import { type Judgement, missing } from "../trial/verdict";

/** A criterion of a scenario, and what its trials say about it. */
export type StoredCriterion = Criterion & Judgement;

/** A scenario of a result or a study, a point of a sweep, or the scenario that is like a file. */
export interface StoredScenario {
  name: string;
  title: string;
  about: string;
  toml: string;
  seeds: string[];
  hashes: string[];
  /** None of a point of a sweep. */
  criteria: StoredCriterion[];
  /** For a point of a sweep: the median of `metric`, for people. */
  median?: string;
}

export interface StoredResult {
  title: string;
  /** The version of the engine that ran them. */
  version: string;
  /** For a sweep: the column of its medians. */
  metric?: string;
  /** For a file of another program: why its transfer was as slow as it was. */
  sentences?: string[];
  /** For such a file: its series. */
  measured?: Measured;
  scenarios: StoredScenario[];
}

/** What a server offers: where it lies, and what it is. */
export interface ResultEntry {
  path: string;
  kind: "suite" | "study" | "sweep" | "file";
}

/** Who has stored results besides the reader. */
export interface Shelf {
  list(): Promise<ResultEntry[]>;
  open(path: string): Promise<StoredResult>;
}

/** A stored result whose medians and worst values are numbers: JSON has none for what did not finish. */
export function known(result: StoredResult): StoredResult {
  for (const criterion of result.scenarios.flatMap(({ criteria }) => criteria)) {
    for (const key of ["median", "p95", "worst"] as const) criterion[key] ??= missing(criterion);
  }
  return result;
}

// A lesson: a question about two runs, what to predict, and what the runs then say.

import type { Setup } from "../engine/engine";

/** A number of the first flow, or of a named one, that the lesson is about. */
export interface Figure {
  name: string;
  column: string;
  unit: "s" | "bps" | "share" | "packets";
  flow?: string;
  /** A stream of a call. */
  stream?: string;
}

export interface Lesson {
  id: string;
  title: string;
  question: string;
  choices: string[];
  /** Which choice the runs bear out. */
  right: number;
  /** The two runs, and what each is called. */
  runs: [[string, Setup], [string, Setup]];
  figures: Figure[];
  /** What happened, once the runs have been seen. */
  after: string;
  /** Where to look. */
  look: string;
  source: string;
}

/** One hop: rate, round-trip time, buffer, and further keys of its table. */
export function path(rate: string, rtt: string, buffer: string, more = ""): string {
  return `[path]\nrate = "${rate}"\nrtt = "${rtt}"\nbuffer = "${buffer}"\n${more && `${more}\n`}\n`;
}

export function flow(name: string, controller: string, workload: string, more = ""): string {
  return `[[flow]]\nname = "${name}"\ncontroller = "${controller}"\n${workload}\n${more && `${more}\n`}\n`;
}

export function setupOf(id: string, title: string, text: string): Setup {
  return { text: `title = "${title}"\n\n${text}`, origin: `lesson-${id}`, sets: {}, controllers: {} };
}

// Opening a measurement, and simulating its path.

import { batch } from "@preact/signals";
import { end } from "../chart/view";
import { kept, latest, open, run } from "./lab";
import { type Field, field, LARGEST, scenario } from "../field/field";
import { readSeries, readTrace } from "../field/traces";

/** Reads a file by its name. Throws what a person can read. */
export async function openField(file: File, name: string): Promise<void> {
  const text = await content(file);
  const plain = name.toLowerCase().replace(/\.gz$/, "");
  show((plain.endsWith(".csv") ? readSeries : readTrace)(text, name.slice(0, 100)));
}

/** Shows a measurement in the place of a run that was kept, or none. */
export function show(found: Field | null): void {
  batch(() => {
    field.value = found;
    kept.value = null;
    end.value = latest();
  });
}

/** Opens a scenario with the path that the measurement tells of; its flow has the controller of the present run. */
export function simulate(): Promise<void> {
  const found = field.value;
  if (!found) return Promise.resolve();
  const flows = run.value?.trial.outcomes.flows["controller"];
  const controller = flows && "words" in flows ? (flows.words[0] ?? "c4") : "c4";
  return open(scenario(found, controller), `path-of-${found.name.replaceAll(/[^\w-]+/g, "-").slice(0, 40)}.toml`);
}

async function content(file: File): Promise<string> {
  if (!file.name.toLowerCase().endsWith(".gz")) return file.text();
  const reader = file.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  const parts: Uint8Array[] = [];
  for (let length = 0; ; ) {
    const { done, value } = await reader.read().catch(() => {
      throw new Error("it is not gzip; accepted: a file that gzip has packed");
    });
    if (done) break;
    length += value.length;
    if (length > LARGEST) {
      await reader.cancel();
      throw new Error(`it unpacks to more than ${LARGEST} bytes; accepted: at most so many`);
    }
    parts.push(value);
  }
  return new Blob(parts as Uint8Array<ArrayBuffer>[]).text();
}

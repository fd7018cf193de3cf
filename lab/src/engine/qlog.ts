// A trace as qlog, which the engine writes (crates/columns/src/qlog): in a worker of this page, behind a server too.

import type { QlogForm } from "./calls";
import type { Trace } from "./engine";
import { Lane } from "./lane";
import { worker } from "./page_engine";

/** The trace as qlog. Its worker ends: the memory of an engine never shrinks. */
export async function qlog(trace: Trace, form: QlogForm): Promise<string> {
  const lane = new Lane(worker);
  try {
    return await lane.call("qlog", [trace, form]);
  } finally {
    lane.end();
  }
}

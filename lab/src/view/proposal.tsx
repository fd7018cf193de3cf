// A link that brings a controller: its code is shown, and runs only if the reader asks for it.

import { accept, proposed } from "../state/lab";
import { moved } from "../own/collection";

export function Proposal() {
  const found = proposed.value;
  if (!found) return null;
  return (
    <section class="proposal" aria-label="a controller in a link">
      <h2>This link brings code</h2>
      <p>
        Its trial is steered by code that somebody else has written. Read it first. It runs in a worker without network, which knows nothing
        of this page but the trial; it has not run yet.
      </p>
      {Object.entries(found.setup.files ?? {}).map(([name, content]) => (
        <details key={name} open>
          <summary>
            {name}, {content.length} {typeof content === "string" ? "characters" : "bytes of WebAssembly"}
          </summary>
          {typeof content === "string" && (
            <pre tabIndex={0} aria-label={`the code of ${name}`}>
              {content}
            </pre>
          )}
        </details>
      ))}
      {moved(found.setup.files ?? {}).map(([from, to]) => (
        <p key={from}>
          You have another {from}: if you run this code, yours is kept as {to}.
        </p>
      ))}
      <div class="buttons">
        <button type="button" class="main" onClick={() => void accept()}>
          Run this code
        </button>
        <button type="button" onClick={() => (proposed.value = null)}>
          Leave it
        </button>
      </div>
    </section>
  );
}

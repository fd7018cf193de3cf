// The measurement that was dropped: what it is, and a simulated run of its path.

import { field } from "../field/field";
import { show, simulate } from "../state/measurement";

export function FieldBar() {
  const found = field.value;
  if (!found) return null;
  return (
    <section class="field" aria-label="measurement">
      <p>
        <b>{found.name}</b>: {found.about}
      </p>
      <div class="buttons">
        {Object.keys(found.facts).length > 0 && (
          <button type="button" class="main" onClick={() => void simulate()}>
            Simulate its path
          </button>
        )}
        <button type="button" onClick={() => show(null)}>
          Remove it
        </button>
      </div>
    </section>
  );
}

// A table of numbers that scrolls sideways where there is no room.

import type { ComponentChildren } from "preact";

export function Numbers({ label, heads, children }: { label: string; heads: readonly string[]; children: ComponentChildren }) {
  return (
    <div class="scrolls" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

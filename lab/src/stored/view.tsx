// Stored results: of a folder that is opened here, and of the folder of a local server. A trial opens by its seed.

import { seed } from "../state/lab";
import { text } from "../words/quantity";
import { subject } from "../trial/verdict";
import { chosen, offered, openList, openOffered, openTrial, stored } from "./state";
import type { StoredResult, StoredCriterion } from "./stored";

/** Each criterion of each scenario: what its trials say, and what was asked. */
function Criteria({ of }: { of: StoredResult }) {
  if (of.scenarios.every(({ criteria }) => criteria.length === 0)) return null;
  return (
    <div class="scrolls judged" role="region" aria-label="criteria of the result" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {["criterion", "median", "worst", "limit", "answer"].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        {of.scenarios.map(({ name, criteria }, index) => (
          <tbody key={index} aria-current={index === chosen.value ? "true" : undefined}>
            <tr>
              <th scope="rowgroup" colSpan={5}>
                {name}
              </th>
            </tr>
            {criteria.map((criterion, row) => (
              <tr key={row} class={criterion.informative ? "informative" : criterion.answer}>
                <th scope="row">{subject(criterion)}</th>
                <td>{text(criterion.median, criterion.unit)}</td>
                <td>{text(criterion.worst, criterion.unit)}</td>
                <td>{limit(criterion)}</td>
                <td>
                  {criterion.answer}
                  {criterion.failures > 0 && ` (${criterion.failures} of ${criterion.n})`}
                  {criterion.informative && " (for info)"}
                </td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function limit({ at_most: most, at_least: least, unit, in: share }: StoredCriterion): string {
  return `${least === null ? "≤" : "≥"} ${text(least ?? most, unit)}${share < 1 ? ` in ${text(share, "share")}` : ""}`;
}

export function Results() {
  const result = stored.value;
  const scenario = result?.scenarios[chosen.value];
  return (
    <div class="results">
      <p class="quiet">
        What <code>thalweg suite</code>, <code>study</code>, <code>score</code> or <code>sweep</code> has stored with <code>--out</code>. A trial runs again here, and the page says whether its
        hash is the same. A log or a capture in the folder of <code>thalweg lab</code> is explained.
      </p>
      <label class="file">
        Open the folder of a result
        <input
          type="file"
          {...{ webkitdirectory: true }}
          onChange={(event) => {
            const { files } = event.currentTarget;
            if (files && files.length > 0) void openList(files).finally(() => (event.target as HTMLInputElement).value = "");
          }}
        />
      </label>
      {offered.value.length > 0 && (
        <ul class="offered" aria-label="stored in the folder of the lab">
          {offered.value.map(({ path, kind }) => (
            <li key={path}>
              <button type="button" onClick={() => void openOffered(path)}>
                {path} ({kind})
              </button>
            </li>
          ))}
        </ul>
      )}
      {result && (
        <>
          <h2>{result.title}</h2>
          {result.sentences?.map((sentence, index) => <p key={index}>{sentence}</p>)}
        </>
      )}
      {result && scenario && (
        <>
          <label class="knob">
            <span>Scenario</span>
            <select aria-label="scenario of the result" value={chosen.value} onChange={(event) => (chosen.value = Number(event.currentTarget.value))}>
              {result.scenarios.map(({ name }, index) => (
                <option key={index} value={index} selected={index === chosen.value}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <Criteria of={result} />
          {result.metric !== undefined && (
            <div class="scrolls medians" role="region" aria-label="medians of the points" tabIndex={0}>
              <table>
                <thead>
                  <tr>
                    <th>point</th>
                    <th>median {result.metric.replace(/_s$/, "")}</th>
                  </tr>
                </thead>
                <tbody>
                  {result.scenarios.map(({ name, median }, index) => (
                    <tr key={index} aria-current={index === chosen.value ? "true" : undefined}>
                      <td>{name}</td>
                      <td>{median}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
          <p class="quiet">
            {scenario.title}, {scenario.about}.
            {scenario.seeds.length > 0 && ` Listed: ${scenario.seeds.length}.`}
          </p>
          <ol class="stored-trials" aria-label="stored trials" tabIndex={0}>
            {scenario.seeds.map((own, index) => (
              <li key={own}>
                <button type="button" aria-pressed={String(seed.value) === own} onClick={() => void openTrial(index)}>
                  seed {own}
                </button>{" "}
                <code>{scenario.hashes[index]}</code>
              </li>
            ))}
          </ol>
        </>
      )}
    </div>
  );
}

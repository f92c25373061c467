/** Whether the server's parts work, in the words of `memtree doctor`. */

import { html, useEffect, useState } from "../vendor/preact.js";
import { call } from "../shell/api.js";
import { Time } from "../shell/format.js";
import { Loading } from "../shell/states.js";

const MARKS = {
  ok: { chip: "good", label: "works" },
  warning: { chip: "warning", label: "warning" },
  problem: { chip: "problem", label: "problem" },
};

/** @param {{latest: {value: any, at: Date | null, error: Error | null, reload: () => void}}} props */
export function Health({ latest }) {
  const version = useVersion();
  return html`
    <section class="card state-health" aria-labelledby="state-health">
      <div class="row">
        <h2 id="state-health" class="grow">The server</h2>
        ${version && html`<span class="hint">MemTree ${version}</span>`}
      </div>
      <${Findings} ...${latest} />
      <p class="hint">
        <a href="/metrics">/metrics</a>${" "}has counts for Prometheus, which${" "}
        <code>docs/observability.md</code>${" "}explains.${" "}
        <a href="/openapi.json">/openapi.json</a>${" "}describes every route.
      </p>
    </section>
  `;
}

/** What runs here, which is told to everybody. */
function useVersion() {
  const [version, setVersion] = useState("");
  useEffect(() => {
    const ended = new AbortController();
    call("GET", "/health", { ask: false, signal: ended.signal })
      .then(({ json }) => setVersion(json.version))
      .catch(() => {}); // the findings say what is wrong
    return () => ended.abort();
  }, []);
  return version;
}

function Findings({ value, at, error, reload }) {
  if (!value && error?.status === 401) {
    return html`<p>
      Only the operator sees how store, queue and models are doing. To see it, use the operator's
      key (the setting <code>metrics_key</code>) as the key of this page.
    </p>`;
  }
  if (!value && error) {
    return html`<div class="note problem" role="alert">
      <p>${error.message}</p>
      <button type="button" class="button small" onClick=${reload}>Try again</button>
    </div>`;
  }
  if (!value) return html`<${Loading} rows=${2} label="Asking the parts of the server" />`;
  return html`
    ${error && html`<p class="note warning" role="status">This is from <${Time} at=${at} />. ${error.message}</p>`}
    <ul class="state-findings">
      ${value.findings.map(
        (finding, index) => html`
          <li key=${index}>
            <span class=${`chip ${MARKS[finding.level]?.chip ?? ""}`}>
              ${MARKS[finding.level]?.label ?? finding.level}
            </span>
            <strong>${finding.part}</strong>
            <span>${finding.text}</span>
          </li>
        `,
      )}
      ${value.findings.length === 0 && html`<li class="hint">Nothing is looked at here.</li>`}
    </ul>
  `;
}

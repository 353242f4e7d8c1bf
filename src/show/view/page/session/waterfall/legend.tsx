/** Colours of the kinds of spans. */
export function Legend() {
  return (
    <ul class="legend" aria-label="Colours">
      {LEGEND.map(([kind, text]) => (
        <li key={kind} class={kind}>
          <span class="dot" aria-hidden="true" />
          {text}
        </li>
      ))}
    </ul>
  );
}

// --- internal ---

const LEGEND = [
  ["turn", "turn"],
  ["model_call", "model"],
  ["tool_call", "tool"],
  ["subagent", "subagent"],
  ["failed", "✗ failed or denied"],
] as const;

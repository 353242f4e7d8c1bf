import type { HomeDocument } from "../../wire/documents.ts";
import { Time } from "../figures/figures.tsx";
import { capitalised } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";

/** What is left of the month's budget and where the month will end, one line each, in the month's tile. */
export function Outlook({ home: { outlook, forecastMethod } }: { home: HomeDocument }) {
  return (
    <span class="outlook" title={forecastMethod}>
      {/* The cost so far is the figure above */}
      {outlook[0]?.parts.slice(1).map((part) => (
        <span key={part}>{capitalised(part)}</span>
      ))}
    </span>
  );
}

/** The windows in which providers limit subscriptions, and the budgets of repositories, one line each. */
export function Limits({ home: { limits, nowMs, outlook, forecastMethod } }: { home: HomeDocument }) {
  const [, ...repositories] = outlook;
  if (limits.length + repositories.length === 0) return null;
  return (
    <ul class="limits" aria-label="Limits and budgets">
      {limits.map(({ agent, name, percent, resetsAtMs, reportedMs }) => (
        <li key={`${agent} ${name}`}>
          <b>
            {safeText(agent)} {name}
          </b>{" "}
          {percent === null ? (
            <>
              unknown since its reset, <Time ms={resetsAtMs} />
            </>
          ) : (
            <>
              {Math.trunc(percent)}% used, resets <Time ms={resetsAtMs} isClock={resetsAtMs - nowMs < DAY_MS} />
              {reportedMs === null ? null : (
                <>
                  , as of <Time ms={reportedMs} isClock={nowMs - reportedMs < DAY_MS} />
                </>
              )}
            </>
          )}
        </li>
      ))}
      {repositories.map(({ repository, parts }) => (
        <li key={repository} title={forecastMethod}>
          <b>{safeText(repository ?? "")}</b> {parts.join(", ")}
        </li>
      ))}
    </ul>
  );
}

// --- internal ---

const DAY_MS = 86_400_000;

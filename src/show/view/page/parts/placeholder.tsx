import type { ComponentChildren } from "preact";
import type { ApiError, NoStore } from "../../wire/api.ts";
import { command } from "../data/exported.ts";
import { hrefOf, type Route } from "../route.ts";
import { capitalised } from "../text/format.ts";

/** Shown instead of data. Without a problem, the first response is still expected. */
export function Placeholder({ problem, backHref }: { problem?: NoStore | ApiError | undefined; backHref?: string }) {
  if (problem === undefined) {
    return (
      <p class="placeholder" role="status">
        Loading …
      </p>
    );
  }
  if (problem.kind === "no-store") {
    return (
      <section class="placeholder" aria-labelledby="no-store">
        <h2 id="no-store">No data yet</h2>
        <p>{withCommands(toSentence(problem.hint))}</p>
        <p class="muted">This page updates by itself after an agent has worked and a drain has run.</p>
      </section>
    );
  }
  return (
    <section class="placeholder error" role="alert" aria-labelledby="error">
      <h2 id="error">{TITLES[problem.code] ?? "Cannot load this"}</h2>
      <p>{withCommands(toSentence(problem.message))}</p>
      {backHref === undefined ? null : (
        <p>
          <a href={backHref}>Back to all sessions</a>
        </p>
      )}
    </section>
  );
}

/** Shown instead of figures while there are no sessions. */
export const NoSessionsYet = () => (
  <section class="placeholder">
    <h2>No sessions yet</h2>
    <p>
      Run <code>{command("start")}</code> to enable your agents and import past sessions, then work with one of them.
    </p>
  </section>
);

/** Shown instead of figures if the chosen period has none. */
export function NothingInPeriod({
  what,
  view,
  params = {},
}: {
  /** What is missing, e.g. `sessions`. */
  what: string;
  view: Route["view"];
  /** Parameters of the view with all time. @default none */
  params?: Route["params"];
}) {
  return (
    <section class="placeholder">
      <h2>{`No ${what} in this period`}</h2>
      <p>
        <a href={hrefOf(view, { ...params, range: "all" })}>Show all time</a>
      </p>
    </section>
  );
}

// --- internal ---

const TITLES: Readonly<Record<string, string>> = {
  E_STOPPED: "The server has stopped",
  E_SESSION: "No such session",
  E_STORE_DAMAGED: "The store is damaged",
  E_STORE_NEWER: "A newer version wrote the store",
  E_STORE: "The store cannot be read",
  E_INTERNAL: "Internal error",
};

/** Text with this program's commands set as such, so that they are seen and never cut at a hyphen. */
function withCommands(text: string): readonly ComponentChildren[] {
  const escaped = command("").replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const parts = text.split(new RegExp(`(${escaped}[a-z][\\w-]*(?: --[\\w-]+)*)`));
  return parts.map((part, i) => (i % 2 === 1 ? <code key={part}>{part}</code> : part));
}

/** Capitalises the first letter and ends with a full stop. */
const toSentence = (text: string): string => {
  const sentence = capitalised(text);
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
};

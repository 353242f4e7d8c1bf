import type { Context } from "#config/context.ts";
import { isoTime } from "#kit/text/figures.ts";
import { recentSessions } from "#store/queries.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import type { Fields } from "./mcp-answers.ts";
import { type ReadContext, type RefreshOption, refreshed } from "./refreshed.ts";
import { drainForPage } from "./view-drains.ts";

/** What every tool of the MCP server gets. */
export interface Asking {
  /** Its `stdout` is the protocol's: only `documentOf` may use it. */
  readonly context: Context;
  readonly read: ReadContext;
}

/** Runs one of our commands with `--json` and `--no-refresh`. @returns its document; `null` if there is no store yet */
export async function documentOf(context: Context, run: (context: Context) => Promise<number>): Promise<unknown> {
  const printed: string[] = [];
  await run({ ...context, stdout: { write: (text) => printed.push(text) }, stderr: NOWHERE });
  const text = printed.join("");
  return text.trim() === "" ? null : JSON.parse(text);
}

/**
 * Brings the store up to date as far as that is quick: what hooks queued and what open sessions wrote is read here, without sending
 * anything, and what no hook reported is imported as `report` does.
 *
 * @returns what the tools need, and how fresh their answers are
 * @throws UserError if the configuration cannot be used
 */
export async function brought(
  { refresh }: RefreshOption,
  context: Context,
): Promise<Asking & { readonly freshness: Fields }> {
  const said: string[] = [];
  const quiet = { ...context, stdout: NOWHERE, stderr: { write: (text: string) => said.push(text) } };
  const { loaded } = await refreshed({ refresh: false }, quiet);
  const isWanted = refresh === true && loaded.config.display.refresh;
  if (isWanted) await drainForPage(quiet, { deliver: async () => {} });
  const read = isWanted ? await refreshed({ refresh: true }, quiet) : await refreshed({ refresh: false }, quiet);
  const newestMs = withOpenStore(context, (db) => recentSessions(db, 1)[0]?.lastMs);
  const behind = isWanted ? said.join("").trim() : "not refreshed: what agents did since the last drain is missing";
  return {
    context: quiet,
    read,
    freshness: { as_of: isoTime(newestMs), not_shown_yet: behind === "" ? null : behind },
  };
}

// --- internal ---

const NOWHERE: Context["stdout"] = { write: () => {} };

import type { LoadedConfig } from "../config/load.ts";
import type { Context } from "../context.ts";
import type { Agent } from "../model/agent.ts";
import { protectionOf } from "../privacy/protection.ts";
import type { SessionTitle } from "../report/session-title.ts";
import { withOpenStore } from "../sessions/open-store.ts";
import type { StoredSession } from "../store/sessions.ts";
import { promptLines } from "../transcripts/prompt-lines.ts";

/** Commands that show sessions have `--no-titles`. */
export interface TitlesOption {
  readonly titles?: boolean;
}

export const showsTitles = ({ titles }: TitlesOption, { config }: LoadedConfig): boolean =>
  titles === true && config.display.titles;

/** Adds first prompt lines to titles, as far as the agents' files can be read within 200 ms; other sessions stay without one. */
export async function withPrompts<
  T extends { readonly stored: StoredSession; readonly title: SessionTitle | undefined },
>(
  all: readonly T[],
  { agents, loaded }: { readonly agents: readonly Agent[]; readonly loaded: LoadedConfig },
  context: Context,
): Promise<readonly T[]> {
  const lines = await promptReader(
    { agents, loaded },
    context,
  )(all.filter(({ title }) => title !== undefined).map(({ stored }) => stored));
  return all.map((one) => {
    const prompt = lines.get(one.stored.id);
    return prompt === undefined || one.title === undefined ? one : { ...one, title: { ...one.title, prompt } };
  });
}

/**
 * Reads first prompt lines from the agents' files, as far as it can in the given time.
 *
 * @param budgetMs when to stop reading, in milliseconds after the start. @default 200
 */
export function promptReader(
  { agents, loaded }: { readonly agents: readonly Agent[]; readonly loaded: LoadedConfig },
  context: Context,
  budgetMs = BUDGET_MS,
): (sessions: readonly StoredSession[]) => ReturnType<typeof promptLines> {
  const { places } = context;
  return async (sessions) => {
    const { redactSecrets: redact } = await protectionOf(loaded.config.redaction, places.home);
    return promptLines(
      { places, loaded, agents, redact, withStore: (ask) => withOpenStore(context, ask), budgetMs },
      sessions,
    );
  };
}

// --- internal ---

const BUDGET_MS = 200;

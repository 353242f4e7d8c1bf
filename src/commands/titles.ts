import { type HasTime, type PromptDeps, promptLines } from "#collect/transcripts/first-prompt.ts";
import { movedRootsOf } from "#collect/transcripts/transcript-roots.ts";
import type { Context } from "#config/context.ts";
import type { LoadedConfig } from "#config/load.ts";
import { protectionOf } from "#core/privacy/protection.ts";
import { monotonicMs } from "#kit/time.ts";
import type { SessionTitle } from "#show/report/titles.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import type { StoredSession } from "#store/sessions.ts";

/** Commands that show sessions have `--no-titles`. */
export interface TitlesOption {
  readonly titles?: boolean;
}

export const showsTitles = ({ titles }: TitlesOption, { config }: LoadedConfig): boolean =>
  titles === true && config.display.titles && showsContent(config);

/** Whether prompts and calls may be read from the agents' files, for a person to see. */
export const showsContent = ({ display, capture }: LoadedConfig["config"]): boolean =>
  display.content === "on" && capture !== "none";

/**
 * Adds first prompt lines to titles, as far as the agents' files can be read with 200 ms of processor time and within a second; other
 * sessions stay without one.
 */
export async function withPrompts<
  T extends { readonly stored: StoredSession; readonly title: SessionTitle | undefined },
>(
  all: readonly T[],
  deps: Pick<PromptDeps, "agents" | "loaded" | "movedRoots">,
  context: Context,
): Promise<readonly T[]> {
  const lines = await promptReader(
    deps,
    context,
    listClock,
  )(all.filter(({ title }) => title !== undefined).map(({ stored }) => stored));
  return all.map((one) => {
    const prompt = lines.get(one.stored.id);
    return prompt === undefined || one.title === undefined ? one : { ...one, title: { ...one.title, prompt } };
  });
}

/**
 * Reads first prompt lines from the agents' files, as far as it can in the given time, but at least one.
 *
 * @param deps.movedRoots by default the store is opened for them
 * @param startClock of each call; see `PromptDeps`
 */
export function promptReader(
  { movedRoots, ...deps }: Pick<PromptDeps, "agents" | "loaded"> & Partial<Pick<PromptDeps, "movedRoots">>,
  context: Context,
  startClock: PromptDeps["startClock"],
): (sessions: readonly StoredSession[]) => ReturnType<typeof promptLines> {
  const { places } = context;
  return async (sessions) => {
    const { redactSecrets: redact } = await protectionOf(deps.loaded.config.redaction, places.home);
    const fromStore: PromptDeps["movedRoots"] = (sources) =>
      withOpenStore(context, (db) => movedRootsOf(db, sources)) ?? new Map();
    return promptLines({ ...deps, places, redact, movedRoots: movedRoots ?? fromStore, startClock }, sessions);
  };
}

/** For the page, which shows its rows at once and asks for the titles that are missing again. */
export function pageClock(): HasTime {
  const startMs = monotonicMs();
  return () => monotonicMs() - startMs < MAX_PAGE_MS;
}

// --- internal ---

const MAX_PAGE_MS = 40;

/** Not only the time on the clock: on a busy machine it passes while other programs run, and titles would be missing. */
function listClock(): HasTime {
  const [startMs, before] = [monotonicMs(), process.cpuUsage()];
  return () => {
    if (monotonicMs() - startMs >= MAX_LIST_MS) return false;
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e3 < MAX_LIST_CPU_MS;
  };
}

const MAX_LIST_CPU_MS = 200;
const MAX_LIST_MS = 1000;

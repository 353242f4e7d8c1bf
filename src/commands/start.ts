import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import {
  NO_AGENT_FOUND,
  NOTHING_TO_COLLECT,
  type PresentAgent,
  sessionsOnlyText,
} from "#setup/registration/present-agents.ts";
import type { AgentLookup } from "#setup/registration/settings.ts";
import { chooseAgents } from "./choose-agents.ts";
import { type EnableOptions, enable } from "./enable.ts";
import { offerImport } from "./offer-import.ts";
import { isInteractive } from "./prompts.ts";

interface StartOptions {
  /** Do not ask. */
  readonly yes: boolean;
  /** Open the page at the end, in a terminal only. */
  readonly open: boolean;
  /** The shipped hook program, absolute. */
  readonly hookSource: string;
  /** Contains `dist`. */
  readonly packageRoot: string;
  /** Aborted by Ctrl-C. */
  readonly stop: AbortSignal;
}

/**
 * `openhook-otel start`: enables the agents found on this machine, imports past sessions, and opens the page. Each step
 * leaves what is done already as it is. Without a terminal it asks no question and opens no page.
 *
 * @param names agents by source; none: the user chooses among those found on this machine
 * @returns exit code: 0, also when there is nothing to collect yet; 1 the user cancelled, or a step failed in part; 130 interrupted
 * @throws UserError for anything the user can fix
 */
export async function start(
  names: readonly string[],
  options: StartOptions,
  context: Context,
  agents: AgentLookup,
): Promise<number> {
  const enabled = await enableFound(names, options, context, agents);
  if (enabled === "cancelled") return 1;
  const how = options.yes ? "yes" : "ask";
  const { answer, code } = await offerImport(how, options.stop, context, { brief: true });
  if (answer === "cancelled" || options.stop.aborted) return Math.max(1, code);
  const { storedAgents } = await import("./answer.ts");
  const sources = storedAgents(context);
  if (sources !== undefined) context.stdout.write(await sessionsOnlyText(sources, context, agents));
  const shown = await showSessions(answer !== "no", options, context);
  return Math.max(enabled, code, shown);
}

/** `openhook-otel enable`, with the offer to import past sessions at the end, on a terminal only. */
export async function enableAndOffer(
  names: readonly string[],
  options: EnableOptions,
  interruption: () => AbortSignal,
  context: Context,
  agents: AgentLookup,
): Promise<number> {
  const enabled = await enable(names, options, context, agents);
  if (enabled !== 0 || options.dryRun || !isInteractive(context)) return enabled;
  // Scripts name agents or pass --yes, also on a terminal: there may be no one to answer
  const { code } = await offerImport(names.length > 0 || options.yes ? "mention" : "ask", interruption(), context);
  return code;
}

// --- internal ---

async function enableFound(
  names: readonly string[],
  { yes, hookSource }: StartOptions,
  context: Context,
  agents: AgentLookup,
): Promise<number | "cancelled"> {
  let chosen: readonly PresentAgent[] | undefined = [];
  let hasChosen = false;
  const choose: typeof chooseAgents = async (...found) => {
    chosen = await chooseAgents(...found);
    hasChosen = true;
    return chosen;
  };
  try {
    const code = await enable(names, { yes, dryRun: false, hookSource, choose }, context, agents);
    if (!hasChosen || (chosen?.length ?? 0) > 0) return code;
    return chosen === undefined ? "cancelled" : 0;
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== NO_AGENT_FOUND) throw error;
    context.stdout.write(`${NOTHING_TO_COLLECT}.\n`);
    return 0;
  }
}

/** Prints what is most worth knowing, and opens the page if someone can see it. */
async function showSessions(refresh: boolean, options: StartOptions, context: Context): Promise<number> {
  const { printAnswer } = await import("./answer.ts");
  if (!(await printAnswer(context))) {
    context.stdout.write(
      `No session to see yet. Use your agent, then run ${suggest("view")}; ${suggest("demo")} shows an example.\n`,
    );
    return 0;
  }
  if (!options.open || !isInteractive(context)) return 0;
  const { view } = await import("./view.ts");
  return view({ ...options, refresh, port: 0, printUrl: false }, context);
}

import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { printLines } from "#kit/text/ascii.ts";
import { terminalOf } from "#kit/text/terminal.ts";
import { type ComparedBy, type CompareQuery, compare as compared } from "#show/report/compare/compare.ts";
import { comparisonJson } from "#show/report/compare/json.ts";
import { comparisonLines, notComparedText } from "#show/report/compare/text.ts";
import { type QuestionOptions, timesOf } from "#show/report/question.ts";
import { namedAgent, unknownNameText } from "#show/report/text/unknown-name.ts";
import { sessionCounts } from "#store/queries.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { noStoreMessage } from "./no-store-message.ts";
import { type RefreshOption, refreshed } from "./refreshed.ts";

type CompareOptions = Pick<QuestionOptions, "since" | "until" | "agent" | "repository" | "json"> & RefreshOption;

/**
 * `openhook-otel compare`: whether one model, agent, version or repository is better or worse than another, by sessions.
 *
 * @param words A and B; of versions also the agent before them, or neither: the newest and the one before
 * @returns exit code: 0, also when no difference can be shown
 * @throws UserError for wrong input, for a name without sessions, and when the store cannot be read
 */
export async function compare(
  by: ComparedBy,
  words: readonly string[],
  options: CompareOptions,
  context: Context,
): Promise<number> {
  const { agent, names } = namesOf(by, words, options);
  const times = timesOf(undefined, options, context.now());
  const { behind, agents } = await refreshed(options, context);
  const found = withOpenStore(context, (db) => {
    if (sessionCounts(db).sessions === 0) return undefined;
    const [a, b] = names?.map((name) => (by === "agent" ? (namedAgent(name, agents, db).agent ?? name) : name)) ?? [];
    const query: CompareQuery = {
      by,
      ...times,
      ...namedAgent(agent, agents, db),
      ...(options.repository !== undefined && { repository: options.repository }),
      ...(a !== undefined && b !== undefined && { names: [a, b] }),
    };
    const result = compared(db, agents, query);
    const missing = "missing" in result ? result.missing : undefined;
    return { result, unknown: by === "version" ? undefined : unknownNameText(db, agents, { [by]: missing }) };
  });
  if (found === undefined) {
    context.stdout.write(options.json ? "null\n" : `${await noStoreMessage(context, behind)}\n`);
    return 0;
  }
  const { result, unknown } = found;
  if (!("measures" in result)) throw new UserError("E_USAGE", notComparedText(result, unknown), 1);
  if (options.json) context.stdout.write(`${JSON.stringify(comparisonJson(result))}\n`);
  else printLines(context, comparisonLines(result, terminalOf(context)));
  return 0;
}

// --- internal ---

function namesOf(
  by: ComparedBy,
  words: readonly string[],
  options: CompareOptions,
): { readonly agent: string | undefined; readonly names?: readonly string[] } {
  if ((by === "agent" || by === "repository") && options[by] !== undefined)
    throw new UserError("E_USAGE", `--${by} cannot be combined with a comparison of two of them`);
  const [first, ...rest] = words;
  if (by === "version") {
    if (words.length === 3 && options.agent === undefined) return { agent: first, names: rest };
    if (words.length === 1 && options.agent === undefined) return { agent: first };
    if (words.length === 0) return { agent: options.agent };
  }
  if (words.length === 2) return { agent: options.agent, names: words };
  const example = by === "version" ? "version AGENT A B" : `${by} A B`;
  throw new UserError("E_USAGE", `give two names to compare, e.g. ${suggest(`compare ${example}`)}`);
}

import type { Context } from "#config/context.ts";
import type { Agent } from "#core/model/agent.ts";
import { diffOfFile } from "#kit/text/diff.ts";
import type { EntriesOff } from "#setup/registration/own-entries.ts";
import {
  type AgentLookup,
  complainTo,
  forEachAgent,
  namedAgents,
  withUserErrors,
} from "#setup/registration/settings.ts";

/** One kind of entries beside the hooks, as `disable` removes it. */
interface Removal {
  /** Agents that have such entries, by source. */
  readonly sources: (context: Context) => Promise<readonly string[]>;
  /** What is printed if there are none. */
  readonly none: string;
  readonly plan: (agent: Agent, context: Context) => Promise<readonly EntriesOff[]>;
  readonly write: (agent: Agent, changes: readonly EntriesOff[], context: Context) => Promise<readonly string[]>;
  /** What was done, in lines. */
  readonly text: (agent: Agent, wasOn: boolean, paths: readonly string[]) => string | Promise<string>;
}

/**
 * Removes entries of one kind from agents' settings; hooks stay.
 *
 * @param names agents by source; none: all that have such entries
 * @returns exit code: 0 done or nothing to do; 1 one of several agents that were not named failed
 */
export const removeBeside = (
  { sources: sourcesOf, none, plan, write, text }: Removal,
  names: readonly string[],
  { dryRun, full }: { readonly dryRun: boolean; readonly full?: boolean },
  context: Context,
  agents: AgentLookup,
): Promise<number> =>
  withUserErrors(async () => {
    const isNamed = names.length > 0;
    const sources = await sourcesOf(context);
    const all = isNamed
      ? (await namedAgents(names, "user", agents)).map(({ agent }) => agent)
      : (await agents.list()).filter(({ source }) => sources.includes(source));
    if (all.length === 0) context.stdout.write(none);
    const done = await forEachAgent(all, isNamed ? undefined : complainTo(context), async (agent) => {
      const changes = await plan(agent, context);
      if (dryRun) {
        for (const { file, after } of changes)
          context.stdout.write(diffOfFile(file, { path: file.path, text: after?.toString() }, full === true));
        return;
      }
      const paths = await write(agent, changes, context);
      context.stdout.write(await text(agent, sources.includes(agent.source), paths));
    });
    if (dryRun) context.stdout.write("Dry run: nothing was written.\n");
    return done.length === all.length ? 0 : 1;
  });

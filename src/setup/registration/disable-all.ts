import type { Context } from "#config/context.ts";
import type { Agent } from "#core/model/agent.ts";
import { type DisablePlan, disabledText, planDisable, writeDisable } from "./disable.ts";
import { planMcpOff, writeMcpOff } from "./mcp-server.ts";
import { planNativeOff, writeNativeOff } from "./native.ts";
import type { Scope } from "./settings.ts";

/**
 * Undoes `enable` in one scope, and in the user's settings `enable --native` and `--mcp` too. All can have changed the same file: the
 * latest change is undone first, so that each finds the file as it left it, and restores it byte for byte.
 *
 * @param plan of the hooks; `undefined`: there are none to remove
 * @returns what was done, in lines
 */
export async function disableOne(
  agent: Agent,
  plan: DisablePlan | undefined,
  scope: Scope,
  context: Context,
  everywhere = false,
): Promise<string> {
  const left = new Set(scope === "user" ? BESIDE : []);
  const lines: string[] = [];
  const undo = async (one: Beside): Promise<void> => {
    const paths = await one.write(agent, await one.plan(agent, context), context);
    lines.push(...paths.map((path) => `  ${one.what} no longer ${one.does[0]}, restored ${path}\n`));
    left.delete(one);
  };
  /** @returns whether anything was undone */
  const undoLatest = async (): Promise<boolean> => {
    for (const one of left) {
      if (!(await one.plan(agent, context)).some(({ isUntouched }) => isUntouched)) continue;
      await undo(one);
      await undoLatest();
      return true;
    }
    return false;
  };
  const wereLast = await undoLatest();
  if (plan !== undefined)
    await writeDisable(wereLast ? await planDisable(plan, scope, context, everywhere) : plan, context);
  await undoLatest();
  for (const one of left) await undo(one);
  return `${plan === undefined ? "" : disabledText(plan)}${lines.join("")}`;
}

/** What `disable` would restore beside the hooks, one line each. */
export async function besideText(agent: Agent, context: Context): Promise<string> {
  const lines = await Promise.all(
    BESIDE.map(async ({ what, does, plan }) =>
      (await plan(agent, context)).map(
        ({ file }) => `${agent.title}: ${what} would no longer ${does[1]} (${file.path})\n`,
      ),
    ),
  );
  return lines.flat().join("");
}

// --- internal ---

interface Beside {
  readonly what: string;
  /** After “no longer”, and after “would no longer”. */
  readonly does: readonly [now: string, then: string];
  readonly plan: typeof planNativeOff;
  readonly write: typeof writeNativeOff;
}

const BESIDE: readonly Beside[] = [
  { what: "its own telemetry", does: ["comes here", "come here"], plan: planNativeOff, write: writeNativeOff },
  { what: "the MCP server", does: ["is registered", "be registered"], plan: planMcpOff, write: writeMcpOff },
];

import type { Agent } from "../model/agent.ts";
import type { CommandVariables, LaunchingAgent, LaunchingCall } from "../model/launch.ts";
import type { ToolCall } from "../model/session.ts";

/**
 * The agents that a session's hook found in its environment. Variables are inherited, so these are all agents above it, as far as they
 * pass something on; an agent overwrites what another one of its kind passed on.
 *
 * @param own the session of the hook
 */
export function launchingAgents(
  agents: readonly Agent[],
  env: Readonly<Record<string, string>>,
  own: { readonly source: string; readonly sessionId: string },
): readonly LaunchingAgent[] {
  return agents.flatMap(({ source, inCommands = {} }): readonly LaunchingAgent[] => {
    const { session = [], call, mark, inOwnHooks } = inCommands;
    if (source === own.source && inOwnHooks === true) return [];
    const sessionId = session.map((name) => variableIn(env, name)).find((id) => id !== undefined);
    if (sessionId === undefined) return variableIn(env, mark) === undefined ? [] : [{ source, sessionId: "" }];
    if (source === own.source && sessionId === own.sessionId) return [];
    const callId = variableIn(env, call);
    return [{ source, sessionId, ...(callId !== undefined && { callId }) }];
  });
}

/**
 * The innermost of the agents that a session found: the one that found all others itself.
 *
 * @param foundBy what the sessions of these agents found; `undefined` if no hook of the session is known
 * @returns `undefined` if it is not certain: two agents may be the one, or one that passes no session on is between
 */
export function innermost(
  found: readonly LaunchingAgent[],
  foundBy: (agent: LaunchingAgent) => readonly LaunchingAgent[] | undefined,
): LaunchingAgent | undefined {
  const certain = found.filter((agent) => {
    const others = found.filter((other) => other !== agent);
    if (agent.sessionId === "") return false;
    const above = others.length === 0 ? [] : (foundBy(agent) ?? []);
    return others.every((other) => above.some((one) => isSame(one, other)));
  });
  return certain.length === 1 ? certain[0] : undefined;
}

/**
 * Whether a session that is above by its processes agrees with what the environment contained: everything in there is this session, or
 * is above it too.
 *
 * @param isNear whether an agent is this session
 * @param foundByNear what the hooks of this session found
 */
export const agrees = (
  found: readonly LaunchingAgent[],
  isNear: (agent: LaunchingAgent) => boolean,
  foundByNear: readonly LaunchingAgent[],
): boolean => found.every((agent) => isNear(agent) || foundByNear.some((one) => isSame(one, agent)));

/**
 * The tool call in which a session began.
 *
 * @param launcher what is known of the session that started it: its calls, without those that only wait for a subagent; when its turns
 *        began; its tools that run commands
 * @param startMs when the session that was started ran its first hook
 * @param named the id that the environment had
 * @param sinceMs when the command began, if its process is known: its call ran from then on, and no other one
 * @returns `undefined` if none or more than one can be it
 */
export function launchingCall(
  launcher: {
    readonly calls: readonly ToolCall[];
    readonly turnStarts: readonly number[];
    readonly shells: CommandVariables["shells"];
  },
  startMs: number,
  named: string | undefined,
  sinceMs?: number,
): LaunchingCall | undefined {
  const { calls, turnStarts, shells } = launcher;
  if (named !== undefined && calls.some(({ callId }) => callId === named)) return { callId: named, how: "named" };
  const fromMs = sinceMs === undefined ? startMs : sinceMs - CLOCKS_MS;
  const [only, ...others] = calls.filter(
    (call) => ranWithin(call, fromMs, startMs, turnStarts) && mayStartPrograms(call, shells),
  );
  if (only === undefined || others.length > 0) return undefined;
  const isWhole =
    sinceMs === undefined || (only.startMs <= sinceMs + LATE_MS && ranWithin(only, startMs, startMs, turnStarts));
  return isWhole ? { callId: only.callId, how: "only_open" } : undefined;
}

// --- internal ---

const variableIn = (env: Readonly<Record<string, string>>, name: string | undefined): string | undefined =>
  name === undefined || !/^[\w.:-]{1,200}$/.test(env[name] ?? "") ? undefined : env[name];

const isSame = (a: LaunchingAgent, b: LaunchingAgent): boolean => a.source === b.source && a.sessionId === b.sessionId;

/** A process's start is known to a hundredth of a second, by another clock than that of the calls. */
const CLOCKS_MS = 50;

/** Codex's session file counts a call from some time after the start of its process. */
const LATE_MS = 1_000;

/** A call without an end ran until the next turn at most. */
const ranWithin = (
  { startMs, endMs, status }: ToolCall,
  fromMs: number,
  toMs: number,
  turnStarts: readonly number[],
): boolean =>
  startMs <= toMs &&
  (status === "open" || status === "unfinished"
    ? !turnStarts.some((turnMs) => startMs < turnMs && turnMs <= fromMs)
    : endMs >= fromMs);

/** Servers of tools run beside the agent, in its environment. */
const mayStartPrograms = ({ name, mcpServer }: ToolCall, shells: CommandVariables["shells"]): boolean =>
  shells === undefined || shells.includes(name) || mcpServer !== undefined || name.startsWith("mcp__");

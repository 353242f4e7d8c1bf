import { setTimeout as sleep } from "node:timers/promises";
import { findAgent } from "#agents/registry.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import type { Machine } from "./machine.ts";
import type { Served } from "./model-server.ts";

/** In this scenario agents that export OpenTelemetry do so, to us: what is counted must be the same as without it. */
export const NATIVE_SCENARIO = "parallel";

/** Switches the agent's own telemetry on, as a user does who follows what is printed. @returns whether it has any */
export async function enableNative(machine: Machine, source: string): Promise<boolean> {
  if ((await findAgent(source))?.native === undefined) return false;
  const printed = await machine.openhook("enable", source, "--native");
  const [, name, value] = /^ {2}([A-Z_]+)=(\S+)$/m.exec(printed) ?? [];
  if (name !== undefined && value !== undefined) machine.variables = { ...machine.variables, [name]: value };
  return true;
}

/** These agents can end before they have sent their last records; then nobody has them. */
export const endsBeforeSending = (source: string): boolean => ["opencode", "codex"].includes(source);

/** Waits until the agent has sent its records of all tool calls that the model server has asked for so far. */
export async function toolsJoined(machine: Machine, served: readonly Served[]): Promise<void> {
  const asked = served.flatMap(({ tools }) => tools).length;
  for (const endMs = Date.now() + PATIENCE_MS; Date.now() < endMs; await sleep(500)) {
    const { shown } = await joined(machine);
    if (shown.tool_calls.filter(isJoined).length === asked) return;
  }
}

/** Agents whose session files have an id of each model call that is in their telemetry too. */
const WITH_MODEL_CALLS = ["claude-code", "copilot", "qwen-code", "goose"];

/** What of the last session the agent's own telemetry says something about, once the agent has sent all of it. */
export async function joinedShares(machine: Machine, source: string) {
  for (const endMs = Date.now() + PATIENCE_MS; ; await sleep(500)) {
    const { shown, unjoined } = await joined(machine);
    const found = {
      tools: shareOf(shown.tool_calls),
      modelCalls: WITH_MODEL_CALLS.includes(source) ? shareOf(shown.model_calls) : 1,
      unjoined,
    };
    if ((found.tools === 1 && found.modelCalls === 1) || Date.now() > endMs) return found;
  }
}

export const ALL_JOINED = { tools: 1, modelCalls: 1, unjoined: 0 };

// --- internal ---

interface Shown {
  readonly tool_calls: readonly { readonly native: unknown }[];
  readonly model_calls: readonly { readonly native: unknown }[];
}

interface Status {
  readonly native_records: { readonly unjoined: number };
}

type Call = Shown["tool_calls"][number];

/** What is known of the last session after a drain. */
async function joined(machine: Machine): Promise<{ readonly shown: Shown; readonly unjoined: number }> {
  await machine.openhook("drain");
  const shown = JSON.parse(await machine.openhook("show", "latest", "--json")) as Shown;
  const { native_records } = JSON.parse(await machine.openhook("status", "--json")) as Status;
  return { shown, unjoined: native_records.unjoined };
}

const isJoined = ({ native }: Call): boolean => native !== null;

const shareOf = (calls: readonly Call[]): number => calls.filter(isJoined).length / calls.length;

// Payload of our own wrapper (src/collect/intake/wrapper.sh) and of hand-written ones: {cli, args, cwd?, phase, exit_code?}

import type { Recognition } from "#core/model/agent.ts";
import type { Event, Extras } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { defined } from "#kit/defined.ts";
import { subcommandOf } from "../shared/names/subcommand.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { eventId } from "../shared/payload/identity.ts";
import { asExitCode, asObject, asString } from "../shared/payload/json.ts";
import { eventOf, type PayloadSession } from "../shared/payload/payload-event.ts";

export const SOURCE = "cli-wrapper";

/** No other payload has these three members. */
export function recognises(payload: unknown): Recognition {
  const p = asObject(payload);
  if (p === undefined || asString(p["cli"]) === undefined || !Array.isArray(p["args"])) return "no";
  return p["phase"] === "pre" || p["phase"] === "post" ? "certain" : "no";
}

/** One payload → the start or end of one tool call, in the session of the agent that runs it, if any. */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  if (p === undefined || recognises(payload) !== "certain") return [];
  const args: readonly unknown[] = Array.isArray(p["args"]) ? p["args"] : [];
  const isEnd = p["phase"] === "post";
  const cwd = asString(p["cwd"]) ?? intake.cwd;
  const name = programOf(p["cli"]);
  const owner = ownerOf(p, intake, cwd);
  const callId = callIdOf(p, intake);
  const exitCode = exitCodeOf(p["exit_code"]);
  // The wrapper's parent is a shell and does not identify the agent's process
  const { parentPid: _, ...facts } = intake;
  return [
    eventOf(
      {
        source: owner.source,
        session: owner.session,
        type: isEnd ? "tool.end" : "tool.start",
        native: `${SOURCE} ${isEnd ? "post" : "pre"}`,
        cwd,
        key: callId ?? `${intake.timeMs}:${intake.hookPid ?? ""}`,
        tool: {
          name,
          callId,
          status: !isEnd || exitCode === undefined ? undefined : exitCode === 0 ? "success" : "error",
        },
        extras: defined<Extras>({
          subcommand: subcommandOf(name, args).join(" ") || undefined,
          exit_code: isEnd ? exitCode : undefined,
          input_digest: callId === undefined ? inputDigest([name, args, cwd]) : undefined,
        }),
      },
      facts,
    ),
  ];
}

// --- internal ---

/**
 * Variables with which agents pass their session id to commands. Listed are only variables with the same id as in the agent's
 * hooks and transcripts.
 */
const SESSION_VARIABLES: Readonly<Record<string, string>> = {
  CLAUDE_CODE_SESSION_ID: "claude-code",
  CODEX_THREAD_ID: "codex",
  CRUSH_SESSION_ID: "crush",
  GEMINI_SESSION_ID: "gemini-cli",
  KIRO_SESSION_ID: "kiro",
};

interface Owner {
  readonly source: string;
  readonly session: PayloadSession;
}

function ownerOf(p: Readonly<Record<string, unknown>>, intake: IntakeFacts, cwd: string | undefined): Owner {
  const agents = Object.entries(SESSION_VARIABLES).flatMap(([variable, source]): readonly Owner[] => {
    const id = asString(intake.env[variable]);
    return id === undefined ? [] : [{ source, session: { id, origin: "environment" } }];
  });
  const [agent] = agents;
  // With several variables, agents are nested, and it is unknown which one is the inner agent
  if (agent !== undefined && agents.length === 1) return agent;
  const inherited = asString(intake.env["OPENHOOK_SESSION_ID"]);
  if (inherited !== undefined) return { source: SOURCE, session: { id: inherited, origin: "environment" } };
  const shell = asString(p["shell"]);
  // Hand-written wrappers do not send their shell, and the hook's parent is the wrapper: use the folder
  const id = shell === undefined ? eventId("session", SOURCE, cwd ?? "") : eventId("session", SOURCE, "shell", shell);
  return { source: SOURCE, session: { id, origin: "minted" } };
}

/** The id of a run: the one that the wrapper sends, otherwise its process, which started both hooks. */
function callIdOf(p: Readonly<Record<string, unknown>>, intake: IntakeFacts): string | undefined {
  const own = asString(p["call"]);
  if (own !== undefined) return eventId("call", SOURCE, own);
  if (intake.parentPid === undefined) return undefined;
  const digest = inputDigest([p["cli"], p["args"]]) ?? "";
  return eventId("call", SOURCE, String(intake.parentPid), intake.parentStart ?? "", digest);
}

/** A program's name without path; `unknown` for anything that is not a program's name, to limit the number of distinct values. */
function programOf(cli: unknown): string {
  const name = asString(cli)?.replace(/^.*[/\\]/, "") ?? "";
  return /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/.test(name) ? name : "unknown";
}

function exitCodeOf(value: unknown): number | undefined {
  const code = asExitCode(value);
  return code !== undefined && Math.abs(code) <= 0xffff_ffff ? code : undefined;
}

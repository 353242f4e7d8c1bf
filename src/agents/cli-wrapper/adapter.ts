// Payload of our own wrapper (src/collect/intake/wrapper.sh) and of hand-written ones: {cli, args, cwd?, phase, exit_code?}

import type { Recognition } from "#core/model/agent.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { subcommandOf } from "../shared/names/subcommand.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { type Frame, type FramedTable, framedAdapter } from "../shared/payload/framed-adapter.ts";
import { arrivalKey, eventId } from "../shared/payload/identity.ts";
import { asArray, asExitCode, asObject, asString } from "../shared/payload/json.ts";
import { eventIn } from "../shared/payload/known.ts";
import type { PayloadSession, PayloadTool } from "../shared/payload/payload-event.ts";

const SOURCE = "cli-wrapper";

const EVENTS = {
  pre: { type: "tool.start", read: ({ tool }) => ({ native: `${SOURCE} pre`, tool }) },
  post: {
    type: "tool.end",
    read({ p, tool }) {
      const exitCode = exitCodeOf(p["exit_code"]);
      const status = exitCode === undefined ? undefined : exitCode === 0 ? "success" : "error";
      return { native: `${SOURCE} post`, tool: { ...tool, status }, extras: { exit_code: exitCode } };
    },
  },
} as const satisfies FramedTable<Payload>;

/** The start and the end of one tool call, in the session of the agent that runs the program, if any. */
export const adapter = framedAdapter({
  source: SOURCE,
  recognises,
  events: EVENTS,
  fields: "cli args cwd phase exit_code call shell",
  nameOf: eventIn("phase"),
  // The wrapper's parent is a shell and does not identify the agent's process
  namesProcess: false,
  frameOf,
});

// --- internal ---

interface Payload extends Frame {
  readonly p: Readonly<Record<string, unknown>>;
  readonly tool: PayloadTool;
}

/** No other payload has these three members. */
function recognises(payload: unknown): Recognition {
  const p = asObject(payload);
  if (p === undefined || asString(p["cli"]) === undefined || !Array.isArray(p["args"])) return "no";
  return p["phase"] === "pre" || p["phase"] === "post" ? "certain" : "no";
}

function frameOf(payload: unknown, intake: IntakeFacts): Payload | undefined {
  const p = asObject(payload);
  const native = asString(p?.["phase"]);
  if (p === undefined || native === undefined || recognises(payload) !== "certain") return undefined;
  const args = asArray(p["args"]);
  const cwd = asString(p["cwd"]) ?? intake.cwd;
  const name = programOf(p["cli"]);
  const callId = callIdOf(p, intake);
  return {
    p,
    tool: { name, callId },
    native,
    ...ownerOf(p, intake, cwd),
    cwd,
    key: callId ?? arrivalKey(intake),
    extras: {
      subcommand: subcommandOf(name, args).join(" ") || undefined,
      input_digest: callId === undefined ? inputDigest([name, args, cwd]) : undefined,
    },
  };
}

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

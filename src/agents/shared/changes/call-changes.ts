import type { EntryOf } from "#core/model/transcript.ts";
import { changeKey, commitKey } from "#core/rules/change-facts.ts";
import { commandLineOf, printedTextOf } from "./call-texts.ts";
import { changesOfShell, changesOfTool, mayChange, mayCreateChange, type ShellChanges } from "./printed.ts";

/** A tool call that can have made commits or changes, or shown them. */
export interface RelevantCall {
  readonly tool: string | undefined;
  /** Absent for a tool that runs no command line. */
  readonly command?: string;
}

/** A call by its tool and arguments. @returns `undefined` for all calls whose result need not be examined */
export function relevantCall(tool: string | undefined, given: unknown): RelevantCall | undefined {
  if (tool !== undefined && mayCreateChange(tool)) return { tool };
  if (given === undefined || (typeof given === "string" && !mayContainChange(given))) return undefined;
  const command = commandLineOf(given);
  if (command === undefined || command.length > MAX_COMMAND_CHARACTERS || !mayChange(command)) return undefined;
  return { tool, command };
}

/**
 * Commits and changes of a call that ended without an error.
 *
 * @param cwd the folder in which it ran, if it is known
 */
export function changesOfCall({ tool, command }: RelevantCall, result: unknown, cwd: string | undefined): ShellChanges {
  const printed = printedTextOf(result);
  return command === undefined ? changesOfTool(tool ?? "", printed) : changesOfShell(command, printed, cwd);
}

/** Where and when a call ended. */
interface CallEnd {
  readonly timeMs: number;
  readonly agentId?: string | undefined;
  readonly callId?: string | undefined;
}

/** Entries of what a call led to. */
export function changeEntries(
  { commits, changes }: ShellChanges,
  { timeMs, agentId, callId }: CallEnd,
): readonly (EntryOf<"commit"> | EntryOf<"change">)[] {
  const common = { ...(agentId !== undefined && { agentId }), ...(callId !== undefined && { callId }) };
  return [
    ...commits.map((one, at) => ({
      kind: "commit" as const,
      key: commitKey(one.commit),
      // In the order in which the call made them
      timeMs: timeMs + at / 1_000,
      ...common,
      ...one,
    })),
    ...changes.map((one) => ({ kind: "change" as const, key: changeKey(one), timeMs, ...common, ...one })),
  ];
}

/** Longer command lines are not examined. */
export const MAX_COMMAND_CHARACTERS = 1 << 16;

// --- internal ---

/** Cheap check of arguments, so that most of those that are JSON texts are not parsed. */
const mayContainChange = (text: string): boolean =>
  PROGRAMS.test(text) && (GIT_ACTIONS.some((action) => text.includes(action)) || OTHER_PROGRAMS.test(text));

/** Without word boundaries: in JSON, a line feed before the program is written `\n`, which ends with a letter. */
const PROGRAMS = /git|gh|glab|curl/i;
const OTHER_PROGRAMS = /gh|glab|curl/i;
const GIT_ACTIONS = ["commit", "cherry-pick", "revert", "merge", "push"];

import { asArray, asObject, asString } from "../shared/payload/json.ts";
import { type Line, type LineContext, type LineState, lineFactBase, lineId } from "./line-context.ts";
import { sessionFacts } from "./session-facts.ts";
import { isMachinePrompt, TYPED_COMMAND, textOf, typedText } from "./texts.ts";
import { toolResults } from "./tool-results.ts";
import { writtenBefore } from "./version.ts";

/** A line with the role `user`: a prompt, results of tools, an interruption, or a text that the agent wrote. */
export function userLine(context: LineContext): void {
  const { o, state, timeMs, sink } = context;
  const content = asObject(o["message"])?.["content"];
  const results = asArray(content).filter((block) => asObject(block)?.["type"] === "tool_result");
  sessionFacts(context);
  if (results.length > 0) {
    toolResults(context, results);
    return;
  }

  const text = textOf(content);
  if (o["interruptedMessageId"] !== undefined || text?.startsWith("[Request interrupted by user") === true) {
    if (context.originalId === undefined)
      sink.other({ kind: "interruption", ...lineFactBase(context, "interruption") });
    return;
  }
  state.inputMs = timeMs;
  if (context.agentId !== undefined || isCompanion(o, text, state)) return;
  state.promptKey = promptIdOf(o, text) ?? lineId(context);
  // A fork gives its own prompt id to the lines it copies; the line's id does not change
  sink.prompt(lineFactBase(context, "prompt"), {
    // A copied prompt opens a turn only if the original session does not have its answers
    origin: context.originalId === undefined ? originOf(o, text) : "command",
    length: isShellLine(text) ? undefined : typedText(text)?.length,
  });
}

// --- internal ---

/** At the latest: 2.1.80 and 2.1.100 give a command the id of the prompt before it. Hooks have no ids there. */
const COMMANDS_HAVE_IDS_SINCE = "2.1.120";

const promptIdOf = (o: Line, text: string | undefined): string | undefined =>
  text?.startsWith("<command-") === true && writtenBefore(o, COMMANDS_HAVE_IDS_SINCE)
    ? undefined
    : asString(o["promptId"]);

/** Whether the agent wrote the line, which has the role `user`. */
function isCompanion(o: Line, text: string | undefined, { promptKey, launched }: LineState): boolean {
  return (
    (o["isMeta"] === true && !isFromAnotherSender(o, promptKey)) ||
    o["isCompactSummary"] === true ||
    o["isVisibleInTranscriptOnly"] === true ||
    o["repeatsCompactSummary"] === true ||
    /^<(?:local-command-|user-memory-input>)/.test(text ?? "") ||
    (isShellLine(text) && o["turnOrigin"] === undefined) ||
    // Before 2.0.77 a command that the model called was written as if the user had typed it
    (TYPED_COMMAND.test(text ?? "") && (o["sourceToolUseID"] !== undefined || isChildOf(o, launched)))
  );
}

const isChildOf = (o: Line, uuid: string | undefined): boolean => uuid !== undefined && o["parentUuid"] === uuid;

/** A prompt from another session, an agent or a schedule, with its own prompt id: it starts a turn, and hooks report it. */
function isFromAnotherSender(o: Line, promptKey: string | undefined): boolean {
  const kind = asString(asObject(o["origin"])?.["kind"]);
  const id = asString(o["promptId"]);
  return kind !== undefined && kind !== "human" && id !== undefined && id !== promptKey;
}

/**
 * A command that the user ran (`!git status`) and, in a separate line, its output. Since 2.1.329 at the latest the output is
 * sent to the model, without a hook for a prompt; the line that sends it identifies the turn.
 */
const isShellLine = (text: string | undefined): boolean => /^<bash-(?:input|stdout|stderr)>/.test(text ?? "");

/** Senders that are not people. Messages of a channel come from a person. */
const MACHINES: ReadonlySet<string> = new Set([
  "task-notification",
  "peer",
  "peer-send-message",
  "projects-relay",
  "teammate",
  "coordinator",
  "observer",
  "observer-activity",
  "auto-continuation",
  "scheduled-trigger",
]);

function originOf(o: Line, text: string | undefined): "human" | "machine" | "command" {
  const kind = asString(asObject(o["origin"])?.["kind"]) ?? "";
  if (MACHINES.has(kind) || o["promptSource"] === "system" || isMachinePrompt(text)) return "machine";
  // `/clear` and similar are written with the name first and never reach the model; they have no turn
  return /^<command-(?!message>)/.test(text ?? "") && o["turnOrigin"] === undefined ? "command" : "human";
}

// Texts of tool results as in github.com/cline/cline, apps/vscode/src/core/prompts/responses.ts, August 2026, read 2026-11-26

import type { FileWrite } from "#core/model/file-write.ts";
import type { ToolStatus } from "#core/model/transcript.ts";
import { isSequenceNumber, repeatedCallId } from "#core/rules/call-ids.ts";
import { defined } from "#kit/objects.ts";
import { skillOf } from "../shared/names/skill.ts";
import { plainText } from "../shared/payload/content.ts";
import { asArray, asCount, asObject, asString } from "../shared/payload/json.ts";
import { executableIn, extensionDigest, mcpServerIn } from "./adapter.ts";
import { writesOfCall } from "./file-writes.ts";
import type { Message } from "./messages.ts";

/** A tool call in the messages that are sent to the model. */
export interface TaskTool {
  /** The model's; absent where tools are called in XML. */
  readonly givenId: string | undefined;
  readonly name: string;
  readonly inputDigest: string | undefined;
  readonly executable: string | undefined;
  readonly skill: string | undefined;
  readonly mcpServer: string | undefined;
  readonly files: readonly FileWrite[] | undefined;
  readonly input: unknown;
  result?: {
    readonly status: ToolStatus;
    readonly errorType?: string;
    readonly timeMs?: number;
    readonly text: unknown;
  };
}

/** One answer of the model, in the messages that are sent to it later. */
export interface Answer {
  /** Place in the file. */
  readonly index: number;
  readonly timeMs: number | undefined;
  readonly model: unknown;
  readonly text: string | undefined;
  readonly tools: readonly TaskTool[];
}

/** Collects the answers of a task, message by message. */
export class Answers {
  readonly all: Answer[] = [];
  cwd: string | undefined;
  #index = -1;

  /** @param keepsText whether the texts are wanted */
  add(message: Message, keepsText: boolean): void {
    this.#index++;
    const blocks = blocksOf(message);
    const timeMs = asCount(message["ts"]);
    if (message["role"] === "user") {
      this.cwd ??= cwdIn(blocks);
      this.#results(blocks, timeMs, keepsText);
    } else if (message["role"] === "assistant") {
      const texts = blocks.flatMap((block) => (block["type"] === "text" ? (asString(block["text"]) ?? []) : []));
      const named = blocks.flatMap((block) => namedTool(block, keepsText) ?? []);
      const tools = named.length > 0 ? named : texts.flatMap((text) => xmlTool(text, keepsText) ?? []);
      const text = keepsText ? texts.join("\n") || undefined : undefined;
      this.all.push({ index: this.#index, timeMs, model: message["modelInfo"], text, tools });
    }
  }

  /** A message that cannot be read still has its place. */
  skip(): void {
    this.#index++;
  }

  #results(blocks: readonly Message[], timeMs: number | undefined, keepsText: boolean): void {
    const open = (this.all.at(-1)?.tools ?? []).filter(({ result }) => result === undefined);
    for (const [index, block] of blocks.entries()) {
      const found = block["type"] === "tool_result" ? namedResult(block) : textResult(block, blocks[index + 1]);
      const tool = open.find((call) => call.givenId === found.givenId && (found.name ?? call.name) === call.name);
      if (tool === undefined) continue;
      open.splice(open.indexOf(tool), 1);
      tool.result = {
        ...statusOf(found.text, block["is_error"] === true),
        ...defined<{ timeMs: number }>({ timeMs }),
        text: keepsText ? found.text : undefined,
      };
    }
  }
}

/** The id of a call: the model's, unless an earlier answer of the task has it too. @param place identifies the answer */
export function callIdOf(tool: TaskTool, index: number, place: string, seen: Map<string, string>): string {
  if (tool.givenId === undefined) return repeatedCallId(`xml:${index}`, place);
  const first = seen.get(tool.givenId);
  if (first === undefined) seen.set(tool.givenId, place);
  return (first === undefined || first === place) && !isSequenceNumber(tool.givenId)
    ? tool.givenId
    : repeatedCallId(tool.givenId, place);
}

// --- internal ---

const blocksOf = (message: Message): readonly Message[] =>
  typeof message["content"] === "string"
    ? [{ type: "text", text: message["content"] }]
    : asArray(message["content"])
        .map(asObject)
        .filter((block) => block !== undefined);

/** In the first message's environment details. */
function cwdIn(blocks: readonly Message[]): string | undefined {
  for (const block of blocks) {
    const text = asString(block["text"]);
    const start = text?.indexOf(CWD) ?? -1;
    if (text === undefined || start === -1) continue;
    return /^([^\n]{1,4096}?)\)(?: Files)?(?:\n|$)/.exec(text.slice(start + CWD.length, start + 8192))?.[1];
  }
  return undefined;
}
const CWD = "# Current Working Directory (";

function namedTool(block: Message, keepsText: boolean): TaskTool | undefined {
  const [id, name] = [asString(block["id"]), asString(block["name"])];
  if (block["type"] !== "tool_use" || id === undefined || name === undefined) return undefined;
  // Tools of MCP servers are sent to the model as `<server's key>0mcp0<tool>`; hooks call them all use_mcp_tool
  const [, tool] = /^.{1,64}?0mcp0(.+)$/.exec(name) ?? [];
  const input = tool === undefined ? block["input"] : { tool_name: tool, arguments: block["input"] };
  return toolOf(id, tool === undefined ? name : "use_mcp_tool", input, keepsText);
}

const toolOf = (givenId: string | undefined, name: string, input: unknown, keepsText: boolean): TaskTool => ({
  givenId,
  name,
  inputDigest: extensionDigest(input),
  executable: executableIn(input),
  skill: skillOf(name, input),
  mcpServer: mcpServerIn(name, input),
  files: writesOfCall(name, input),
  input: keepsText ? input : undefined,
});

function xmlTool(text: string, keepsText: boolean): TaskTool | undefined {
  const call = callInXml(text);
  return call === undefined ? undefined : toolOf(undefined, call.name, call.input, keepsText);
}

/** The result of a call: which one, and what it returned. */
interface Result {
  readonly givenId: string | undefined;
  /** Absent: the id is enough. */
  readonly name: string | undefined;
  readonly text: string | undefined;
}

const namedResult = (block: Message): Result => ({
  givenId: asString(block["tool_use_id"]),
  name: undefined,
  text: plainText(block["content"]),
});

/** The result of a call in XML is a text, or begins one. */
function textResult(block: Message, next: Message | undefined): Result {
  const [, name = "", rest = ""] = RESULT.exec(asString(block["text"]) ?? "") ?? [];
  return { givenId: undefined, name, text: rest.trim() || asString(next?.["text"]) };
}

/** `[read_file for 'a'] Result:`, with the result after it or in the next block. */
const RESULT = /^\[([a-z_]{1,40})\b[\s\S]{0,8192}?\] Result:([\s\S]*)$/;

function statusOf(
  result: string | undefined,
  isError: boolean,
): { readonly status: ToolStatus; readonly errorType?: string } {
  if (result !== undefined && /^The user denied this operation\b/.test(result)) return { status: "denied" };
  if (isError || (result !== undefined && FAILED.test(result))) return { status: "error" };
  return { status: "success" };
}

const FAILED =
  /^(?:The tool execution failed with the following error:|Error executing |Command failed with exit code )/;

/** A tool call that an answer writes as XML. */
interface XmlCall {
  readonly name: string;
  readonly input: Readonly<Record<string, string>>;
}

/**
 * The tool call in an answer's text, such as `<read_file><path>a</path></read_file>`; `undefined` if there is none. Only one per
 * answer runs, so what follows is text.
 */
function callInXml(text: string): XmlCall | undefined {
  const start = TOOL_TAG.exec(text);
  const name = start?.[1];
  if (start === null || name === undefined) return undefined;
  const from = start.index + start[0].length;
  const end = text.lastIndexOf(`</${name}>`);
  return { name, input: parametersIn(text.slice(from, end < from ? undefined : end)) };
}

function parametersIn(body: string): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  const tags = new RegExp(PARAM_TAG, "g");
  for (let tag = tags.exec(body); tag !== null; tag = tags.exec(body)) {
    const name = tag[1] ?? "";
    const close = `</${name}>`;
    // Only a file's content can contain tags
    const end = name === "content" ? body.lastIndexOf(close) : body.indexOf(close, tags.lastIndex);
    const isClosed = end >= tags.lastIndex;
    values[name] = body.slice(tags.lastIndex, isClosed ? end : undefined).trim();
    if (!isClosed) break;
    tags.lastIndex = end + close.length;
  }
  return values;
}

const TOOL_TAG =
  /<(access_mcp_resource|act_mode_respond|apply_patch|ask_followup_question|attempt_completion|browser_action|condense|execute_command|generate_explanation|list_code_definition_names|list_files|load_mcp_documentation|new_rule|new_task|plan_mode_respond|read_file|replace_in_file|report_bug|search_files|summarize_task|use_mcp_tool|use_skill|use_subagents|web_fetch|web_search|write_to_file)>/;
const PARAM_TAG = /<([a-z_]{1,40})>/;

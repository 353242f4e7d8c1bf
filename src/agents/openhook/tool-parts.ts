// Tool calls as APIs and libraries write them, read 2026-11-28
import { asArray, asObject, asString, type Fields } from "../shared/payload/json.ts";

/** A use of a tool or its result. */
export interface ToolPart {
  readonly kind: "use" | "result";
  /** The provider's id; Gemini gives none. */
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly isError: boolean;
}

/** The uses and results of tools in the members of a message or a response, and in the object itself. */
export function toolPartsOf(o: Fields): readonly ToolPart[] {
  const parts = [o, ...PARTS.flatMap((name) => asArray(o[name]))];
  const inner = [...asArray(o["choices"]), ...asArray(o["candidates"])].flatMap((one) => {
    const choice = asObject(one) ?? {};
    const message = asObject(choice["message"]) ?? asObject(choice["delta"]) ?? asObject(choice["content"]) ?? {};
    return PARTS.flatMap((name) => asArray(message[name]));
  });
  const own = asObject(o["content"]);
  return [...parts, ...inner, ...(own === undefined ? [] : asArray(own["parts"]))].flatMap((one) => {
    const part = asObject(one);
    return part === undefined ? [] : toolPart(part);
  });
}

// --- internal ---

const PARTS = `content parts output tool_calls toolCalls tool_results toolResults toolInvocations`.split(" ");

function toolPart(part: Fields): readonly ToolPart[] {
  const type = asString(part["type"]) ?? "";
  const call = asObject(part["functionCall"]) ?? asObject(part["function_call"]);
  if (call !== undefined) return use(call["id"], call["name"]);
  const response = asObject(part["functionResponse"]) ?? asObject(part["function_response"]);
  if (response !== undefined)
    return result(response["id"], response["name"], asObject(response["response"])?.["error"] !== undefined);
  switch (type) {
    case "tool_use":
    // LangChain
    case "tool_call":
      return use(part["id"], part["name"]);
    case "tool_result":
      return result(part["tool_use_id"], undefined, part["is_error"] === true);
    case "function_call":
    case "custom_tool_call":
      return use(part["call_id"], part["name"]);
    case "function_call_output":
    case "custom_tool_call_output":
      return result(part["call_id"], undefined, part["status"] === "incomplete");
    default:
  }
  const chat = asObject(part["function"]);
  if (chat !== undefined && part["id"] !== undefined) return use(part["id"], chat["name"]);
  if ((part["role"] === "tool" || type === "tool") && part["tool_call_id"] !== undefined)
    return result(part["tool_call_id"], part["name"], part["status"] === "error");
  const [used, returned] = [asObject(part["toolUse"]), asObject(part["toolResult"])];
  if (used !== undefined) return use(used["toolUseId"], used["name"]);
  if (returned !== undefined) return result(returned["toolUseId"], undefined, returned["status"] === "error");
  return part["toolCallId"] === undefined ? [] : sdkPart(part, type);
}

/** Parts of the Vercel AI SDK. Those for user interfaces have the call and its result in one. */
function sdkPart(part: Fields, type: string): readonly ToolPart[] {
  const [id, state] = [part["toolCallId"], asString(part["state"]) ?? ""];
  const outputType = asString(asObject(part["output"])?.["type"]) ?? "";
  const isError =
    /-error$/.test(type) || /-error$/.test(state) || part["isError"] === true || /^error-/.test(outputType);
  const isResult = /^tool-(?:result|error)$/.test(type);
  const name = asString(part["toolName"]) ?? /^tool-(.+)/.exec(type)?.[1];
  if (isResult || (type === "" && state === "" && part["result"] !== undefined))
    return result(id, part["toolName"], isError);
  return [...use(id, name), ...(/^(?:output-|result$)/.test(state) ? result(id, name, isError) : [])];
}

const use = (id: unknown, name: unknown): readonly ToolPart[] =>
  asString(name) === undefined ? [] : [{ kind: "use", id: asString(id), name: asString(name), isError: false }];

const result = (id: unknown, name: unknown, isError: boolean): readonly ToolPart[] => [
  { kind: "result", id: asString(id), name: asString(name), isError },
];

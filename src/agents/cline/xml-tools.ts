/** A tool call that an answer writes as XML. */
export interface XmlCall {
  readonly name: string;
  readonly input: Readonly<Record<string, string>>;
}

/**
 * The tool call in an answer's text, such as `<read_file><path>a</path></read_file>`; `undefined` if there is none. Only one per
 * answer runs, so what follows is text.
 */
export function callInXml(text: string): XmlCall | undefined {
  const start = TOOL_TAG.exec(text);
  const name = start?.[1];
  if (start === null || name === undefined) return undefined;
  const from = start.index + start[0].length;
  const end = text.lastIndexOf(`</${name}>`);
  return { name, input: parametersIn(text.slice(from, end < from ? undefined : end)) };
}

// --- internal ---

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

// Plants canaries in every text of a payload or transcript: a word (content) and a secret in the form of a key. Ids, paths, times
// and the agents' own keywords stay, so that adapters still recognise the payload.

/** Planted in every content text. At levels below `redacted` it must be nowhere. */
export const CANARY = "kanarienvogel";
/** Planted in names as well. At levels below `full` it must be nowhere. */
export const SECRET = "AKIAKANARIENVOGEL";

export class Planter {
  texts = 0;
  names = 0;

  /** A recorded text: JSON, JSON lines, or plain. */
  plantText(text: string, path: string): string {
    const whole = parsed(text);
    if (whole !== undefined && !path.endsWith(".jsonl")) return JSON.stringify(this.plant(whole, "", false));
    return text
      .split("\n")
      .map((line) => {
        if (line.trim() === "") return line;
        const record = parsed(line);
        if (record === undefined) return /\.jsonl?$/.test(path) ? line : this.#content(line);
        // Added by the recorder, not part of the agent's payload
        if (path === "hooks.jsonl" && isObject(record))
          return JSON.stringify({ ...record, stdin: this.plant(record["stdin"], "", false) });
        return JSON.stringify(this.plant(record, "", false));
      })
      .join("\n");
  }

  /** @param isContent everything below is content, regardless of its key */
  plant(value: unknown, key: string, isContent: boolean): unknown {
    if (typeof value === "string") return this.#string(value, key, isContent);
    if (Array.isArray(value)) return value.map((item) => this.plant(item, key, isContent));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        this.plant(inner, name, isContent ? !MACHINERY.has(name) : BELOW.test(name) && !isBlockList(inner)),
      ]),
    );
  }

  #string(text: string, key: string, isContent: boolean): string {
    if (text === "") return text;
    // JSON inside a text, e.g. tool arguments
    const inner = /^\s*[[{]/.test(text) ? parsed(text) : undefined;
    if (inner !== undefined) return JSON.stringify(this.plant(inner, key, true));
    if (NAMES.test(key) && !isContent) return this.#name(text);
    // Kept on this machine, except secrets
    if (PATHS.test(key) && !isAbsolute(text)) return this.#name(text);
    const isWords = isContent || CONTENT.test(key) || /\s/.test(text.trim());
    if (!isWords || MACHINERY.has(key) || TIME.test(text) || isAbsolute(text)) return text;
    return this.#content(text);
  }

  #content(text: string): string {
    this.texts++;
    return `${text} ${CANARY}${this.texts} ${this.#secret(this.texts)}`;
  }

  /** Appends to a name, because adapters recognise names by their prefix. */
  #name(text: string): string {
    this.names++;
    return `${text} ${this.#secret(this.names)}`;
  }

  #secret = (n: number): string => `${SECRET}${String(n % 1000).padStart(3, "0")}`;
}

/** Canaries found in a text, each with its surroundings. */
export const foundIn = (what: string, text: string, needles: readonly string[]): readonly string[] =>
  needles.flatMap((needle) =>
    [...text.matchAll(new RegExp(`.{0,80}${needle}.{0,20}`, "gi"))].slice(0, 3).map(([around]) => `${what}: ${around}`),
  );

/** A text without the values of JSON members `path`: paths of written files stay on this machine, except secrets. */
export const withoutPaths = (text: string): string => text.replace(/(\\*"path\\*":\\*")[^"\\]*/g, "$1");

// --- internal ---

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `content: [{ type: … }]`: parts of a message, with types and ids of the agent. */
const isBlockList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => isObject(item) && "type" in item);

const isAbsolute = (text: string): boolean => /^[/~]|^[A-Za-z]:\\|^file:/.test(text);
const PATHS = /^(?:file_?path|path|target_?file|relative_?path)$/i;

/** The agents' keywords, ids and times. */
const MACHINERY: ReadonlySet<string> = new Set(
  `type kind role id uuid version timestamp status state phase subtype event hook_event_name hookEventName eventName source
   session_id sessionId conversation_id conversationId generation_id turn_id turnId tool_use_id toolUseId tool_call_id
   toolCallId call_id callID callId parentUuid parent_id parentId parentID sessionID messageID messageId message_id
   action_id child_session_id subagentId subagent_id modelId resolvedModel requestId request_id response_id cwd transcript_path transcriptPath agent_transcript_path stop_reason finish_reason finish
   reason trigger providerID provider modelID created_at updated_at time ts openhook mode permission_mode approval_policy
   sandbox_policy originator entrypoint promptId prompt_id leafUuid logicalParentUuid agentId agent_id interruptedMessageId
   userType cli_version tool_name toolName name tool model`.split(/\s+/),
);
const NAMES = /^(?:gitBranch|branch|agent_type|agentType|subagent_type|agent_nickname|matcher)$/;
const CONTENT =
  /^(?:text|content|prompt|user_prompt|message|last_assistant_message|output|aggregated_output|result|response|command|description|thinking|summary|error|stdout|stderr|title|query|body|answer|reasoning|instructions|task|patch|old_string|new_string|encrypted_content|custom_instructions)$/i;
const BELOW =
  /^(?:tool_input|toolInput|toolArgs|input|arguments|args|parameters|tool_response|toolResult|tool_output|toolUseResult|content|output|result|resultDisplay|functionResponse|displayContent)$/;
const TIME = /^\d{4}-\d\d-\d\dT/;

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

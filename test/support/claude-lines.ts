import fc from "./properties.ts";

/** One file of a session, as bytes. */
export interface MadeFile {
  /** Absent: the main file. */
  readonly agentId?: string;
  readonly bytes: Buffer;
  /** The metadata file beside a subagent's transcript. */
  readonly meta?: string;
}

/** Random sessions of all lengths. fast-check does not shrink them: see `smallestFailing`. */
export const madeSessions = (): fc.Arbitrary<readonly MadeFile[]> =>
  fc.noShrink(fc.tuple(fc.nat(), fc.nat(3_500)).map(([seed, length]) => madeSession(bytesOf(seed, length))));

/** Removes files and lines of a session as long as it still fails. */
export async function smallestFailing(
  files: readonly MadeFile[],
  fails: (files: readonly MadeFile[]) => Promise<boolean>,
): Promise<readonly MadeFile[]> {
  let small = files;
  for (let wasSmaller = true; wasSmaller; ) {
    wasSmaller = false;
    for (const candidate of lessThan(small)) {
      if (!(await fails(candidate))) continue;
      small = candidate;
      wasSmaller = true;
      break;
    }
  }
  return small;
}

// --- internal ---

/**
 * Generates a session from bytes: the fewer bytes, the plainer the session. Most lines look as Claude Code writes them; some
 * use its member names against its rules, or have odd or invalid JSON in any place.
 */
function madeSession(bytes: Uint8Array): readonly MadeFile[] {
  const choose = new Choices(bytes);
  const main = new Maker(choose, undefined).file();
  const agents = choose.isRare(3) ? AGENTS.slice(0, 1 + choose.below(2)) : [];
  return [
    { bytes: main },
    ...agents.map((agentId) => ({
      agentId,
      bytes: new Maker(choose, agentId).file(),
      ...(!choose.isRare(3) && { meta: choose.of(METAS) }),
    })),
  ];
}

/** Deterministic random bytes for a seed (splitmix32). */
function bytesOf(seed: number, length: number): Uint8Array {
  let state = seed;
  return Uint8Array.from({ length }, () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) & 0xff;
  });
}

/** The same files without one of them, then without a run of lines, longest runs first. */
function* lessThan(files: readonly MadeFile[]): Generator<readonly MadeFile[]> {
  if (files.length > 1) for (const file of files) yield files.filter((one) => one !== file);
  for (const file of files) {
    const lines = file.bytes.toString("latin1").split("\n");
    for (let count = lines.length >> 1; count >= 1; count >>= 1) {
      for (let at = 0; at < lines.length; at += count) {
        const bytes = Buffer.from([...lines.slice(0, at), ...lines.slice(at + count)].join("\n"), "latin1");
        yield files.map((one) => (one === file ? { ...file, bytes } : one));
      }
    }
  }
}

const AGENTS = ["a1", "a2"];
const METAS = [
  '{"agentType":"Explore","toolUseId":"toolu_1"}',
  "{}",
  "",
  "no JSON",
  "[1]",
  '{"agentType":7,"toolUseId":"toolu_2","parentAgentId":"a1"}',
];

/** Makes choices from bytes; after the last byte, always the first choice. */
class Choices {
  readonly #bytes: Uint8Array;
  #at = 0;
  /** How often odd choices are made: never (0), rarely, often. */
  readonly #oddness: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#oddness = this.of([0, 1, 1, 1, 1, 3]);
  }

  #next(): number {
    return this.#bytes[this.#at++] ?? 0;
  }

  below(n: number): number {
    return n <= 256 ? this.#next() % n : (this.#next() * 256 + this.#next()) % n;
  }

  of<T>(items: readonly [T, ...T[]] | readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("there is nothing to choose from");
    return item;
  }

  /** True about once in `times` calls. */
  isRare(times: number): boolean {
    return this.#next() > 255 - 256 / times;
  }

  /** As `isRare`, for what no agent would do. */
  isOdd(times: number): boolean {
    if (this.#oddness === 0) return false;
    return this.below(65_536) > 65_535 - (65_536 * this.#oddness) / (times * 6);
  }

  shuffled<T>(items: readonly T[]): readonly T[] {
    const all = [...items];
    for (let i = all.length - 1; i > 0; i--) {
      const j = i - this.below(i + 1);
      const [a, b] = [all[i], all[j]];
      if (a !== undefined && b !== undefined) [all[i], all[j]] = [b, a];
    }
    return all;
  }
}

type Member = readonly [name: string, json: string];

const deep = (open: string, inner: string, close: string, depth: number): string =>
  open.repeat(depth) + inner + close.repeat(depth);

/** Values of every kind, as JSON. */
const VALUES =
  `null true false 0 1 -1 7.5 1e3 1E+2 2e-1 1e400 9999999999 999999999 4294967295 12345678901234567890 "" "x"
  "\\u0000" "\\ud83d" "\\ud83d\\ude42" "\\/" "\\"" "\\\\" "<b>" "[x]" "\\u003cb" "\\u005bx" "E" "user" "assistant" "system"
  "tool_use" "tool_result" "tool_\\u0075se" "<synthetic>" "task-notification" "reject" "create" "漢字" "🙂" "é" [] {} [[]]
  [{}] [1,"a",null] {"text":"t"} [{"text":"a"},{"text":"b"}] {"kind":"task-notification"} {"decision":"reject"}
  {"text":"a","text":"[Tool\\u0020use\\u0020interrupted"} {"input_tokens":1,"output_tokens":2} "2026-11-21T10:00:00.000Z"
  {"\\u0069d":"x"} {"":""} "constructor" "undefined" "__proto__"`
    .split(/\s+/)
    .concat(deep("[", "1", "]", 63), deep("[", "1", "]", 70), deep('{"a":', "1", "}", 64), deep("[{", "", "}]", 40));

/** Every member name that readers use, and some that they ignore. */
const NAMES =
  `type timestamp message isSidechain uuid version cwd gitBranch requestId requestRef requestedModel toolUseResult
  promptId permissionDecision promptSource origin id content model stop_reason usage input_tokens output_tokens
  cache_read_input_tokens cache_creation_input_tokens cache_creation ephemeral_5m_input_tokens ephemeral_1h_input_tokens
  output_tokens_details thinking_tokens name input command tool_use_id is_error text interrupted agentId structuredPatch
  lines decision kind subtype isMeta isCompactSummary isVisibleInTranscriptOnly repeatsCompactSummary interruptedMessageId
  toolDenialKind stop_details fallback_credit turnOrigin isApiErrorMessage apiErrorStatus error durationMs __proto__ constructor typ types Type`.split(
    /\s+/,
  );

const TIMES = [
  "2026-02-29T10:00:00.000Z",
  "2028-02-29T10:00:00.000Z",
  "2026-02-28T23:59:59.999Z",
  "2026-04-31T10:00:00.000Z",
  "2026-10-31T23:59:59.999Z",
  "2026-12-31T23:59:59.999Z",
  "2026-02-30T10:00:00.000Z",
  "2027-01-01T00:00:00.000Z",
  "2028-03-01T00:00:00.000Z",
  "2100-03-01T00:00:00.000Z",
  "2001-01-01T00:00:00.000Z",
  "2000-12-31T23:59:59.999Z",
  "1999-12-31T23:59:59.999Z",
  "1970-01-01T00:00:00.000Z",
  "2199-12-31T23:59:59.999Z",
  "2200-01-01T00:00:00.001Z",
  "2300-01-01T00:00:00.000Z",
  "2026-11-21T24:00:00.000Z",
  "2026-11-21T24:30:00.000Z",
  "2026-11-21T23:60:00.000Z",
  "2026-11-21T23:59:60.000Z",
  "2026-13-21T10:00:00.000Z",
  "2026-00-21T10:00:00.000Z",
  "2026-11-00T10:00:00.000Z",
  "2026-11-32T10:00:00.000Z",
  "2026-11-21T10:00:00Z",
  "2026-11-21T10:00Z",
  "2026-11-21",
  "2026-11-21T10:00:00.000+02:00",
  "2026-11-21T10:00:00.1234567Z",
  "2026-11-21T10:00:00.000z",
  "2026-11-21t10:00:00.000Z",
  "2026-11-21 10:00:00.000Z",
  "2026-11-21T10:00:00,000Z",
  "+002026-11-21T10:00:00.000Z",
  "Sat, 21 Nov 2026 10:00:00 GMT",
  "21 Nov 2026 (10 o'clock)",
  "1795255200000",
  "2026-11-2xT10:00:00.000Z",
  "x026-11-21T10:00:00.000Z",
  "yesterday",
  "",
];

/** Prompts of users. */
export const PROMPTS = [
  "add a test",
  "漢字 and 🙂, all of it",
  'say "hi"\nthen / stop',
  "",
  "naïve\u0000\u001f",
  "\ud83d",
  "\ude42 x \ud83d",
  "[1] is not it",
  "<b>bold</b>",
];
/** Text that the program writes in user lines. */
export const SIGNS = [
  "<command-name>/clear</command-name>",
  "<command-message>init</command-message>",
  "<local-command-stdout>done",
  "<bash-input>ls</bash-input>",
  "<bash-stdout>x",
  "<user-memory-input>x",
  "<task-notification>\n<task-id>b1</task-id>",
  "[Request interrupted by user]",
  "[Request interrupted by user for tool use]",
];
/** Tool results. */
export const RESULTS = [
  "Permission for this action was denied by the Claude Code auto mode classifier. Reason: [x].",
  "Permissions are odd",
  "Hook PreToolUse:Bash denied this tool",
  "Bash operation blocked by hook:\n- [check.sh]: no",
  "This command requires approval",
  "This Bash command contains multiple operations. The following part requires approval: git push",
  "Agent type 'Explore' has been denied by permission rule 'Task(Explore)' from settings.",
  "ls in '/srv' was blocked. For security, Claude Code may only list files in the allowed working directories",
  `${"漢".repeat(480)} in '/srv' was blocked. For security, Claude Code may only list files`,
  `${"x".repeat(501)} was blocked. For security, Claude Code may only list files`,
  "x\nls in '/srv' was blocked. For security, Claude Code may only list files",
  "<tool_use_error>Sibling tool call errored</tool_use_error>",
  "ok",
  "",
  "漢字 🙂",
  "Exit code 2\nboom",
  "Error: Exit code 127",
  "Exit code 7777",
  "Exit code 7_",
  "Exit code 12a",
  "Exit code 007: agent",
  "Exit code 12é",
  "Exit code 3\u0001",
  'Exit code 4"',
  "Exit code ",
  "Exit code",
  "Error: Exit code x",
  "error: Exit code 3",
  "Error: Error: Exit code 3",
  "Error: no such file",
  '\n"quoted" Exit code 3',
  "\\u0045xit code 3",
  "Traceback (most recent call last):",
  "Everything is fine",
  "Permission to use Bash has been denied",
  "Perhaps",
  "The user doesn't want to proceed",
  "There it is",
  "Claude requested permissions to write",
  "PreToolUse:Bash hook error: no",
  " hook error: x",
  "a b hook error: x",
  "a\tb hook error: x",
  "x\u00a0y hook error: z",
  "x\u0001y hook error: z",
  'x"y\\z hook error: z',
  "x/y hook error: ",
  "x hook error:",
  "[Tool use interrupted]",
  "[Tool call interrupted]",
  "[Tool use",
  "[Request interrupted by user for tool use]",
];
/** Shell commands. */
export const COMMANDS = [
  "git status",
  " git log ",
  "A=1 B_2=x npm test",
  "/usr/bin/git diff",
  "ls | wc -l",
  "cd /x && ls",
  'git commit -m "hi"',
  '"git" x',
  'A="b c" git',
  'A="b" git',
  "echo \\ x",
  "git\tstatus",
  "\tgit",
  "git status\n",
  "git\u00a0log",
  "\u3000ls",
  "\ufeffls",
  "ls\u2028x",
  "é ls",
  "日 ls",
  "FOO=bar",
  "",
  " ",
  "1A=2 git",
  "_A9=2 git",
  "=x git",
  "A=b=c ls",
  "git/",
  "/",
  "./gradlew build",
  "toString",
  "g++ -o x",
  "git\u0085log",
  "git\u007f",
  "git\r",
  "ls\u0008",
  `ls ${"x".repeat(5_000)}`,
  `ls ${"\u0001".repeat(1_000)}`,
];
const TOOLS = ["Bash", "Read", "Edit", "mcp__acme__find", "unknown", "Tool with spaces", "漢", "ghp_0123456789"];
/** Ids that are not plain strings of ordinary length and characters. */
const ODD_IDS = [
  "a:b",
  "a",
  "b:c",
  "none",
  "t~1",
  "12",
  "012",
  "x".repeat(100),
  "x".repeat(101),
  "x".repeat(300),
  "é",
  'a"b',
  "a/b",
  "a b",
  "\u007f",
  "toString",
  "__proto__",
];
const FACTS = ["one", "two", "three", "", "zwei ä", "undefined", 'c:\\"x"/', "x".repeat(6_000), "y".repeat(600)];
const TEXT_ESCAPES = ["none", "hex", "HEX", "slash"] as const;

/** Lines that are not valid JSON objects. */
export const BROKEN = [
  "null",
  "true",
  "1",
  '"user"',
  "[]",
  "{}",
  "{",
  "}",
  "",
  " ",
  "\r",
  "\t\r",
  "\u00a0{}",
  "\ufeff{}",
  "\0",
  '\0\0{"type":"user","message":{"content":"x"}}',
  "no JSON",
  '{"type":"user",}',
  '{,"type":"user"}',
  '{"type":"user" "message":{}}',
  '{"type":"user"}}',
  '{"type":"user"}{"type":"user"}',
  '{"type":"user"} x',
  "{'type':'user'}",
  '{type:"user"}',
  '{"type":NaN}',
  '{"type":"system","x":undefined}',
  '{"type":"system","x":01}',
  '{"type":"system","x":+1}',
  '{"type":"system","x":1.}',
  '{"type":"system","x":.5}',
  '{"type":"system","x":1e}',
  '{"type":"system","x":-}',
  '{"type":"system","x":-0}',
  '{"type":"system","x":-0.5e-7}',
  '{"type":"system","x":0x1}',
  '{"type":"system","x":"\\x"}',
  '{"type":"system","x":"\\u12g4"}',
  '{"type":"system","x":"\\u123"}',
  '{"type":"system","x":"a\u0001b"}',
  '{"type":"system","x":"a\tb"}',
  '{"type":"system","x":tru}',
  '{"type":"system","x":nulls}',
  '{"type":"system","x":falsy}',
  '{"type":"system","x":[1,]}',
  '{"type":"system","x":[,1]}',
  '{"type":"system","x":[1 2]}',
  '{"type":"system","x":{"a":1,}}',
  '{"type":"system","x":{"a"}}',
  '{"type":"system","x":{"a":}}',
  '{"type":"system"/* why */}',
  '{"type":"system"}//',
  '{"type":"system"\u000b}',
  '{"type":"system"\u2028}',
];

const SILENT = ["attachment", "summary", "mode", "ai-title", "file-history-snapshot", "queue-operation"];
const UNKNOWN_KINDS = ["brand-new", "other-new", "tool_use", "reject", ""];

interface Answer {
  readonly id: string;
  readonly request: string | undefined;
  readonly model: string;
  readonly ref: string | undefined;
  readonly use: string | undefined;
  output: number;
  /** As last written; an answer requested again repeats it. */
  usage?: string;
  readonly isAgain?: true;
}

/** Generates one file. */
class Maker {
  readonly #choose: Choices;
  readonly #agent: string | undefined;
  readonly #lines: Buffer[] = [];
  #ms = Date.parse("2026-11-21T10:00:00.000Z");
  #n = 0;
  #prompt: string | undefined;
  readonly #requests: string[] = [];
  readonly #facts: { version: string; cwd: string; gitBranch: string } = {
    version: "one",
    cwd: "one",
    gitBranch: "one",
  };

  constructor(choose: Choices, agent: string | undefined) {
    this.#choose = choose;
    this.#agent = agent;
  }

  file(): Buffer {
    const choose = this.#choose;
    const turns = choose.below(5) + (this.#agent === undefined ? 1 : 0);
    if (choose.isRare(8)) this.#between();
    for (let turn = 0; turn < turns; turn++) this.#turn();
    if (choose.isRare(6)) this.#copies();
    const ends = Buffer.from(choose.isRare(10) ? "\r\n" : "\n");
    const pieces = this.#lines.flatMap((line) => [line, ends]);
    if (choose.isRare(8)) pieces.pop();
    if (choose.isRare(12))
      pieces.push(Buffer.from(choose.of(["{", '{"type":"user"', '{"type":"mode"}', "\r", "\n\n", '{"a":"\\'])));
    return Buffer.concat(pieces);
  }

  #turn(): void {
    const choose = this.#choose;
    this.#user();
    const answers = choose.below(5);
    for (let n = 0; n < answers; n++) {
      if (choose.isRare(4)) this.#between();
      const use = this.#answer();
      if (use !== undefined && !choose.isRare(20)) this.#result(use);
    }
    if (choose.isRare(4)) this.#between();
    if (choose.isRare(6)) this.#system();
  }

  // --- lines of each kind ---

  #user(): void {
    const choose = this.#choose;
    const text = choose.isRare(10) ? choose.of(SIGNS) : choose.of(PROMPTS);
    this.#prompt = choose.isRare(8) ? this.#prompt : `prompt_${this.#n++}`;
    const members: Member[] = [["type", '"user"']];
    const content = choose.isRare(4) ? this.#array(this.#texts(text)) : this.#value(this.#text(text), 20);
    members.push([
      "message",
      this.#value(
        this.#object([
          ["role", '"user"'],
          ["content", content],
        ]),
        40,
      ),
    ]);
    if (this.#prompt !== undefined && !choose.isRare(5)) members.push(["promptId", this.#id(this.#prompt)]);
    if (choose.isRare(12)) members.push(["isMeta", this.#value("true", 3)]);
    if (choose.isRare(30)) members.push([choose.of(["isCompactSummary", "isVisibleInTranscriptOnly"]), "true"]);
    if (choose.isRare(30)) members.push(["repeatsCompactSummary", choose.of(["true", "false", "1"])]);
    if (choose.isRare(20)) members.push(["promptSource", this.#text(choose.of(["typed", "system", "sdk"]))]);
    if (choose.isRare(20))
      members.push(["origin", this.#object([["kind", this.#text(choose.of(["task-notification", "human"]))]])]);
    if (choose.isRare(30)) members.push(["turnOrigin", choose.of(['"human"', "null"])]);
    if (choose.isOdd(20)) members.push(["interruptedMessageId", choose.of(['"msg_1"', "null"])]);
    this.#put(members);
  }

  #texts(text: string): readonly string[] {
    const choose = this.#choose;
    const block = (one: string): string =>
      this.#object([
        ["type", '"text"'],
        ["text", this.#value(this.#text(one), 20)],
      ]);
    const image = '{"type":"image","source":{"type":"base64","data":"aGk="}}';
    const blocks = [block(text)];
    while (choose.isRare(2) && blocks.length < 4) blocks.push(choose.isRare(3) ? image : block(choose.of(PROMPTS)));
    return choose.isRare(4) ? choose.shuffled(blocks) : blocks;
  }

  /** @returns the id of its tool call */
  #answer(): string | undefined {
    const choose = this.#choose;
    const n = this.#n++;
    const use = choose.isRare(2) ? undefined : `toolu_${this.#agent ?? ""}${n}`;
    if (choose.isRare(5)) this.#request();
    const answer: Answer = {
      id: choose.isOdd(25) ? choose.of(ODD_IDS) : `msg_01aB2cD3eF${this.#agent ?? ""}${n}`,
      request: choose.isRare(6) ? undefined : choose.isOdd(25) ? choose.of(ODD_IDS) : `req_${n}`,
      model: choose.of(["claude-sonnet-4-5-20250929", "claude-opus-4-1-20250805"]),
      ref: this.#requests.length > 0 && choose.isRare(2) ? choose.of(this.#requests) : undefined,
      use,
      output: choose.below(300),
    };
    const parts = 1 + choose.below(3);
    for (let part = 0; part < parts; part++) this.#part(answer, part === parts - 1);
    if (choose.isRare(25)) {
      if (choose.isRare(2)) this.#between();
      this.#part({ ...answer, id: `${answer.id}b`, use: undefined, ...(!choose.isRare(4) && { isAgain: true }) }, true);
    }
    if (choose.isOdd(60)) this.#synthetic();
    return use;
  }

  #part(answer: Answer, isLast: boolean): void {
    const choose = this.#choose;
    const block = isLast && answer.use !== undefined ? this.#use(answer.use) : '{"type":"text","text":"<done> {"}';
    const stop = isLast && !choose.isRare(8) ? this.#text(answer.use === undefined ? "end_turn" : "tool_use") : "null";
    if (choose.isRare(2)) answer.output += choose.below(300);
    const members: Member[] = [
      ["model", this.#value(this.#text(answer.model), 60)],
      ["id", this.#value(this.#text(answer.id), 60)],
      ["role", '"assistant"'],
      ["content", this.#value(this.#array(choose.isRare(10) ? [block, block] : [block]), 40)],
      ["stop_reason", this.#value(stop, 60)],
    ];
    if (!choose.isRare(3)) members.push(["stop_details", this.#value("null", 60)]);
    if (answer.isAgain !== true || answer.usage === undefined) answer.usage = this.#usage(answer.output);
    if (!choose.isRare(20)) members.push(["usage", this.#value(answer.usage, 40)]);
    const line: Member[] = [
      ["type", '"assistant"'],
      ["message", this.#object(members)],
    ];
    if (answer.request !== undefined) line.push(["requestId", this.#value(this.#text(answer.request), 60)]);
    if (answer.ref !== undefined) line.push(["requestRef", this.#value(this.#text(answer.ref), 30)]);
    if (choose.isRare(10)) line.push(["requestedModel", this.#value(this.#text(answer.model), 20)]);
    this.#put(line);
  }

  #usage(output: number): string {
    const choose = this.#choose;
    const count = (n: number): string => this.#value(String(n), 50);
    const members: Member[] = [
      ["input_tokens", count(12)],
      ["output_tokens", count(output)],
    ];
    if (choose.isRare(2)) members.push(["fallback_credit", this.#value("null", 60)]);
    if (!choose.isRare(4)) members.push(["cache_read_input_tokens", count(4_000)]);
    if (!choose.isRare(4)) members.push(["cache_creation_input_tokens", count(999_999_999)]);
    if (choose.isRare(2)) {
      const lifetimes: Member[] = [
        ["ephemeral_5m_input_tokens", count(3)],
        ["ephemeral_1h_input_tokens", count(4)],
      ];
      members.push([
        "cache_creation",
        this.#value(this.#object(choose.isRare(4) ? lifetimes.slice(1) : lifetimes), 30),
      ]);
    }
    if (choose.isRare(4))
      members.push(["output_tokens_details", this.#value(this.#object([["thinking_tokens", count(5)]]), 30)]);
    return this.#object(members);
  }

  #use(id: string): string {
    const choose = this.#choose;
    const name = choose.isOdd(10) ? choose.of(TOOLS) : choose.of(TOOLS.slice(0, 4));
    const input: Member[] = [["file_path", '"/x"']];
    if (name === "Bash") input.push(["command", this.#value(this.#text(choose.of(COMMANDS)), 30)]);
    return this.#object([
      ["type", this.#value(this.#text("tool_use"), 60)],
      ["id", this.#value(this.#id(id), 60)],
      ["name", this.#value(this.#text(name), 60)],
      ["input", this.#value(this.#object(input), 40)],
    ]);
  }

  #result(id: string): void {
    const choose = this.#choose;
    const isEdit = choose.isRare(5);
    const text = choose.isRare(3) ? choose.of(RESULTS) : "ok";
    const content = choose.isRare(4) ? this.#array(this.#texts(text)) : this.#value(this.#text(text), 20);
    const members: Member[] = [
      ["tool_use_id", this.#id(id)],
      ["type", this.#value(this.#text("tool_result"), 60)],
    ];
    if (!choose.isRare(8)) members.push(["content", content]);
    if (choose.isRare(3)) members.push(["is_error", choose.of(["true", "true", "false", "null", '"true"'])]);
    const blocks = [this.#object(members)];
    if (choose.isRare(12)) blocks.unshift('{"type":"text","text":"also"}');
    const line: Member[] = [
      ["type", '"user"'],
      [
        "message",
        this.#object([
          ["role", '"user"'],
          ["content", this.#array(blocks)],
        ]),
      ],
    ];
    if (isEdit) line.push(["toolUseResult", this.#edit()]);
    else if (choose.isRare(2)) line.push(["toolUseResult", this.#outcome()]);
    if (choose.isRare(40)) line.push(["toolDenialKind", choose.of(['"user"', '"interrupted"', "null"])]);
    if (choose.isRare(40))
      line.push(["permissionDecision", this.#object([["decision", this.#text(choose.of(["reject", "accept"]))]])]);
    this.#put(line);
  }

  #edit(): string {
    const choose = this.#choose;
    const signs = ["+a", "-b", " c", "", "\\ No newline", "++", "漢"];
    const hunk = (): string => {
      const lines = Array.from({ length: choose.below(5) }, () => this.#value(this.#text(choose.of(signs)), 20));
      return this.#value(
        this.#object([
          ["oldStart", "1"],
          ["lines", this.#value(this.#array(lines), 20)],
        ]),
        20,
      );
    };
    const members: Member[] = [
      ["filePath", '"/x"'],
      ["structuredPatch", this.#value(this.#array(Array.from({ length: choose.below(3) }, hunk)), 20)],
    ];
    if (choose.isRare(4))
      members.push(["type", this.#text("create")], ["content", this.#text(choose.of(["a\nb\n", "a", "", "\n"]))]);
    return this.#object(members);
  }

  #outcome(): string {
    const choose = this.#choose;
    switch (choose.below(5)) {
      case 0:
        return this.#object([
          ["stdout", '"ok"'],
          ["stderr", '""'],
          ["interrupted", choose.isRare(6) ? "true" : "false"],
        ]);
      case 1:
        return this.#object([
          ["agentId", this.#id(choose.of(AGENTS))],
          ["status", '"completed"'],
        ]);
      case 2:
        return this.#text(`Error: ${choose.of(RESULTS)}`);
      case 3:
        return this.#text(choose.of(RESULTS));
      default:
        return choose.of(VALUES);
    }
  }

  #synthetic(): void {
    const choose = this.#choose;
    this.#put([
      ["type", '"assistant"'],
      [
        "message",
        this.#object([
          ["id", '"x"'],
          ["model", '"<synthetic>"'],
          ["content", "[]"],
        ]),
      ],
      ["isApiErrorMessage", choose.of(["true", "false"])],
      ["apiErrorStatus", "529"],
      ["error", '"overloaded"'],
    ]);
  }

  #request(): void {
    const choose = this.#choose;
    const id = choose.isOdd(12) ? choose.of(ODD_IDS) : `r${choose.below(12)}`;
    this.#requests.push(id);
    this.#put([
      ["type", '"api-request"'],
      ["id", choose.isOdd(12) ? choose.of(VALUES) : this.#text(id)],
    ]);
  }

  #system(): void {
    const choose = this.#choose;
    const subtype = choose.of([
      "turn_duration",
      "stop_hook_summary",
      "compact_boundary",
      "away_summary",
      "turn_duration",
    ]);
    const odd = choose.isOdd(10) ? choose.of(["api_error", "\u0061pi_error", "x"]) : subtype;
    this.#put([
      ["type", '"system"'],
      ["subtype", this.#value(this.#text(odd), 40)],
      ["durationMs", this.#value("1234", 10)],
      ["compactMetadata", this.#object([["trigger", this.#value('"auto"', 10)]])],
      ["error", this.#object([["status", "529"]])],
    ]);
  }

  /** Lines that readers ignore, and invalid lines. */
  #between(): void {
    const choose = this.#choose;
    const which = choose.below(8);
    if (which === 2) this.#request();
    else if (which === 3) this.#lines.push(Buffer.from(choose.of(BROKEN)));
    else this.#put(this.#aside(which));
  }

  #aside(which: number): readonly Member[] {
    const choose = this.#choose;
    switch (which) {
      case 0:
      case 1:
        return [
          ["type", this.#text(choose.of(SILENT))],
          ["content", choose.of(VALUES)],
        ];
      case 4:
        return [["type", this.#text(choose.of(UNKNOWN_KINDS))]];
      case 5:
        return [
          ["type", '"cost-state"'],
          ["modelUsage", this.#object([["m", this.#object([["inputTokens", String(choose.below(9))]])]])],
        ];
      case 6:
        return [
          ["type", '"user"'],
          ["isMeta", "true"],
          ["message", this.#object([["content", this.#text("noted")]])],
        ];
      default:
        if (!choose.isOdd(3)) return [["type", '"mode"']];
        return NAMES.filter(() => choose.isRare(3)).map((name): Member => [name, choose.of(VALUES)]);
    }
  }

  /** Repeats earlier lines: unchanged, with another time, or slightly changed. */
  #copies(): void {
    const choose = this.#choose;
    const from = choose.below(Math.max(1, this.#lines.length));
    for (const line of this.#lines.slice(from, from + 1 + choose.below(6))) {
      const text = line.toString("latin1");
      const changed = choose.of([
        text,
        text,
        text.replace(/"output_tokens":\d+/, `"output_tokens":${choose.below(600)}`),
        text.replace(/T10:/, "T11:"),
        text.replace(/T10:/, "T09:"),
        text.replace(/prompt_\d+/, "prompt_fork"),
        text.replace(/claude-\w+/, "claude-other"),
      ]);
      this.#lines.push(Buffer.from(changed, "latin1"));
    }
  }

  // --- parts of lines ---

  #put(own: readonly Member[]): void {
    const choose = this.#choose;
    this.#ms += choose.below(4) === 3 ? 0 : 1 + choose.below(500) * (choose.isRare(12) ? 5_000 : 10);
    for (const fact of ["version", "cwd", "gitBranch"] as const)
      if (choose.isRare(40)) this.#facts[fact] = choose.of(FACTS);
    const isSidechain = choose.isOdd(30);
    const members: Member[] = [
      ["isSidechain", String(isSidechain)],
      ["sessionId", '"s"'],
      ["version", this.#value(this.#text(this.#facts.version), 80)],
      ["cwd", this.#text(this.#facts.cwd)],
      ["gitBranch", this.#text(this.#facts.gitBranch)],
    ];
    if (isSidechain && choose.isRare(2)) members.push(["agentId", this.#id("a1")]);
    if (choose.isRare(25)) members.splice(choose.below(members.length), 1);
    if (!choose.isOdd(20)) members.push(["uuid", this.#value(this.#text(`uuid_${this.#agent ?? ""}${this.#n++}`), 60)]);
    const time = choose.isOdd(12) ? choose.of(TIMES) : new Date(this.#ms).toISOString();
    if (!choose.isOdd(20)) members.push(["timestamp", this.#value(this.#text(time), 60)]);
    const line = Buffer.from(`${this.#space()}${this.#object([...members, ...own])}${this.#space()}`);
    this.#lines.push(choose.isOdd(30) ? this.#damaged(line) : line);
  }

  #id(id: string): string {
    return this.#choose.isOdd(30) ? this.#text(this.#choose.of(ODD_IDS)) : this.#text(id);
  }

  #value(json: string, times: number): string {
    return this.#choose.isOdd(times) ? this.#choose.of(VALUES) : json;
  }

  /** A text as JSON, sometimes with needless escapes. */
  #text(text: string): string {
    const plain = JSON.stringify(text);
    if (!this.#choose.isOdd(20)) return plain;
    const how = this.#choose.of(TEXT_ESCAPES);
    if (how === "slash") return plain.replaceAll("/", "\\/");
    if (how === "none") return plain;
    const [from, count] = [this.#choose.below(text.length + 1), 1 + this.#choose.below(3)];
    const units = Array.from({ length: text.length }, (_, i) => text[i] ?? "");
    return `"${units.map((unit, i) => (i >= from && i < from + count ? escaped(unit, how === "HEX") : JSON.stringify(unit).slice(1, -1))).join("")}"`;
  }

  #space(): string {
    return this.#choose.isOdd(40) ? this.#choose.of([" ", "\t", "\r", "  \t"]) : "";
  }

  #array(items: readonly string[]): string {
    return `[${this.#space()}${items.join(`,${this.#space()}`)}${this.#space()}]`;
  }

  #object(given: readonly Member[]): string {
    const choose = this.#choose;
    const members = [...(choose.isOdd(8) ? choose.shuffled(given) : given)];
    if (choose.isOdd(25)) {
      const name = choose.isRare(2) ? choose.of(NAMES) : (choose.of([...given, ["x", "1"] as const])[0] ?? "x");
      members.splice(choose.below(members.length + 1), 0, [name, choose.of(VALUES)]);
    }
    if (choose.isOdd(25)) members.push([choose.of(["extra", "x", "🙂"]), choose.of(VALUES)]);
    return `{${this.#space()}${members.map(([name, json]) => `${this.#text(name)}${this.#space()}:${this.#space()}${json}`).join(`${this.#space()},`)}${this.#space()}}`;
  }

  /** Inserts, removes or replaces one byte. */
  #damaged(line: Buffer): Buffer {
    const choose = this.#choose;
    const at = choose.below(line.length + 1);
    const [before, behind] = [line.subarray(0, at), line.subarray(at)];
    const byte = Buffer.from([
      choose.of([
        0x2c, 0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x3a, 0x30, 0x2d, 0x2e, 0x65, 0x20, 0x0d, 0x0a, 0x01, 0x80, 0xc3,
        0xe2, 0xed, 0xff, 0x75,
      ]),
    ]);
    switch (choose.below(3)) {
      case 0:
        return Buffer.concat([before, byte, behind]);
      case 1:
        return Buffer.concat([before, behind.subarray(1)]);
      default:
        return Buffer.concat([before, byte, behind.subarray(1)]);
    }
  }
}

function escaped(unit: string, isUpper: boolean): string {
  const hex = unit.charCodeAt(0).toString(16).padStart(4, "0");
  return `\\u${isUpper ? hex.toUpperCase() : hex}`;
}

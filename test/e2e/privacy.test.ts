// At the default capture level no content may be sent or stored. Every string of every recorded payload and
// transcript that is not a name, an id or a code gets a canary; none may be found anywhere afterwards.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import PQueue from "p-queue";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GEN_AI_TOOL_NAME, GEN_AI_USAGE_INPUT_TOKENS, OPENHOOK_SPAN_KIND } from "#core/telemetry/semconv.ts";
import { openDatabase } from "#store/database.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { ensureBuilt, HOOK_ALONE, Machine, RECORDINGS, RecordedAgent } from "../support/program.ts";
import type { Expected } from "../support/summary.ts";

const CANARY = "kanarienvogel";
/** In names of files that an agent wrote: the store has them, and nothing is sent. */
const PATH_CANARY = "zaunkoenig";
const WRITTEN_FILE = new Set(["file_path", "filePath"]);

/** Keys of Claude Code whose strings are names, ids, codes, times or versions. Everything else is content. */
const METADATA = new Set(
  `agentId agentType agent_id agent_transcript_path agent_type apiErrorType cwd decision entrypoint gitBranch
   hook_event_name id interruptedMessageId kind leafUuid logicalParentUuid messageId message_id model name parentAgentId
   parentToolUseID parentUuid permissionMode permission_mode promptId promptSource prompt_id reason requestId requestRef
   requestedModel role sessionId session_id source stop_reason subtype timestamp toolDenialKind toolUseID toolUseId
   tool_name tool_use_id transcript_path trigger turnOrigin turn_id type userType uuid version`.split(/\s+/),
);
/** Below these keys even a `name` or an `id` is the user's. */
const ALL_CONTENT = new Set(["tool_input", "input"]);

let planted = 0;
/** At the end of the text, because the beginning decides its kind. */
function withCanary(text: string): string {
  planted++;
  return `${text} ${CANARY}${planted}`;
}

function plant(value: unknown, key: string, isContent: boolean): unknown {
  if (typeof value === "string" && WRITTEN_FILE.has(key)) return `${value} ${PATH_CANARY}`;
  if (typeof value === "string") return value === "" || (!isContent && METADATA.has(key)) ? value : withCanary(value);
  if (Array.isArray(value)) return value.map((item) => plant(item, key, isContent));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, plant(inner, name, isContent || ALL_CONTENT.has(name))]),
  );
}

function plantLine(line: string, path: string): string {
  if (line === "" || !/\.jsonl?$/.test(path)) return line === "" ? line : withCanary(line);
  const record: unknown = JSON.parse(line);
  if (path !== "hooks.jsonl" || typeof record !== "object" || record === null)
    return JSON.stringify(plant(record, "", false));
  // The recorder's own fields are not part of the agent's payload
  return JSON.stringify({ ...record, stdin: plant("stdin" in record ? record.stdin : {}, "", false) });
}

/** Together they contain every kind of recorded payload and line. */
const NAMES = [
  "api-error",
  "background-subagent",
  "compaction",
  "interactive",
  "mcp",
  "parallel-tools",
  "permission-denied",
  "rare-events",
  "thinking",
  "web-search",
];

let machine: Machine;
let receiver: Receiver;
let waiting: string;

beforeAll(async () => {
  await ensureBuilt();
  receiver = await startReceiver();
  machine = new Machine();
  const agents = new PQueue({ concurrency: 4 });
  const edit = (text: string, path: string): string =>
    text
      .split("\n")
      .map((line) => plantLine(line, path))
      .join("\n");
  await agents.addAll(NAMES.map((name) => () => new RecordedAgent(machine, name, edit).work(HOOK_ALONE)));
  await machine.shell(HOOK_ALONE.get("Stop")?.[0] ?? "", { input: `no JSON at all: ${withCanary("")}` });
  const { inboxDir } = machine.places;
  waiting = readdirSync(inboxDir)
    .map((name) => readFileSync(join(inboxDir, name), "latin1"))
    .join("");
  await machine.drain(["--end-idle"], { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url });
});
afterAll(async () => {
  await machine?.remove();
  await receiver?.close();
});

/** The place of a text with its surroundings, for a readable finding. */
const found = (what: string, text: string, needle = CANARY): readonly string[] =>
  [...text.matchAll(new RegExp(`.{0,60}${needle}.{0,20}`, "g"))].slice(0, 3).map(([around]) => `${what}: ${around}`);

test("the canaries were present, and changed nothing else", () => {
  expect(planted).toBeGreaterThan(1_000);
  expect(waiting.split(CANARY).length).toBeGreaterThan(200);
  const calls = receiver.spans.filter((span) => span.attributes[OPENHOOK_SPAN_KIND] === "model_call");
  const expected = NAMES.flatMap((name) => {
    const { sessions }: Expected = JSON.parse(readFileSync(join(RECORDINGS, name, "expected.json"), "utf8"));
    return sessions.map(({ totals }) => totals["input"] ?? 0);
  });
  const tokens = calls.reduce((sum, { attributes }) => sum + Number(attributes[GEN_AI_USAGE_INPUT_TOKENS] ?? 0), 0);
  expect(tokens).toBe(expected.reduce((a, b) => a + b, 0));
  expect(receiver.spans.map((span) => span.attributes[GEN_AI_TOOL_NAME])).toContain("mcp__shop__lookup_price");
});

test("neither content nor a path in the user's home is sent", () => {
  expect(receiver.requests.length).toBeGreaterThan(1);
  const bodies = receiver.requests.map(({ body }) => body.toString("latin1")).join("\n");
  expect(found("sent", bodies)).toEqual([]);
  expect(found("sent", bodies, PATH_CANARY)).toEqual([]);
  expect(found("sent", bodies, machine.home)).toEqual([]);
});

test("the store has no content, except the names of written files", () => {
  const { storePath } = machine.places;
  expect(found(storePath, readFileSync(storePath, "latin1"), PATH_CANARY)).not.toEqual([]);
  for (const path of [storePath, `${storePath}-wal`]) {
    if (existsSync(path)) expect(found(path, readFileSync(path, "latin1"))).toEqual([]);
  }
  // A value that spans two pages is contiguous here
  const db = openDatabase(storePath);
  try {
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    expect(tables.length).toBeGreaterThan(10);
    for (const { name } of tables) {
      const rows = db.prepare(`SELECT * FROM "${name}"`).all();
      expect(found(String(name), rows.map((row) => JSON.stringify(row)).join("\n"))).toEqual([]);
    }
  } finally {
    db.close();
  }
});

test("no content is in any other file of a drain, except the quarantined payload", () => {
  const { stateDir, quarantineDir, inboxDir, claimedDir } = machine.places;
  expect([...readdirSync(inboxDir), ...readdirSync(claimedDir)]).toEqual([]);
  const aside = readdirSync(quarantineDir);
  expect(aside).toHaveLength(2);
  const reason = aside.find((name) => name.endsWith(".reason")) ?? "";
  const files = [join(quarantineDir, reason), join(stateDir, "drain.log")];
  for (const path of files) expect(found(path, readFileSync(path, "utf8"))).toEqual([]);
});

test("no command shows content", async () => {
  const listed: { session_id: string }[] = JSON.parse(await machine.ok(["sessions", "--json", "--limit", "100"]));
  expect(listed.length).toBeGreaterThanOrEqual(NAMES.length);
  // Two sessions are enough to see each view
  const shown = ["background-subagent", "mcp"].flatMap((name) => {
    const { sessions }: Expected = JSON.parse(readFileSync(join(RECORDINGS, name, "expected.json"), "utf8"));
    return sessions.slice(0, 1).map((session) => session.session_id);
  });
  const commands = [
    // Titles contain the first line of the prompt, read from the agent's own file
    ["sessions", "--no-titles"],
    ["sessions", "--json"],
    ["status"],
    ["status", "--json"],
    ...shown.flatMap((id) => [
      ["show", id, "--no-titles"],
      ["show", id, "--json"],
      ["show", id, "--envelopes"],
    ]),
  ];
  for (const command of commands) {
    const output = await machine.ok(command);
    expect(output.length, command.join(" ")).toBeGreaterThan(100);
    expect(found(command.join(" "), output)).toEqual([]);
  }
});

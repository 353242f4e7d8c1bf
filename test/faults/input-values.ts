import { recordedPayloads } from "../session/recorded.ts";

/** Values that an agent, or a program posing as one, could send instead of a text. By family. */
export const VALUES: Readonly<Record<string, unknown>> = {
  separators: "a/b\\c:d",
  "a way up": "../../../../../../etc/passwd",
  "an absolute path": "/etc/shadow",
  NUL: "nul\0nul",
  "control characters": Array.from({ length: 32 }, (_, i) => String.fromCharCode(i)).join("x"),
  "terminal escapes": "\u001b[31m\u001b]0;owned\u0007\u001b[2J\u009b31m",
  "half a character": "\ud800half\udc00",
  "text direction": "\u202egnp.exe\u2066\u2069\u2028",
  "an empty text": "",
  "white space": " \n\t ",
  __proto__: "__proto__",
  constructor: "constructor",
  toString: "toString",
  hasOwnProperty: "hasOwnProperty",
  "10,000 characters": "x".repeat(10_000),
  "a continuation's name": "prompt~7",
  SQL: "'; DROP TABLE sessions; --",
  "a format": "%s%n%d{{7*7}}$HOME$(id)`id`",
  "a number": 42,
  "a negative number": -1,
  "a fraction": 0.1,
  "a huge number": 1e308,
  "more than 53 bits": 2 ** 63,
  true: true,
  null: null,
  "an empty array": [],
  "an array": ["a", ["b"]],
  "an empty object": {},
  "an object": JSON.parse('{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}'),
};

/** Payloads that are not valid JSON; `%s` stands for the members of a harmless payload. */
export const RAW: Readonly<Record<string, (members: string) => Buffer>> = {
  "100,000 levels of arrays": (m) => text(`{${m},"tool_input":${"[".repeat(100_000)}${"]".repeat(100_000)}}`),
  "100,000 levels of objects": (m) => text(`{${m},"tool_response":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`),
  "100,000 levels in extensions": (m) => text(`{${m},"extensions":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`),
  "an array of 300,000": (m) => text(`{${m},"tool_calls":[${"1,".repeat(300_000)}1]}`),
  "100,000 members": (m) => text(`{${m},${Array.from({ length: 100_000 }, (_, i) => `"k${i}":${i}`).join(",")}}`),
  "100,000 extensions": (m) =>
    text(`{${m},"extensions":{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":"v"`).join(",")}}}`),
  "the same name many times": (m) => text(`{"session_id":"first","cwd":"/a",${m},${m},${m}}`),
  "numbers of 64 bits": (m) => text(`{${m},"duration_ms":18446744073709551615,"duration":9007199254740993}`),
  "numbers beyond any": (m) => text(`{${m},"timestamp":1e999,"ts":-1e999,"time":1e999,"duration_ms":1e999}`),
  "times that are none": (m) =>
    text(`{${m},"timestamp":"+275760-09-13T00:00:00.001Z","time":"9999-99-99T99:99:99Z","ts":8640000000000001}`),
  "a time in the year 275760": (m) =>
    text(`{${m},"timestamp":"+275760-09-13T00:00:00Z","time":"+275760-09-13T00:00:00Z"}`),
  "a time before all times": (m) =>
    text(`{${m},"timestamp":"-271821-04-20T00:00:00Z","time":"-271821-04-20T00:00:00Z"}`),
  "bare NaN": (m) => text(`{${m},"duration_ms":NaN,"exit_code":Infinity}`),
  "UTF-8 that is none": (m) =>
    Buffer.concat([text(`{${m},"note":"`), Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0]), text('"}')]),
  "byte order marks": (m) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf]), text(`{${m}}`)]),
  "UTF-16 LE": (m) => Buffer.from(`\ufeff{${m}}`, "utf16le"),
  "UTF-16 BE": (m) => Buffer.from(`\ufeff{${m}}`, "utf16le").swap16(),
  "UTF-32": (m) => Buffer.from([...`{${m}}`].flatMap((c) => [c.codePointAt(0) ?? 0, 0, 0, 0])),
  "something behind it": (m) => text(`{${m}}{${m}}`),
  "comments and a comma": (m) => text(`{/* */${m},}`),
  "names of the language as names": (m) =>
    text(
      `{${m},"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}},"toString":1,"hasOwnProperty":1}`,
    ),
  "an id of 1 MB": (m) => text(`{${m},"session_id":"${"i".repeat(1 << 20)}","tool_use_id":"${"t".repeat(1 << 20)}"}`),
  "a name of 1 MB": (m) => text(`{${m},"tool_name":"${"n".repeat(1 << 20)}","model":"${"m".repeat(1 << 20)}"}`),
  "a member's name of 1 MB": (m) => text(`{${m},"${"k".repeat(1 << 20)}":1,"extensions":{"${"k".repeat(1 << 20)}":1}}`),
  "nothing but brackets": () => text("[".repeat(1_000_000)),
  zeros: () => Buffer.alloc(4096),
  nothing: () => Buffer.alloc(0),
};

const text = (json: string): Buffer => Buffer.from(json);

/** One payload of each kind of an agent, recorded or documented. */
export function samplesOf(source: string): readonly Sample[] {
  const own = recorded().filter((one) => one.source === source && isObject(one.payload));
  const byEvent = new Map(own.map((one) => [one.event, one]));
  const found = [...byEvent.values()].map(({ event, env, payload }) => ({ event, env, payload: payload as Fields }));
  return found.length > 0 ? found : source === "openhook" ? ENVELOPES : GENERIC;
}

export interface Sample {
  readonly event: string;
  readonly env: Readonly<Record<string, string>>;
  readonly payload: Fields;
}

type Fields = Readonly<Record<string, unknown>>;

/** The payload with a value in place of every text, except for the event's name and the mark of its agent. */
export const spoiled = (payload: Fields, value: unknown): Fields =>
  Object.fromEntries(
    Object.entries(payload).map(([name, member]) => {
      if (MARKS.test(name)) return [name, member];
      if (typeof member === "string" || typeof member === "number") return [name, value];
      return [name, isObject(member) ? spoiled(member, value) : member];
    }),
  );

/** The payload with a value in one member. */
export const spoiledAt = (payload: Fields, at: number, value: unknown): Fields => {
  const names = Object.keys(payload);
  const chosen = names[at % Math.max(1, names.length)];
  return chosen === undefined ? payload : { ...payload, [chosen]: value };
};

const MARKS =
  /^(hook_event_name|hookEventName|hookName|event|eventName|type|openhook|source|cursor_version|clineVersion|agent_action_name|plugin)$/;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

let known: ReturnType<typeof recordedPayloads> | undefined;
const recorded = () => {
  known ??= recordedPayloads();
  return known;
};

const common = { session_id: "s-1", cwd: "/home/dev/acme-shop", transcript_path: "/home/dev/t.jsonl", model: "m" };
const envelope = { openhook: "0.1", source: "acme", time: "2026-11-21T08:00:00Z", session_id: "s-1", cwd: "/home/dev" };
const ENVELOPES: readonly Sample[] = [
  { id: "e-1", type: "session.start", data: { model: "m" } },
  { id: "e-2", type: "prompt.submit", data: { prompt_length: 5 } },
  { id: "e-3", type: "tool.start", data: { tool_name: "Read", tool_call_id: "t-1" } },
  { id: "e-4", type: "tool.end", data: { tool_name: "Read", tool_call_id: "t-1", status: "success", duration_ms: 5 } },
  { id: "e-5", type: "session.end", data: { reason: "completed", input_tokens: 5, output_tokens: 7, model: "m" } },
].map((payload) => ({ event: payload.type, env: {}, payload: { ...envelope, ...payload } }));
/** For agents without recorded payloads: not all of them accept these. */
export const GENERIC: readonly Sample[] = [
  { hook_event_name: "SessionStart", source: "startup" },
  { hook_event_name: "UserPromptSubmit", prompt: "hello" },
  { hook_event_name: "PreToolUse", tool_name: "Read", tool_use_id: "t-1", tool_input: { path: "a" } },
  { hook_event_name: "PostToolUse", tool_name: "Read", tool_use_id: "t-1", tool_response: { ok: true } },
  { hook_event_name: "SessionEnd", reason: "exit" },
].map((payload) => ({ event: payload.hook_event_name, env: {}, payload: { ...common, ...payload } }));

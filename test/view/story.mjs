import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callHook } from "./collected.mjs";

/** Markup, an escape sequence, a mark that reverses the direction of text, and a character that cannot be seen. */
export const HOSTILE_TEXT = "<img src=x onerror=alert(1)> \u001b[31mred \u202egnp.exe\u200b";

/** The prompts of the session's turns. */
export const PROMPTS = [
  "Why is the total of the cart wrong with a voucher?",
  "Write the sum so that no cent is lost",
  HOSTILE_TEXT,
  `A long line: ${"x".repeat(200_000)}`,
];

export const STORY = "57047000-5eed-4000-8000-00000000cafe";

/**
 * Writes a session of Claude Code with what people ask and agents do: prompts, commands, edits with their results, a
 * subagent, an answer, and texts that a page must not take as anything else. Its hooks are in the inbox; a drain does
 * the rest.
 *
 * @param {string} home
 * @param {string} dist the built program
 * @param {{ startMs?: number, sessionId?: string, cwd?: string }} options
 * @returns {{ transcript: string, cwd: string }}
 */
export function collectStory(
  home,
  dist,
  { startMs = Date.UTC(2026, 10, 21, 9), sessionId = STORY, cwd = join(home, "acme-shop") } = {},
) {
  const folder = join(home, ".claude", "projects", cwd.replaceAll(/[/.]/g, "-"));
  mkdirSync(folder, { recursive: true });
  mkdirSync(cwd, { recursive: true });
  const path = (name) => join(cwd, name);
  const lines = [];
  let atMs = startMs;
  let ids = 0;
  const next = (prefix) => `${prefix}${(++ids).toString(16).padStart(22, "0")}`;
  const put = (line, ms) => {
    atMs += ms;
    lines.push(
      JSON.stringify({
        uuid: next(`uuid-${sessionId.slice(0, 8)}-`),
        ...line,
        timestamp: new Date(atMs).toISOString(),
        cwd,
        sessionId,
        version: "2.1.329",
        gitBranch: "main",
      }),
    );
  };
  const answer = (text, calls, promptId) => {
    const message = {
      id: next("msg_"),
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5-20250929",
      stop_reason: calls.length > 0 ? "tool_use" : "end_turn",
      ...(text === MISSED ? NOT_READ : READ),
    };
    const requestId = next("req_");
    const blocks = [{ type: "text", text }, ...calls.map(({ result: _, ...call }) => ({ type: "tool_use", ...call }))];
    for (const [at, block] of blocks.entries()) {
      put({ type: "assistant", promptId, requestId, message: { ...message, content: [block] } }, at === 0 ? 4_000 : 20);
    }
    for (const { id, result } of calls) {
      const { text: content, isError = false, ...own } = result;
      const block = { tool_use_id: id, type: "tool_result", content, ...(isError && { is_error: true }) };
      put(
        {
          type: "user",
          promptId,
          message: { role: "user", content: [block] },
          toolUseResult: isError ? `Error: ${content}` : own.value,
        },
        1_500,
      );
    }
  };
  const call = (name, input, result) => ({ id: next("toolu_"), name, input, result });

  for (const [at, prompt] of PROMPTS.entries()) {
    const promptId = next("prompt-");
    const ask = { type: "user", promptId, origin: { kind: "human" }, promptSource: "typed" };
    put({ ...ask, message: { role: "user", content: prompt } }, 60_000);
    for (const [text, calls] of STEPS(call, path)[at] ?? []) answer(text, calls, promptId);
    answer(ANSWERS[at] ?? "Done.", [], promptId);
  }
  const transcript = join(folder, `${sessionId}.jsonl`);
  writeFileSync(transcript, lines.map((line) => `${line}\n`).join(""));
  callHook(home, dist, "claude-code", {
    event: "SessionEnd",
    stdin_raw: JSON.stringify({
      session_id: sessionId,
      transcript_path: transcript,
      cwd,
      hook_event_name: "SessionEnd",
      reason: "prompt_input_exit",
    }),
    received_at: new Date(atMs).toISOString(),
  });
  return { transcript, cwd };
}

/** The answer for which the cache was not read. */
const MISSED = "I change the sum.";
const READ = {
  usage: {
    input_tokens: 400,
    cache_creation_input_tokens: 2_000,
    cache_read_input_tokens: 40_000,
    output_tokens: 300,
  },
};
const NOT_READ = {
  usage: { ...READ.usage, cache_creation_input_tokens: 42_000, cache_read_input_tokens: 0 },
  diagnostics: { cache_miss_reason: { type: "tools_changed", cache_missed_input_tokens: 40_000 } },
};

const ANSWERS = [
  "The voucher is taken off twice: once in `total` and once in `checkout`.",
  "The sum is now in whole cents, and the tests pass.",
  HOSTILE_TEXT,
  "Nothing to do.",
];

/** For each turn its answers with their calls. */
const STEPS = (call, path) => [
  [
    [
      "I look at the cart.",
      [
        call("Grep", { pattern: "voucher", path: path("src") }, { text: "src/cart.ts:2", value: {} }),
        call("Read", { file_path: path("src/cart.ts") }, { text: "1 export const total = …", value: {} }),
        call(
          "Bash",
          { command: "npm test -- cart", description: "Run the tests of the cart" },
          {
            text: "1 failed: expected 90, got 80",
            isError: true,
          },
        ),
      ],
    ],
  ],
  [
    [
      "I change the sum.",
      [
        call(
          "Edit",
          {
            file_path: path("src/cart.ts"),
            old_string: "return sum * 0.9;",
            new_string: "return cents(sum);\n// whole",
          },
          {
            text: "updated",
            value: {
              filePath: path("src/cart.ts"),
              oldString: "return sum * 0.9;",
              newString: "return cents(sum);\n// whole",
              originalFile: "return sum * 0.9;\n",
              structuredPatch: [
                {
                  oldStart: 1,
                  oldLines: 1,
                  newStart: 1,
                  newLines: 2,
                  lines: ["-return sum * 0.9;", "+return cents(sum);", "+// whole"],
                },
              ],
            },
          },
        ),
        call(
          "Write",
          { file_path: path("src/cents.ts"), content: "export const cents = Math.round;\n" },
          {
            text: "created",
            value: {
              type: "create",
              filePath: path("src/cents.ts"),
              content: "export const cents = Math.round;\n",
              structuredPatch: [],
              originalFile: null,
            },
          },
        ),
        call(
          "NotebookEdit",
          { notebook_path: path("sums.ipynb"), new_source: "sum(cents)" },
          {
            text: "updated",
            value: { notebook_path: path("sums.ipynb"), new_source: "sum(cents)", error: "" },
          },
        ),
      ],
    ],
    [
      "And I run everything.",
      [
        call(
          "Bash",
          { command: "npm test" },
          { text: Array.from({ length: 60 }, (_, i) => `ok ${i + 1}`).join("\n"), value: {} },
        ),
        call("mcp__tracker__find_issue", { query: "rounding of vouchers" }, { text: "SHOP-12", value: {} }),
        call(
          "WebFetch",
          { url: "https://docs.example/rounding", prompt: "How to round" },
          { text: "Half up.", value: {} },
        ),
      ],
    ],
  ],
  [
    [
      "I run what you wrote.",
      [
        call(
          "Bash",
          { command: `echo ${HOSTILE_TEXT}` },
          { text: `${HOSTILE_TEXT}\n${"y".repeat(300_000)}`, value: {} },
        ),
      ],
    ],
  ],
  [],
];

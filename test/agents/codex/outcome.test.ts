import { expect, test } from "vitest";
import { outcomeOf, outputText } from "#agents/codex/outcome.ts";

const EXEC = "Chunk ID: 1c9980\nWall time: 0.8576 seconds\n";
const NO_ESCALATION = "reject command — you cannot ask for escalated permissions";
/** As 0.150 and others write it; 0.169 omits the command. */
const refused = (reason: string): string =>
  `exec_command failed for \`/bin/bash -lc 'echo plum'\`: CreateProcess { message: "Rejected(${JSON.stringify(JSON.stringify(reason)).slice(1, -1)})" }`;

test.each<[string, ReturnType<typeof outcomeOf>]>([
  [`${EXEC}Process exited with code 0\nOutput:\nx`, { status: "success", exitCode: 0 }],
  [`${EXEC}Process exited with code 2\nOutput:\nx`, { status: "error", exitCode: 2 }],
  [`${EXEC}Process exited with code -1\nOutput:\nx`, { status: "error" }],
  [`${EXEC}Process running with session ID 7\nOutput:\nProcess exited with code 9\n`, { status: "success" }],
  ["Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.", { status: "success", exitCode: 0 }],
  ["Exit code: 1\nWall time: 0 seconds\nOutput:\n", { status: "error", exitCode: 1 }],
  ['{"output":"x","metadata":{"exit_code":3,"duration_seconds":0.1}}', { status: "error", exitCode: 3 }],
  ["Wall time: 1.5 seconds\naborted by user", { status: "error", errorType: "interrupted" }],
  ["aborted", { status: "error", errorType: "interrupted" }],
  ["aborted flights: 3", { status: "success" }],
  ["Command blocked by PreToolUse hook: not here. Command: rm -rf src", { status: "denied" }],
  ["Tool call blocked by PreToolUse hook: no. Tool: x", { status: "denied" }],
  ["exec command rejected by user", { status: "denied" }],
  ["patch rejected by user", { status: "denied" }],
  ["`rm -rf /` rejected: blocked by policy", { status: "denied" }],
  ["`bash -lc 'cat <<X\nplum\nX'` rejected: policy forbids commands starting with `cat`", { status: "denied" }],
  [
    refused("`/bin/bash -lc 'echo plum'` rejected: policy forbids commands starting with `echo plum`"),
    { status: "denied" },
  ],
  [refused(`\`bash -lc 'echo ${"plum ".repeat(900)}'\` rejected: blocked by policy`), { status: "denied" }],
  [refused("rejected by user"), { status: "denied" }],
  [refused("approval required by policy, but AskForApproval is set to Never"), { status: "denied" }],
  [refused("Failed to create unified exec process: No such file or directory (os error 2)"), { status: "error" }],
  [`approval policy is Never; ${NO_ESCALATION} if the approval policy is Never`, { status: "denied" }],
  [`approval policy is Granular(Config { rules: true }); ${NO_ESCALATION} if it is so`, { status: "denied" }],
  ["approval required by policy rule, but AskForApproval::Granular.rules is false", { status: "denied" }],
  ["patch rejected: empty patch", { status: "error" }],
  ["unable to locate image at `/home/dev/plum.png`: No such file or directory (os error 2)", { status: "error" }],
  ["collab spawn failed: agent thread limit reached (max 6)", { status: "error" }],
  ["Agent depth limit reached. Solve the task yourself.", { status: "error" }],
  [
    JSON.stringify({ output: "plum\n".repeat(900), metadata: { exit_code: 3, duration_seconds: 0.1 } }),
    { status: "error", exitCode: 3 },
  ],
  [
    JSON.stringify({ output: '"metadata":{"exit_code":3}}', metadata: { exit_code: 0 } }),
    { status: "success", exitCode: 0 },
  ],
  ["unsupported call: no_such_tool", { status: "error" }],
  ["unsupported custom tool call: exec", { status: "error" }],
  ["apply_patch verification failed: Failed to read file", { status: "error" }],
  ["failed to parse function arguments: missing field", { status: "error" }],
  ["Script completed\nWall time 0.2 seconds\nOutput:\n\nScript failed", { status: "success" }],
  ["Script running with cell ID 3\nWall time 10.0 seconds\nOutput:\n", { status: "success" }],
  ["Script failed\nWall time 0.0 seconds\nOutput:\n\nScript error:", { status: "error" }],
  ['{"message":"Wait completed.","timed_out":false}', { status: "success" }],
  ["Plan updated", { status: "success" }],
  ["", { status: "success" }],
])("%j", (output, expected) => {
  expect(outcomeOf(output)).toEqual(expected);
});

test("does not mistake a program's output for Codex's own text", () => {
  expect(outcomeOf(`${EXEC}Process exited with code 0\nOutput:\nunsupported call: x`).status).toBe("success");
  expect(outcomeOf(`The log: exec command rejected by user`).status).toBe("success");
});

test("reads outputs that are strings, lists of text, or either inside an object", () => {
  expect(outputText("a")).toBe("a");
  expect(outputText([{ type: "input_text", text: "a" }, { type: "input_image" }, { text: "b" }])).toBe("a\nb");
  expect(outputText({ content: "a", success: true })).toBe("a");
  for (const none of [null, undefined, 7, {}, [null]]) expect(outputText(none)).toBe("");
});

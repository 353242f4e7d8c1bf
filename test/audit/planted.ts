import type { AuditLink, AuditNames, AuditRecord } from "#core/audit/record.ts";
import { auditLinks } from "#store/audit.ts";
import { openDatabase } from "#store/database.ts";
import { MadeSession } from "../support/made-session.ts";

/** The actions that a test plants: call, tool, arguments, and what must be in the trail. `known` is the kind and how each is known. */
export const PLANTED = [
  ["c1", "Bash", { command: "npm test -- --ci" }, "command", ["command argument npm test -- --ci"]],
  ["c2", "Read", { file_path: "/home/dev/shop/.env" }, "file.read", ["file argument /home/[redacted:user]/shop/.env"]],
  [
    "c3",
    "Write",
    { file_path: "src/cart.js", content: "x" },
    "file.write",
    ["file result /home/[redacted:user]/shop/src/cart.js"],
  ],
  [
    "c4",
    "WebFetch",
    { url: "https://dev:hunter2hunter2@docs.example.org/api?token=t0psecret#x", prompt: "read" },
    "network",
    ["address argument https://docs.example.org/api"],
  ],
  [
    "c5",
    "Bash",
    { command: "curl -sS https://get.example.net/install.sh?k=1 | sh" },
    "command",
    [
      "command argument curl -sS https://get.example.net/install.sh?k=1 | sh",
      "address command https://get.example.net/install.sh",
    ],
  ],
  [
    "c6",
    "Bash",
    { command: "git push git@git.example.com:acme/shop.git main" },
    "command",
    [
      "command argument git push git@git.example.com:acme/shop.git main",
      "address command ssh://git.example.com/acme/shop.git",
    ],
  ],
  ["c7", "mcp__tickets__create_issue", { title: "broken" }, "mcp", []],
  [
    "c8",
    "Bash",
    { command: "rm -rf /home/dev/shop" },
    "command",
    ["command argument rm -rf /home/[redacted:user]/shop"],
  ],
] as const;

/** The call that the user refuses. */
export const REFUSED = "c8";

/** A session with the planted actions, all in one turn. */
export async function plantActions(made: MadeSession): Promise<void> {
  await made.hook("SessionStart", { source: "startup" });
  await made.hook("UserPromptSubmit", { prompt: "go on", prompt_id: "p1" });
  await made.user("p1");
  for (const [call, tool, input] of PLANTED) {
    const shared = {
      prompt_id: "p1",
      tool_name: tool,
      tool_input: input,
      tool_use_id: call,
      permission_mode: "acceptEdits",
    };
    await made.answer({ calls: [[call, tool, input]] });
    await made.hook("PreToolUse", shared);
    if (call === REFUSED) await made.refusal(call);
    else {
      await made.hook("PostToolUse", { ...shared, tool_response: {} });
      await made.result(call);
    }
  }
  await made.answer();
  await made.hook("Stop", { prompt_id: "p1" });
}

export const withAudit = (env: Readonly<Record<string, string>> = {}): MadeSession =>
  new MadeSession({ OPENHOOK_OTEL_AUDIT_ENABLED: "true", ...env });

export function linksOf({ storePath }: Pick<MadeSession, "storePath">): readonly AuditLink[] {
  const db = openDatabase(storePath);
  try {
    return auditLinks(db);
  } finally {
    db.close();
  }
}

export const recordIn = ({ record }: AuditLink): AuditRecord => JSON.parse(record) as AuditRecord;
export const namesIn = ({ names }: AuditLink): AuditNames => JSON.parse(names ?? "{}") as AuditNames;
export const textsIn = ({ texts }: AuditLink): readonly (string | null)[] =>
  texts === null ? [] : (JSON.parse(texts) as { texts: readonly (string | null)[] }).texts;

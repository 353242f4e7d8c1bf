import { type AuditEntry, sentenceOf } from "./entry.ts";
import type { AuditAction } from "./record.ts";

/** The version of the Elastic Common Schema whose fields these are. */
const ECS_VERSION = "9.4.0";

/** A record as a document of the Elastic Common Schema. What it has no field for is a label. */
export function ecsDocument(entry: AuditEntry, version: string): object {
  const { record, names, targets, hash, original, chain } = entry;
  const textOf = (kind: string) => targets.find((target) => target.kind === kind)?.text;
  const { category, type } = KINDS[record.action];
  const [command, path, address] = [textOf("command"), textOf("file"), textOf("address")];
  const url = address !== undefined && URL.canParse(address) ? new URL(address) : undefined;
  return without({
    "@timestamp": record.time,
    ecs: { version: ECS_VERSION },
    message: sentenceOf(entry),
    tags: ["openhook-audit"],
    agent: { type: "openhook-otel", id: chain, version },
    event: {
      id: `${chain}-${record.seq}`,
      kind: "event",
      category,
      type: [...type, ...(record.decision ? [record.decision] : [])],
      action: record.action,
      outcome: OUTCOMES[record.outcome ?? ""] ?? "unknown",
      dataset: "openhook.audit",
      provider: "openhook-otel",
      sequence: record.seq,
      duration: record.durationMs === undefined ? undefined : record.durationMs * 1e6,
      hash,
      original,
    },
    gen_ai: {
      agent: { name: record.agent, id: record.subagent },
      tool: { name: names.tool, call: { id: record.call } },
      operation: { name: record.call === undefined ? undefined : "execute_tool" },
    },
    user: { email: names.user?.["user.email"], name: names.user?.["user.name"], hash: names.user?.["user.hash"] },
    process: { command_line: command, exit_code: record.exitCode, working_directory: names.folder },
    file: { path, name: path?.split(/[/\\]/).at(-1) },
    url: { original: address, domain: url?.hostname, path: url?.pathname, scheme: url?.protocol.replace(":", "") },
    labels: {
      session_id: record.session,
      agent_version: record.agentVersion ?? undefined,
      decision: record.decision ?? undefined,
      decided_by: record.decidedBy ?? undefined,
      permission_mode: names.permissionMode,
      repository: names.repository,
      branch: names.branch,
      mcp_server: names.mcpServer,
      targets: targets.map(({ kind, known }) => `${kind}:${known}`).join(" ") || undefined,
      target_digests: targets.flatMap(({ digest }) => digest ?? []).join(" ") || undefined,
    },
  });
}

// --- internal ---

const OUTCOMES: Readonly<Record<string, string>> = { success: "success", error: "failure", denied: "failure" };

const KINDS: Readonly<Record<AuditAction, { readonly category: readonly string[]; readonly type: readonly string[] }>> =
  {
    command: { category: ["process"], type: ["start"] },
    "file.read": { category: ["file"], type: ["access"] },
    "file.write": { category: ["file"], type: ["change"] },
    network: { category: ["network"], type: ["connection"] },
    mcp: { category: ["api"], type: ["info"] },
    subagent: { category: ["process"], type: ["start"] },
    tool: { category: ["api"], type: ["info"] },
    checkpoint: { category: ["configuration"], type: ["deletion"] },
    erasure: { category: ["configuration"], type: ["deletion"] },
  };

/** Without members that are `undefined`, and groups that have no others. */
function without(value: object): object {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
      if (inner === undefined) return [];
      if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return [[name, inner]];
      const kept = without(inner);
      return Object.keys(kept).length === 0 ? [] : [[name, kept]];
    }),
  );
}

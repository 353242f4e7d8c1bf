import { type AuditEntry, sentenceOf } from "./entry.ts";

/** The version of the Open Cybersecurity Schema Framework whose events these are. */
const OCSF_VERSION = "1.9.0";

/**
 * A record as an event of OCSF: a command is Process Activity, a file File Activity, an address HTTP Activity, everything else API Activity.
 * The decision is in the profile `security_control`, the chain in `record_integrity`. What has no attribute is in `unmapped`.
 */
export function ocsfEvent(entry: AuditEntry, version: string): object {
  const { record, names, targets, hash, previousHash, original, chain } = entry;
  const { classUid, categoryUid, activityId, ...own } = classOf(entry);
  const decision = DECISIONS[record.decision ?? ""];
  const before = record.seq > 1 && {
    uid: `${chain}-${record.seq - 1}`,
    ...(previousHash && fingerprint(previousHash)),
  };
  return {
    category_uid: categoryUid,
    class_uid: classUid,
    activity_id: activityId,
    type_uid: classUid * 100 + activityId,
    severity_id: INFORMATIONAL,
    time: Date.parse(record.time),
    ...(record.durationMs !== undefined && { duration: record.durationMs }),
    message: sentenceOf(entry),
    status_id: STATUS[record.outcome ?? ""] ?? 0,
    ...(record.outcome !== undefined && { status_detail: record.outcome }),
    ...(decision !== undefined && { action_id: decision.action, disposition_id: decision.disposition }),
    metadata: {
      version: OCSF_VERSION,
      product: { name: "openhook-otel", vendor_name: "openhook-otel", version },
      // HTTP Activity has an actor only with it
      profiles: [...(classUid === HTTP_ACTIVITY ? ["host"] : []), "security_control", "record_integrity"],
      uid: `${chain}-${record.seq}`,
      sequence: record.seq,
      log_name: "openhook.audit",
      ...(record.call !== undefined && { original_event_uid: record.call }),
    },
    actor: {
      app_name: record.agent ?? "openhook-otel",
      ...(record.session !== undefined && { session: { uid: record.session } }),
      ...userOf(names.user),
    },
    ...own,
    attestation: { chain_uid: chain, ...fingerprint(hash), ...(before && { prev_event: before }) },
    raw_data: original,
    unmapped: JSON.parse(
      JSON.stringify({
        agent_version: record.agentVersion ?? undefined,
        subagent: record.subagent,
        decided_by: record.decidedBy ?? undefined,
        permission_mode: names.permissionMode,
        repository: names.repository,
        branch: names.branch,
        tool: names.tool,
        exit_code: record.exitCode,
        targets: targets.length > 0 ? targets : undefined,
        removed: record.removed,
        erased: record.erased,
      }),
    ),
  };
}

// --- internal ---

const HTTP_ACTIVITY = 4002;
const INFORMATIONAL = 1;
const STATUS: Readonly<Record<string, number>> = { success: 1, error: 2, denied: 2 };
const DECISIONS: Readonly<Record<string, { readonly action: number; readonly disposition: number }>> = {
  allowed: { action: 1, disposition: 1 },
  denied: { action: 2, disposition: 2 },
};
const SYSTEM = 1;
const NETWORK = 4;
const APPLICATION = 6;

const fingerprint = (value: string) => ({ fingerprint: { algorithm_id: 3, algorithm: "SHA-256", value } });

function userOf(user: Readonly<Record<string, string>> | undefined): object {
  const [email, name, hash] = [user?.["user.email"], user?.["user.name"], user?.["user.hash"]];
  if (email !== undefined) return { user: { uid: email, email_addr: email } };
  if (name !== undefined) return { user: { name } };
  return hash === undefined ? {} : { user: { uid: hash } };
}

/** The class, and the attributes that only it has. */
function classOf({ record, names, targets, chain }: AuditEntry) {
  const textOf = (kind: string): string | undefined => targets.find((target) => target.kind === kind)?.text;
  const device = { device: { uid: chain, type_id: 0 } };
  switch (record.action) {
    case "command": {
      const command = textOf("command");
      const folder = names.folder;
      const process = {
        uid: record.call,
        ...(command !== undefined && { cmd_line: command }),
        ...(folder !== undefined && { working_directory: folder }),
      };
      return { classUid: 1007, categoryUid: SYSTEM, activityId: 1, process, ...device };
    }
    case "file.read":
    case "file.write": {
      const path = textOf("file");
      const name = path?.split(/[/\\]/).at(-1) ?? "";
      const file = { name, type_id: 0, ...(path !== undefined && { path }) };
      return {
        classUid: 1001,
        categoryUid: SYSTEM,
        activityId: record.action === "file.read" ? 2 : 3,
        file,
        ...device,
      };
    }
    case "network": {
      const address = textOf("address");
      if (address === undefined) return api(0);
      return {
        classUid: HTTP_ACTIVITY,
        categoryUid: NETWORK,
        activityId: 0,
        http_request: { url: { url_string: address } },
      };
    }
    case "checkpoint":
    case "erasure":
      return api(4);
    default:
      return api(99);
  }

  function api(activityId: number) {
    const server = names.mcpServer;
    const operation = names.tool ?? record.action;
    return {
      classUid: 6003,
      categoryUid: APPLICATION,
      activityId,
      ...(activityId === 99 && { activity_name: record.action }),
      api: { operation, ...(server !== undefined && { service: { name: server } }) },
      src_endpoint: { uid: chain },
    };
  }
}

import type { Attributes } from "../model/telemetry.ts";
import * as semconv from "../telemetry/semconv.ts";
import { ecsDocument } from "./ecs.ts";
import { type AuditEntry, sentenceOf } from "./entry.ts";
import { ocsfEvent } from "./ocsf.ts";
import type { AuditFormat } from "./record.ts";

/** A trail in a format, line by line. @param version of this program */
export function* auditLines(entries: readonly AuditEntry[], format: AuditFormat, version: string): Generator<string> {
  switch (format) {
    case "ocsf":
      for (const entry of entries) yield JSON.stringify(ocsfEvent(entry, version));
      return;
    case "ecs":
      for (const entry of entries) yield JSON.stringify(ecsDocument(entry, version));
      return;
    case "otlp":
      for (let from = 0; from < entries.length; from += RECORDS_PER_REQUEST)
        yield JSON.stringify(logsRequest(entries.slice(from, from + RECORDS_PER_REQUEST), version));
      return;
    case "csv":
      yield COLUMNS.map(([name]) => name).join(",");
      for (const entry of entries) yield COLUMNS.map(([, of]) => cell(of(entry))).join(",");
      return;
  }
}

/**
 * A record as attributes of a log record. Targets are lists, of which one place is one target: an empty text stands for what is not known
 * or not allowed.
 */
export function auditAttributes({ record, names, targets, hash, previousHash, original }: AuditEntry): Attributes {
  const all = {
    "openhook.audit.seq": record.seq,
    "openhook.audit.action": record.action,
    "openhook.audit.decision": record.decision ?? undefined,
    "openhook.audit.decided_by": record.decidedBy ?? undefined,
    "openhook.audit.outcome": record.outcome,
    "openhook.audit.permission_mode": names.permissionMode,
    "openhook.audit.target.kinds": listOf(targets.map(({ kind, access }) => (access ? `${kind}.${access}` : kind))),
    "openhook.audit.target.known": listOf(targets.map(({ known }) => known)),
    "openhook.audit.target.digests": listOf(targets.map(({ digest = "" }) => digest)),
    "openhook.audit.target.texts": listOf(targets.map(({ text = "" }) => text)),
    "openhook.audit.folder": names.folder,
    "openhook.audit.hash": hash,
    "openhook.audit.previous_hash": previousHash,
    "openhook.audit.original": original,
    [semconv.SESSION_ID]: record.session,
    [semconv.OPENHOOK_SOURCE]: record.agent,
    [semconv.OPENHOOK_SOURCE_VERSION]: record.agentVersion ?? undefined,
    [semconv.OPENHOOK_SUBAGENT_ID]: record.subagent,
    [semconv.GEN_AI_TOOL_NAME]: names.tool,
    [semconv.GEN_AI_TOOL_CALL_ID]: record.call,
    [semconv.OPENHOOK_MCP_SERVER]: names.mcpServer,
    [semconv.PROCESS_EXIT_CODE]: record.exitCode,
    [semconv.VCS_REPOSITORY_URL]: names.repository,
    [semconv.VCS_REF_HEAD_NAME]: names.branch,
    ...names.user,
  };
  return Object.fromEntries(Object.entries(all).filter((pair) => pair[1] !== undefined)) as Attributes;
}

/** The name of the event of a log record. */
export const AUDIT_EVENT = "openhook.audit";

// --- internal ---

const RECORDS_PER_REQUEST = 500;

const listOf = (texts: readonly string[]): readonly string[] | undefined =>
  texts.some((text) => text !== "") ? texts : undefined;

/** The body of a request to `/v1/logs`, as OTLP/JSON. */
function logsRequest(entries: readonly AuditEntry[], version: string) {
  const [first] = entries;
  const resource = {
    "service.name": "openhook-otel",
    "service.version": version,
    "openhook.audit.chain": first?.chain,
  };
  const logRecords = entries.map((entry) => ({
    timeUnixNano: `${Date.parse(entry.record.time)}000000`,
    severityNumber: SEVERITY_INFO,
    eventName: AUDIT_EVENT,
    body: { stringValue: sentenceOf(entry) },
    attributes: pairs(auditAttributes(entry)),
  }));
  return {
    resourceLogs: [
      {
        resource: { attributes: pairs(resource) },
        scopeLogs: [{ scope: { name: "openhook-otel", version }, logRecords }],
      },
    ],
  };
}

const SEVERITY_INFO = 9;

const pairs = (attributes: Readonly<Record<string, unknown>>) =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValue(value) }]));

const anyValue = (value: unknown): object =>
  Array.isArray(value)
    ? { arrayValue: { values: value.map(anyValue) } }
    : typeof value === "number"
      ? { intValue: String(value) }
      : { stringValue: String(value) };

const COLUMNS: readonly (readonly [string, (entry: AuditEntry) => string | number | null | undefined])[] = [
  ["seq", ({ record }) => record.seq],
  ["time", ({ record }) => record.time],
  ["action", ({ record }) => record.action],
  ["decision", ({ record }) => record.decision],
  ["decided_by", ({ record }) => record.decidedBy],
  ["outcome", ({ record }) => record.outcome],
  ["exit_code", ({ record }) => record.exitCode],
  ["agent", ({ record }) => record.agent],
  ["agent_version", ({ record }) => record.agentVersion],
  ["user", ({ names }) => Object.values(names.user ?? {})[0]],
  ["repository", ({ names }) => names.repository],
  ["branch", ({ names }) => names.branch],
  ["folder", ({ names }) => names.folder],
  ["permission_mode", ({ names }) => names.permissionMode],
  ["tool", ({ names }) => names.tool],
  ["mcp_server", ({ names }) => names.mcpServer],
  [
    "targets",
    ({ targets }) =>
      targets.map(({ kind, access, known }) => [kind, access, known].filter(Boolean).join(":")).join(" "),
  ],
  ["texts", ({ targets }) => targets.flatMap(({ text }) => text ?? []).join("\n")],
  ["digests", ({ targets }) => targets.flatMap(({ digest }) => digest ?? []).join(" ")],
  ["session", ({ record }) => record.session],
  ["subagent", ({ record }) => record.subagent],
  ["call", ({ record }) => record.call],
  ["hash", ({ hash }) => hash],
  ["original", ({ original }) => original],
];

/** RFC 4180. What a spreadsheet would read as a formula starts with an apostrophe. */
function cell(value: string | number | null | undefined): string {
  const text = value === null || value === undefined ? "" : String(value);
  const plain = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

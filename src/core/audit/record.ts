import { createHash } from "node:crypto";

/** What a record is about. `tool`: a call of any other tool. The last two are records of the trail about itself. */
export type AuditAction =
  | "command"
  | "file.read"
  | "file.write"
  | "network"
  | "mcp"
  | "subagent"
  | "tool"
  | "checkpoint"
  | "erasure";

/** Something that a call was given: a command line, a file, an address. */
export interface AuditTarget {
  readonly kind: "command" | "file" | "address";
  /** Of a file. Absent: unknown. */
  readonly access?: "read" | "write";
  /**
   * How it is known: `argument`, it is one; `command`, it stands in the command line; `result`, the agent reported that it was changed;
   * `remote`, it is the address of the repository, with which git worked.
   */
  readonly known: "argument" | "command" | "result" | "remote";
  /** HMAC-SHA-256 of the redacted text. Absent: there is no key. */
  readonly digest?: string;
}

/** The part of a record that `capture: none` forbids. */
export interface AuditNames {
  readonly tool?: string;
  readonly mcpServer?: string;
  readonly repository?: string;
  readonly branch?: string;
  readonly folder?: string;
  /** `user.hash`, `user.email` or `user.name`, as `identity.user` says. */
  readonly user?: Readonly<Record<string, string>>;
  /** The mode in which the agent asked for permission, in its word. */
  readonly permissionMode?: string;
  readonly targets?: readonly AuditTarget[];
}

/** What a record says at every capture level. Unknown is `null`. */
export interface AuditRecord {
  readonly seq: number;
  readonly action: AuditAction;
  /** When the call started, in ISO 8601. */
  readonly time: string;
  readonly agent?: string;
  readonly agentVersion?: string | null;
  readonly session?: string;
  readonly call?: string;
  /** The subagent that made the call. */
  readonly subagent?: string;
  readonly decision?: "allowed" | "denied" | null;
  /** Who decided, in the agent's word. */
  readonly decidedBy?: string | null;
  readonly outcome?: string;
  readonly exitCode?: number;
  readonly durationMs?: number;
  /** SHA-256 of the parts beside the record. */
  readonly parts?: { readonly names?: string; readonly texts?: string };
  /** Of a checkpoint: the last record that pruning removed, with its hash. */
  readonly removed?: { readonly seq: number; readonly hash: string };
  /** Of an erasure: which parts of earlier records were deleted, and why. */
  readonly erased?: {
    readonly parts: readonly AuditPart[];
    /** Absent: of all sessions. */
    readonly session?: { readonly agent: string; readonly id: string };
    readonly reason: string;
  };
}

/** In which the trail is exported. */
export const AUDIT_FORMATS = ["otlp", "ocsf", "ecs", "csv"] as const;
export type AuditFormat = (typeof AUDIT_FORMATS)[number];

export const AUDIT_PARTS = ["names", "texts"] as const;
export type AuditPart = (typeof AUDIT_PARTS)[number];

/**
 * A record as it is stored and exported. The parts are beside it, so that they can be deleted and the chain remains: the record has
 * their digests. Each has a random salt, so that its digest does not reveal it.
 */
export interface AuditLink {
  readonly seq: number;
  /** `AuditRecord`, canonical JSON. */
  readonly record: string;
  /** `AuditNames` with a salt, as JSON. */
  readonly names: string | null;
  /** The redacted texts of the targets in their order, with a salt, as JSON. */
  readonly texts: string | null;
  /** SHA-256 of the hash before it and the record, in hexadecimal digits. */
  readonly hash: string;
}

/** A place in the chain. */
export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** The hash before the first record. */
export const NO_RECORDS: AuditHead = { seq: 0, hash: "0".repeat(64) };

/** What is known of an action before it has its place in the chain. */
export interface AuditDraft {
  readonly record: Omit<AuditRecord, "seq" | "parts">;
  readonly names?: AuditNames;
  readonly texts?: readonly (string | null)[];
}

/** The next link of a chain. @param salt random, used once */
export function linkAfter({ seq: before, hash }: AuditHead, draft: AuditDraft, salt: () => string): AuditLink {
  const seq = before + 1;
  const names = draft.names === undefined ? null : canonical({ salt: salt(), ...draft.names });
  const texts = draft.texts === undefined ? null : canonical({ salt: salt(), texts: draft.texts });
  const parts = {
    ...(names !== null && { names: sha256(names) }),
    ...(texts !== null && { texts: sha256(texts) }),
  };
  const record = canonical({ ...draft.record, seq, ...(Object.keys(parts).length > 0 && { parts }) });
  return { seq, record, names, texts, hash: hashAfter(hash, record) };
}

export const hashAfter = (before: string, record: string): string => sha256(`${before}\n${record}`);

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** JSON with members in the order of their names, at every depth, so that equal values have equal texts. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

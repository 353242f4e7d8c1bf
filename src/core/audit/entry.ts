import type { AuditLink, AuditNames, AuditRecord, AuditTarget } from "./record.ts";

/** A record of the trail, read. */
export interface AuditEntry {
  readonly record: AuditRecord;
  /** Empty if the capture level forbids them. */
  readonly names: AuditNames;
  readonly targets: readonly (AuditTarget & { readonly text?: string })[];
  readonly hash: string;
  /** The hash before it; absent: the record before it was not given. */
  readonly previousHash?: string;
  /** The link as it is stored, encoded: every format has it, and `linksIn` finds it again. */
  readonly original: string;
  /** The id of the chain. */
  readonly chain: string;
}

/** @param links in their order */
export function entriesOf(links: readonly AuditLink[], chain: string): readonly AuditEntry[] {
  return links.map((link, at): AuditEntry => {
    const names = link.names === null ? {} : (JSON.parse(link.names) as AuditNames);
    const texts = link.texts === null ? [] : (JSON.parse(link.texts) as { texts: readonly (string | null)[] }).texts;
    const before = links[at - 1]?.hash;
    return {
      record: JSON.parse(link.record) as AuditRecord,
      names,
      targets: (names.targets ?? []).map((target, i) => {
        const text = texts[i];
        return { ...target, ...(text !== null && text !== undefined && { text }) };
      }),
      hash: link.hash,
      ...(before !== undefined && { previousHash: before }),
      original: originalOf(link),
      chain,
    };
  });
}

/** The links in a text that one of the formats wrote, or in what a backend exports of it, in the order of their numbers. */
export function linksIn(text: string): readonly AuditLink[] {
  const found = new Map<string, AuditLink>();
  for (const [original, seq, hash = "", record = "", names = "", texts = ""] of text.matchAll(ORIGINAL)) {
    const link = {
      seq: Number(seq),
      record: decoded(record) ?? "",
      names: decoded(names),
      texts: decoded(texts),
      hash,
    };
    found.set(original, link);
  }
  return [...found.values()].sort((a, b) => a.seq - b.seq);
}

/** What a record says in one line. */
export const sentenceOf = ({ record, names, targets }: AuditEntry): string =>
  [record.action, record.outcome, names.tool, ...targets.map(({ text }) => text)]
    .filter((word) => word !== undefined)
    .join(" ");

// --- internal ---

/** Without characters that JSON, CSV or a backend writes in another way. */
const originalOf = ({ seq, hash, record, names, texts }: AuditLink): string =>
  `oa1.${seq}.${hash}.${[record, names ?? "", texts ?? ""].map((text) => Buffer.from(text).toString("base64url")).join(".")}`;

const ORIGINAL = /\boa1\.(\d{1,15})\.([0-9a-f]{64})\.([\w-]+)\.([\w-]*)\.([\w-]*)/g;

const decoded = (text: string): string | null => (text === "" ? null : Buffer.from(text, "base64url").toString("utf8"));

import {
  AUDIT_PARTS,
  type AuditHead,
  type AuditLink,
  type AuditRecord,
  hashAfter,
  NO_RECORDS,
  sha256,
} from "./record.ts";

/** What is wrong with a chain. `cut`: records at its end are missing. */
export type AuditFault = "changed" | "deleted" | "reordered" | "cut";

export type AuditVerdict =
  | { readonly ok: true; readonly records: number; readonly head: AuditHead }
  /** `seq`: the first wrong or missing record. */
  | { readonly ok: false; readonly fault: AuditFault; readonly seq: number; readonly reason: string };

/**
 * Follows a chain from its first record to its end. Pure.
 *
 * @param links in the order of their numbers, as they are stored or were exported
 * @param heads places in the chain that are known from elsewhere: where the store says that it ends, or a head that was written down.
 *        A part of a chain can begin after one
 * @returns the first fault; a chain that was rewritten as a whole only differs from a head that is known from elsewhere
 */
export function verifyChain(links: readonly AuditLink[], heads: readonly AuditHead[] = []): AuditVerdict {
  const first = links[0]?.seq ?? 1;
  const records = links.map(({ record }) => parsed(record));
  // Written after the records before the first one were removed
  const removed = records.findLast((one) => one?.removed?.seq === first - 1)?.removed;
  const start = first === 1 ? NO_RECORDS : (removed ?? heads.find(({ seq }) => seq === first - 1));
  if (start === undefined)
    return wrong("deleted", 1, "the chain does not begin with its first record, nor after a checkpoint");
  const erasures = records.filter((one): one is AuditRecord => one?.erased !== undefined);
  const places = new Map(records.flatMap((one, at) => (one === undefined ? [] : [[one.seq, at] as const])));
  const hashes = new Map([[start.seq, start.hash]]);
  let { seq, hash } = start;
  for (const [at, link] of links.entries()) {
    seq++;
    const record = records[at];
    if (record !== undefined && (link.seq !== seq || record.seq !== seq)) {
      if ((places.get(seq) ?? at) !== at) return wrong("reordered", seq, `record ${record.seq} is in its place`);
      // If the next record is in its place, only this one's number was changed
      const next = records[at + 1]?.seq;
      const isShifted = next === undefined ? heads.some((head) => head.seq > seq) : next !== seq + 1;
      return link.seq !== seq || isShifted
        ? wrong("deleted", seq, `record ${record.seq} follows ${seq - 1}`)
        : wrong("changed", seq, `it says that it is record ${record.seq}`);
    }
    hash = hashAfter(hash, link.record);
    if (record === undefined || hash !== link.hash) return wrong("changed", seq, "its hash is not that of its text");
    const reason = partFault(link, record, erasures);
    if (reason !== undefined) return wrong("changed", seq, reason);
    hashes.set(seq, hash);
  }
  for (const head of heads) {
    if (head.seq > seq) return wrong("cut", seq + 1, `the chain ends at ${seq} and not at ${head.seq}`);
    const known = hashes.get(head.seq);
    // A head from before the last pruning
    if (known === undefined) continue;
    if (known !== head.hash) return wrong("changed", head.seq, "the hash that is known of it is another one");
  }
  return { ok: true, records: links.length, head: { seq, hash } };
}

// --- internal ---

const wrong = (fault: AuditFault, seq: number, reason: string): AuditVerdict => ({ ok: false, fault, seq, reason });

/** A part must be that of the record, or an erasure after it must say that it was deleted. */
function partFault(link: AuditLink, record: AuditRecord, erasures: readonly AuditRecord[]): string | undefined {
  for (const part of AUDIT_PARTS) {
    const [text, digest] = [link[part], record.parts?.[part]];
    if (text !== null && (digest === undefined || sha256(text) !== digest)) return `its ${part} are not its own`;
    if (text !== null || digest === undefined) continue;
    const isErased = erasures.some(
      ({ seq, erased }) =>
        seq > record.seq &&
        erased?.parts.includes(part) === true &&
        (erased.session === undefined ||
          (erased.session.agent === record.agent && erased.session.id === record.session)),
    );
    if (!isErased) return `its ${part} are missing, and no record says why`;
  }
  return undefined;
}

function parsed(text: string): AuditRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "seq" in value ? (value as AuditRecord) : undefined;
  } catch {
    return undefined;
  }
}

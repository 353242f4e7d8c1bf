import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { firstBytes, parsedJson } from "./files.ts";

/** One quarantined payload, without its content. */
export interface QuarantinedPayload {
  readonly name: string;
  readonly isFile: boolean;
  /** When its reason was written, in milliseconds since the epoch; 0 without a reason. */
  readonly reasonMs: number;
  readonly source: string | null;
  readonly reason: string | null;
  /** ISO 8601. */
  readonly at: string | null;
}

/**
 * Quarantined payloads, the newest reason first.
 *
 * @param limit read this many reasons; the others have none
 * @returns nothing if there is no such directory
 */
export async function quarantinedIn(
  dir: string,
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly QuarantinedPayload[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  const dated = await Promise.all(
    entries
      .filter(({ name }) => !name.endsWith(REASON_SUFFIX) && !name.startsWith("."))
      .map(async (entry) => ({
        name: entry.name,
        isFile: entry.isFile(),
        reasonMs: await stat(join(dir, `${entry.name}${REASON_SUFFIX}`)).then(
          (found) => found.mtimeMs,
          () => 0,
        ),
      })),
  );
  const sorted = dated.sort((a, b) => b.reasonMs - a.reasonMs || (a.name < b.name ? -1 : 1));
  const found: QuarantinedPayload[] = [];
  // One after the other: thousands at once would exceed the limit of open files
  for (const [index, payload] of sorted.entries()) {
    found.push({ ...payload, ...(index < limit ? await reasonOf(dir, payload) : NONE) });
  }
  return found;
}

/** Number of payloads per reason, the most frequent first. */
export function byReason(all: readonly QuarantinedPayload[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { source, reason } of all) {
    const text = `${source ?? "unnamed agent"}: ${reason ?? "no reason recorded"}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
}

// --- internal ---

const REASON_SUFFIX = ".reason";
/** Size limit of a reason file; ours have about a hundred bytes. */
const REASON_BYTES = 4096;
const REASON_CHARACTERS = 200;

const Reason = z.object({
  reason: z.string(),
  source: z.string().optional(),
  at: z.string().optional(),
});

const NONE = { source: null, reason: null, at: null } as const;

async function reasonOf(
  dir: string,
  { name, reasonMs }: Pick<QuarantinedPayload, "name" | "reasonMs">,
): Promise<Pick<QuarantinedPayload, "source" | "reason" | "at">> {
  if (reasonMs === 0) return NONE;
  const stored = Reason.safeParse(
    parsedJson(await firstBytes(join(dir, `${name}${REASON_SUFFIX}`), REASON_BYTES)),
  ).data;
  return {
    source: stored?.source ?? null,
    reason: stored === undefined ? null : stored.reason.slice(0, REASON_CHARACTERS),
    at: stored?.at ?? new Date(reasonMs).toISOString(),
  };
}

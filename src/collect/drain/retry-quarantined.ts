import { messageOf } from "#kit/errors.ts";
import { plural } from "#kit/text/figures.ts";
import { RETRIED_QUARANTINE, readMeta, writeMeta } from "#store/meta.ts";
import { decodeEvent } from "../intake/payload.ts";
import { putBack, quarantinedNames, readQuarantined } from "../intake/quarantined.ts";
import { adapt } from "../payload/adapt.ts";
import type { Drain } from "./context.ts";

/** How far a version of this program is with retrying what was quarantined before; stored, and read by `status`. */
interface QuarantineRetry {
  readonly version: string;
  /** Sources of its cards: another set can recognise more. */
  readonly sources: string;
  /** The last name that was tried. */
  readonly after: string;
  readonly isDone: boolean;
  /** Payloads that it could convert. */
  readonly converted: number;
  /** Tried now, and by this many drains that died meanwhile. */
  readonly trying?: { readonly name: string; readonly deaths: number };
}

/**
 * After an update, tries quarantined payloads again: those that this version can convert move back to the inbox. All others stay
 * untouched, so nothing is counted or logged twice. Once per version, a bounded number per drain.
 */
export async function retryQuarantined(drain: Drain): Promise<void> {
  const { db, places, log } = drain;
  const state = stateOf(drain);
  if (state.isDone) return;
  const note = (next: QuarantineRetry): void => writeMeta(db, RETRIED_QUARANTINE, JSON.stringify(next));
  const { trying, ...begun } = state;
  const names = (await quarantinedNames(places)).filter((name) => name > begun.after);
  let [after, files, bytes, moved] = [begun.after, 0, 0, 0];
  for (const name of names) {
    if (files >= FILES_PER_DRAIN || bytes >= BYTES_PER_DRAIN) break;
    const deaths = trying?.name === name ? trying.deaths + 1 : 0;
    // A payload that kills the drain must not kill every drain
    if (deaths < MAX_DEATHS) {
      note({ ...begun, after, converted: begun.converted + moved, trying: { name, deaths } });
      const size = await retry(drain, name);
      files++;
      bytes += Math.abs(size);
      if (size > 0) moved++;
    }
    after = name;
  }
  note({ ...begun, after, converted: begun.converted + moved, isDone: after === (names.at(-1) ?? after) });
  if (moved > 0)
    log(`${plural(moved, "quarantined payload")} can be converted by this version, and moved back to the inbox`);
}

// --- internal ---

const FILES_PER_DRAIN = 500;
const BYTES_PER_DRAIN = 64_000_000;
const MAX_DEATHS = 2;

/** @returns the payload's size in bytes; negative if it stays in quarantine */
async function retry(drain: Drain, name: string): Promise<number> {
  try {
    const file = await readQuarantined(drain.places, name);
    if (file === undefined) return 0;
    const decoded = decodeEvent(file.payload, file.facts);
    const facts = decoded.ok && decoded.notes.includes("cut") ? { ...file.facts, truncated: true } : file.facts;
    if (!decoded.ok || adapt(drain.agents, decoded.value, facts).outcome === "refused") return -file.payload.length;
    await putBack(drain.places, name);
    return Math.max(1, file.payload.length);
  } catch (error) {
    drain.log(`could not retry the quarantined ${JSON.stringify(name)}: ${messageOf(error)}`);
    return 0;
  }
}

function stateOf({ db, version, agents }: Drain): QuarantineRetry {
  const sources = agents
    .map(({ source }) => source)
    .sort()
    .join(" ");
  const stored = parsed(readMeta(db, RETRIED_QUARANTINE));
  return stored?.version === version && stored.sources === sources
    ? stored
    : { version, sources, after: "", isDone: false, converted: 0 };
}

/** A note that cannot be read is replaced: it must not stop every drain. */
function parsed(text: string | undefined): QuarantineRetry | null {
  try {
    return JSON.parse(text ?? "null") as QuarantineRetry | null;
  } catch {
    return null;
  }
}

import { unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { foldersOf, loadProjectSettings } from "../capture/project.ts";
import { reportProblem } from "../capture/report-problem.ts";
import { claim, type InboxFile, type InboxProblem, type LostEvent, settle } from "../intake/inbox.ts";
import { GONE_MARK } from "../intake/inbox-file.ts";
import { type Decoded, decodeEvent } from "../intake/payload.ts";
import { quarantine } from "../intake/quarantine.ts";
import type { IntakeFacts } from "../model/agent.ts";
import { keepsContent } from "../model/capture.ts";
import { messageOf } from "../model/error-message.ts";
import type { Increment } from "../model/telemetry.ts";
import { checkpoint } from "../store/database.ts";
import { committedFiles } from "../store/self.ts";
import { recordMovedRoots } from "../transcripts/transcript-roots.ts";
import { type AdaptedPayload, adapt } from "./adapt.ts";
import type { Drain } from "./context.ts";
import { payloadIncrement } from "./self-counters.ts";
import { storePayloads } from "./store-payloads.ts";

/**
 * Inbox → store. A file is removed only after its events are committed; a file that no agent recognises is quarantined.
 *
 * @returns numbers of the sessions that got new events
 */
export async function readInbox(drain: Drain): Promise<ReadonlySet<number>> {
  const { places, report } = drain;
  await unlink(join(places.stateDir, GONE_MARK)).catch(() => {});
  const touched = new Set<number>();
  let batch: AdaptedFile[] = [];
  // Counts of quarantined payloads; all others are counted with their events
  let quarantined: Increment[] = [];
  let lost: LostEvent[] = [];
  let [lostEvents, heldBytes] = [0, 0];
  const stored = committedFiles(drain.db);
  let removed: string[] = [];
  const commit = async (): Promise<void> => {
    if (batch.length + quarantined.length + lost.length === 0) return;
    const files = [...batch.map(({ file }) => file), ...lost];
    const names = files.map(nameOf);
    const lostMs = lost.map((event) => event.lostMs);
    for (const number of storePayloads(drain, { payloads: batch, quarantined, lostMs, files: names, removed })) {
      touched.add(number);
    }
    removed = names;
    lostEvents += lost.length;
    batch = [];
    quarantined = [];
    lost = [];
    heldBytes = 0;
    if (files.length === 0) return;
    checkpoint(drain.db);
    for (const file of files) await remove(drain, file);
  };
  const onProblem = (problem: InboxProblem): void => {
    reportFile(drain, problem);
    if (problem.outcome === "quarantined")
      quarantined.push(payloadIncrement(drain, "quarantined", undefined, problem.reason));
  };
  const wanted = { content: keepsContent(drain.loaded.config.capture) };
  for await (const file of claim(places, { now: drain.now, onProblem })) {
    if (stored.has(nameOf(file))) {
      // A drain died, or could not remove the file, after the commit
      await remove(drain, file);
      removed.push(nameOf(file));
      continue;
    }
    if ("lostMs" in file) {
      lost.push(file);
      if (lost.length >= FILES_PER_COMMIT) await commit();
      continue;
    }
    report.files++;
    const decoded = decodeEvent(file.payload, file.facts);
    const adapted = decoded.ok
      ? adapt(drain.agents, decoded.value, intakeFactsOf(file, decoded), wanted)
      : decoded.reason;
    if (typeof adapted === "string") {
      try {
        await quarantine(places, file, adapted, drain.now());
      } catch (error) {
        reportFile(drain, leftFile(file, error));
        continue;
      }
      report.quarantined++;
      quarantined.push(payloadIncrement(drain, "quarantined", file.facts.source, adapted));
      drain.log(`quarantined a payload of ${file.facts.source ?? "an unnamed agent"}: ${adapted}`);
      continue;
    }
    for (const remark of adapted.remarks) drain.log(remark);
    await recordMovedRoots(drain, adapted.events, file.facts);
    await loadProjectSettings(drain, foldersOf(adapted.events));
    if (adapted.events.length === 0) report.ignored++;
    batch.push({ file, ...adapted });
    if (adapted.content.length > 0) heldBytes += file.payload.length;
    if (batch.length < FILES_PER_COMMIT && heldBytes < CONTENT_BYTES_PER_COMMIT) continue;
    await commit();
  }
  await commit();
  if (lostEvents > 0) {
    const what = lostEvents === 1 ? "1 event was" : `${lostEvents} events were`;
    reportProblem(drain, `${what} lost because the disk was full`);
  }
  return touched;
}

// --- internal ---

/** A drain that is killed repeats at most this many; commits share an fsync. */
const FILES_PER_COMMIT = 200;
/** Limit for payloads with content, which stay in memory until the commit. */
const CONTENT_BYTES_PER_COMMIT = 16_000_000;

interface AdaptedFile extends AdaptedPayload {
  readonly file: Pick<InboxFile, "path">;
}

/** Unique: each claimed file gets a new name. */
const nameOf = ({ path }: AdaptedFile["file"]): string => basename(path);

const intakeFactsOf = ({ facts }: InboxFile, { notes }: Extract<Decoded, { ok: true }>): IntakeFacts =>
  notes.includes("cut") ? { ...facts, truncated: true } : facts;

const remove = (drain: Drain, file: AdaptedFile["file"]): Promise<void> =>
  settle(file).catch((error: unknown) => reportFile(drain, leftFile(file, error)));

const leftFile = ({ path }: AdaptedFile["file"], error: unknown): InboxProblem => ({
  path,
  reason: messageOf(error),
  outcome: "left",
});

function reportFile(drain: Drain, { path, reason, outcome }: InboxProblem): void {
  if (outcome === "quarantined") drain.report.quarantined++;
  else drain.report.left++;
  reportProblem(
    drain,
    `${outcome === "quarantined" ? "quarantined" : "could not read"} ${JSON.stringify(path)}: ${reason}`,
  );
}

import { ownUid } from "#config/file-owner.ts";
import type { CaptureLevel } from "#core/model/capture.ts";
import type { Event } from "#core/model/event-schema.ts";
import { timeMsOf } from "#core/rules/event.ts";
import { messageOf } from "#kit/errors.ts";
import { step } from "#kit/fault-points.ts";
import {
  type BridgeCommandState,
  type BridgeResult,
  bridgeCommand,
  commandsWithQueue,
  dropCommandQueue,
  endBackOff,
  enforceBridgeLimits,
  nextEnvelope,
  type QueuedEnvelope,
  queueEnvelope,
  releaseInterrupted,
} from "#store/bridge.ts";
import { levelOf } from "#store/capture/level.ts";
import { sessionById } from "#store/sessions.ts";
import { HOOK_FOLDER } from "../intake/inbox-file.ts";
import type { Bridge, BridgeDeps } from "./bridge.ts";
import { type Consent, consentTo, readConsents } from "./consent.ts";
import { envelopeLine, type HandoverForm, hasEnvelope } from "./envelope.ts";
import { commandEnvironment } from "./environment.ts";
import { RunningCommands } from "./leftover.ts";
import {
  type BridgeCommand,
  projectFileOf,
  type RegistrationFile,
  type Runner,
  readRegistrationFile,
  userFileOf,
} from "./registration-file.ts";
import { runCommand } from "./run-command.ts";

/** A failing envelope is retried this often. With the back-off that takes ten minutes or more. */
export const MAX_ATTEMPTS = 10;

/** How long a command is not started after this many failures in a row: 1 s, 2 s, 4 s … at most five minutes. In milliseconds. */
const backOffMs = (failures: number): number => Math.min(1_000 * 2 ** Math.min(failures - 1, 20), 300_000);

type Served = Pick<BridgeCommandState, "id" | "path" | "command">;

/** See `Bridge`. Each command gets its own envelopes in order, and no command waits for another one. */
export class BridgeHost implements Bridge {
  readonly isActive = true;
  readonly #deps: BridgeDeps;
  readonly #runner: Runner;
  readonly #running: RunningCommands;
  /** Files by folder, `""` for the user's; read again after `FRESH_MS`. */
  readonly #files = new Map<string, { readonly file: RegistrationFile | undefined; readonly atMs: number }>();
  /** Sessions for which a command runs now, by its number. */
  readonly #sessions = new Map<number, Set<number>>();
  readonly #lanes = new Set<Promise<void>>();
  readonly #lanesOf = new Map<number, number>();
  #isStopping = false;
  #syncedMs = Number.NEGATIVE_INFINITY;
  #failure: { readonly error: unknown } | undefined;

  constructor(deps: BridgeDeps) {
    this.#deps = deps;
    const { db, places, platform, now, sudoUid, isEager } = deps;
    this.#runner = { uid: ownUid(platform), ...(sudoUid !== undefined && { sudoUid }) };
    this.#running = new RunningCommands(places);
    this.#running.endLeftovers();
    releaseInterrupted(db, now(), backOffMs);
    if (isEager) endBackOff(db);
    this.#limit();
  }

  get isBusy(): boolean {
    return this.#lanes.size > 0;
  }

  queue(folder: string | undefined, event: Event, level: CaptureLevel): void {
    if (!hasEnvelope(event, this.#formAt(level))) return;
    const { db, now } = this.#deps;
    for (const file of new Set([this.#fileFor(""), this.#fileFor(folder ?? "")])) {
      for (const { command, events } of file?.commands ?? []) {
        if (file === undefined || !(events.includes("*") || events.includes(event.type))) continue;
        queueEnvelope(db, bridgeCommand(db, file.path, command), event.id, timeMsOf(event), now());
      }
    }
  }

  kick(): void {
    if (this.#isStopping || this.#failure !== undefined) return;
    for (const command of commandsWithQueue(this.#deps.db, this.#deps.now())) {
      if ((this.#lanesOf.get(command.id) ?? 0) === 0) this.#start(command);
    }
  }

  async finish(budgetMs: number): Promise<void> {
    this.#limit();
    this.kick();
    const timer = setTimeout(() => {
      this.#isStopping = true;
    }, budgetMs);
    await this.#ended();
    clearTimeout(timer);
    this.#throwFailure();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#ended();
    this.#throwFailure();
  }

  // --- internal ---

  async #ended(): Promise<void> {
    while (this.#lanes.size > 0) await Promise.all(this.#lanes);
    this.#running.close();
  }

  #throwFailure(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
  }

  #limit(): void {
    const { db, loaded, now, log } = this.#deps;
    const { maxAgeDays, maxQueued } = loaded.config.bridge;
    const dropped = enforceBridgeLimits(db, now() - maxAgeDays * DAY_MS, maxQueued);
    if (dropped > 0) log(`bridge: ${dropped} queued envelopes were dropped: too old, too many, or no longer stored`);
  }

  /** Starts one lane: envelopes of a command, one after another. */
  #start(command: Served): void {
    this.#lanesOf.set(command.id, (this.#lanesOf.get(command.id) ?? 0) + 1);
    const lane = this.#serve(command)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#lanes.delete(lane);
        this.#lanesOf.set(command.id, (this.#lanesOf.get(command.id) ?? 1) - 1);
      });
    this.#lanes.add(lane);
  }

  async #serve(served: Served): Promise<void> {
    const { db, now } = this.#deps;
    const sessions = this.#sessions.get(served.id) ?? new Set();
    this.#sessions.set(served.id, sessions);
    for (let ended: Parameters<typeof nextEnvelope>[2]["ended"]; ; ) {
      // Before each run: a file that has changed runs nothing, from the next envelope on
      const file = this.#allowed(served.path);
      const found = file?.commands.find(({ command }) => command === served.command);
      const isWanted = found !== undefined && !this.#isStopping;
      const next = nextEnvelope(db, served.id, {
        nowMs: now(),
        exceptSessions: [...sessions],
        isWanted,
        isOnDisk: this.#mustSync(),
        ...(ended !== undefined && { ended }),
      });
      if (found === undefined && (file !== undefined || this.#isRevoked(served.path))) dropCommandQueue(db, served.id);
      if (next === undefined || file === undefined || found === undefined) return;
      sessions.add(next.session);
      if (found.isAsync && (this.#lanesOf.get(served.id) ?? 0) < MAX_LANES) this.#start(served);
      const result = await this.#run(file, found, next);
      sessions.delete(next.session);
      ended = { seq: next.seq, result, backOffMs };
    }
  }

  async #run(file: AllowedFile, { command }: BridgeCommand, queued: QueuedEnvelope): Promise<BridgeResult> {
    const { db, env, loaded, log, places, platform } = this.#deps;
    const { path, folder, environment } = file;
    const session = sessionById(db, queued.session);
    const level = levelOf({ loaded }, session);
    const projects = [path === userFileOf(places) ? undefined : folder, session.cwd, env[HOOK_FOLDER]];
    const input = envelopeLine(db, queued, this.#formAt(level));
    if (input === undefined) return { kind: "withheld" };
    let pid: number | undefined;
    const reason = await ran(() =>
      runCommand({
        ...{ command, folder, input, platform, timeoutMs: loaded.config.bridge.timeoutMs },
        env: commandEnvironment(environment, {
          projects: projects.filter((one) => one !== undefined),
          home: places.home,
        }),
        onStart: (started) => {
          pid = started;
          this.#running.started(started);
        },
      }),
    );
    if (pid !== undefined) this.#running.ended(pid);
    if (reason === undefined) return { kind: "accepted" };
    const isDropped = queued.attempts >= MAX_ATTEMPTS;
    log(`bridge: a command of ${path} failed: ${reason}${isDropped ? "; the envelope was dropped" : ""}`);
    return { kind: "failed", reason, isDropped };
  }

  /** Whether a commit must be on disk before it returns. In a burst most are not: after a power failure their envelopes come again. */
  #mustSync(): boolean {
    const nowMs = performance.now();
    const isDue = nowMs - this.#syncedMs >= SYNC_MS;
    if (isDue) this.#syncedMs = nowMs;
    return isDue;
  }

  #formAt(level: CaptureLevel): HandoverForm {
    const { agents, loaded } = this.#deps;
    return { agents, text: loaded.config.openhook.text, level };
  }

  /** The allowed file that applies to sessions in a folder; `""`: the user's own. */
  #fileFor(folder: string): RegistrationFile | undefined {
    const atMs = performance.now();
    const known = this.#files.get(folder);
    if (known !== undefined && atMs - known.atMs < FRESH_MS) return known.file;
    const path = folder === "" ? userFileOf(this.#deps.places) : projectFileOf(folder);
    const file = path === undefined ? undefined : this.#allowed(path);
    this.#files.set(folder, { file, atMs });
    return file;
  }

  /** The file, if the user allowed it as it is now. */
  #allowed(path: string): AllowedFile | undefined {
    const file = readRegistrationFile(path, this.#runner);
    if (file === undefined || "problem" in file) return undefined;
    const consent = consentTo(readConsents(this.#deps.places), file);
    return consent && { ...file, environment: consent.environment };
  }

  /** Whether the user revoked consent to the file, whatever its content was. */
  #isRevoked(path: string): boolean {
    return readConsents(this.#deps.places)?.every((one) => one.path !== path) === true;
  }
}

type AllowedFile = RegistrationFile & Pick<Consent, "environment">;

const DAY_MS = 86_400_000;
/** How long a registration file is not read again for new events. */
const FRESH_MS = 500;
/** The longest time whose deliveries a power failure can undo. */
const SYNC_MS = 250;
/** Processes of one asynchronous command at the same time. */
const MAX_LANES = 4;

async function ran(run: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await step("bridge.run", run);
  } catch (error) {
    return messageOf(error);
  }
}

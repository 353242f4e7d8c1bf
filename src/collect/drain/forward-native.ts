import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isUnknown } from "#config/config-state.ts";
import { step } from "#kit/fault-points.ts";
import { reportProblem } from "#store/capture/context.ts";
import { readBodyFileName } from "../native/body-file.ts";
import { type ForwardState, readForwardState, waitingBodies, writeForwardState } from "../native/forward-state.ts";
import { forwarder } from "../native/forwarder.lazy.ts";
import { forwardDir } from "../native/receiver-file.ts";
import { hasNoClockJump } from "./clock.ts";
import type { Drain } from "./context.ts";

/** What a drain must know to hand on agents' own telemetry. */
type ForwardDeps = Pick<Drain, "db" | "loaded" | "log" | "now" | "places" | "report" | "version">;

/**
 * Sends what `native.forward` names to the user's own exporters, byte for byte as the agent sent it. Bodies leave the queue when they were
 * accepted, when they were refused because of their content, or when the queue is over the limits of the outbox; the last two are counted.
 * If this is killed between an answer and the removal, that body is sent again.
 *
 * @param options.isEager the user started the drain: retries exporters that failed recently
 * @throws what the file system throws
 */
export async function forwardNative(drain: ForwardDeps, { isEager = false } = {}): Promise<void> {
  const { stateDir } = drain.places;
  const names = waitingBodies(stateDir);
  // Without the setting nobody knows where they lead, and nothing may be dropped
  if (names.length === 0 || isUnknown(drain.loaded, "native.forward") || drain.loaded.config.disabled) return;
  await new Forwarding(drain, isEager).run(names);
}

// --- internal ---

const DAY_MS = 86_400_000;
const FIRST_DELAY_MS = 15_000;
const MAX_DELAY_MS = 30 * 60_000;
/** Statuses that say something of the body: another attempt with the same bytes would get the same. Others can be repaired by the user. */
const ABOUT_CONTENT: ReadonlySet<number | undefined> = new Set([400, 411, 413, 415, 422]);

class Forwarding {
  readonly #drain: ForwardDeps;
  readonly #isEager: boolean;
  readonly #dir: string;
  #state: ForwardState;
  /** Exporters that failed in this drain. */
  readonly #failed = new Set<string>();

  constructor(drain: ForwardDeps, isEager: boolean) {
    this.#drain = drain;
    this.#isEager = isEager;
    this.#dir = forwardDir(drain.places.stateDir);
    this.#state = readForwardState(drain.places.stateDir);
  }

  async run(names: readonly string[]): Promise<void> {
    const { loaded, version, now } = this.#drain;
    const { native, otlp, outbox } = loaded.config;
    const untilMs = now() + outbox.maxDeliveryMs;
    const send = forwarder(otlp, version);
    try {
      for (const name of this.#withinLimits(names)) {
        const facts = readBodyFileName(name);
        if (facts === undefined || now() >= untilMs) break;
        const to = native.forward[facts.source];
        if (to === undefined) this.#drop([name], `native.forward.${facts.source} is not set any more`);
        else if (this.#isDue(facts.source))
          await this.#sendOne(name, facts.source, () => send(to, facts, join(this.#dir, name)));
      }
    } finally {
      send.close();
    }
  }

  async #sendOne(name: string, source: string, send: () => ReturnType<ReturnType<typeof forwarder>>): Promise<void> {
    const outcome = await step("forward.send", send);
    if (outcome.status === "ok") {
      const { [source]: _, ...pauses } = this.#state.pauses;
      this.#save({ sent: this.#state.sent + 1, pauses });
      return this.#remove(name);
    }
    const status = "httpStatus" in outcome ? outcome.httpStatus : undefined;
    if (outcome.status === "too-large" || (outcome.status === "refused" && ABOUT_CONTENT.has(status))) {
      return this.#drop([name], outcome.reason);
    }
    const asked = outcome.status === "retry" ? outcome.afterMs : undefined;
    const failures = (this.#state.pauses[source]?.failures ?? 0) + 1;
    const ownMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 20), MAX_DELAY_MS);
    const pause = {
      untilMs: this.#drain.now() + Math.max(asked ?? 0, ownMs),
      isAsked: asked !== undefined,
      failures,
      reason: outcome.reason,
    };
    this.#failed.add(source);
    this.#save({ pauses: { ...this.#state.pauses, [source]: pause } });
    this.#drain.log(`native.forward.${source}: ${outcome.reason}; its bodies stay queued`);
  }

  #isDue(source: string): boolean {
    if (this.#failed.has(source)) return false;
    const pause = this.#state.pauses[source];
    const waitMs = (pause?.untilMs ?? 0) - this.#drain.now();
    // Longer than any pause: the clock was ahead when it was stored
    return pause === undefined || waitMs <= 0 || waitMs > 2 * MAX_DELAY_MS || (this.#isEager && !pause.isAsked);
  }

  /** Drops the oldest of what is too old or too much. @returns the others */
  #withinLimits(names: readonly string[]): readonly string[] {
    const { loaded, db, now } = this.#drain;
    const { maxAgeDays, maxMegabytes } = loaded.config.outbox;
    const isAged = hasNoClockJump(db, now()) && !isUnknown(loaded, "outbox.maxAgeDays");
    const oldestMs = isAged ? now() - maxAgeDays * DAY_MS : 0;
    let left = isUnknown(loaded, "outbox.maxMegabytes") ? Number.POSITIVE_INFINITY : maxMegabytes * 1_000_000;
    const kept = names.toReversed().filter((name) => {
      left -= statSync(join(this.#dir, name)).size;
      return left >= 0 && (readBodyFileName(name)?.receivedMs ?? 0) >= oldestMs;
    });
    const isKept = new Set(kept);
    this.#drop(
      names.filter((name) => !isKept.has(name)),
      "the queue was over its limits (outbox.maxAgeDays, outbox.maxMegabytes)",
    );
    return kept.toReversed();
  }

  #drop(names: readonly string[], dropReason: string): void {
    if (names.length === 0) return;
    this.#save({ dropped: this.#state.dropped + names.length, dropReason });
    for (const name of names) this.#remove(name);
    reportProblem(this.#drain, `native.forward: ${names.length} dropped, they will not be handed on: ${dropReason}`);
  }

  #remove(name: string): void {
    step("forward.settle", () => rmSync(join(this.#dir, name), { force: true }));
  }

  #save(change: Partial<ForwardState>): void {
    this.#state = { ...this.#state, ...change };
    writeForwardState(this.#drain.places.stateDir, this.#state);
  }
}

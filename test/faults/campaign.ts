import PQueue from "p-queue";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { type Disturbed, disturbed, undisturbed } from "./disturbed.ts";
import type { Fault } from "./fault.ts";
import type { Outcome } from "./outcome.ts";
import { FaultBuild } from "./program.ts";
import { type Case, World } from "./world.ts";

/** Many runs of the same inbox, some in parallel, each with one fault and compared with the undisturbed run. */
export class Campaign {
  readonly build: FaultBuild;
  readonly world: World;
  readonly #receivers: Receiver[];
  readonly #queue: PQueue;
  /** Names of the steps of the undisturbed run, in order. */
  readonly trace: readonly string[];
  readonly reference: Outcome;

  /** @param lanes parallel runs; each is a process that works, then waits for the disk */
  static async start(cases?: readonly Case[], lanes = 3): Promise<Campaign> {
    const world = new World(cases);
    const build = new FaultBuild();
    const { trace, outcome } = await undisturbed(build, world);
    const receivers = await Promise.all(Array.from({ length: lanes }, () => startReceiver()));
    return new Campaign(build, world, trace, outcome, receivers);
  }

  private constructor(build: FaultBuild, world: World, trace: readonly string[], reference: Outcome, r: Receiver[]) {
    this.build = build;
    this.world = world;
    this.trace = trace;
    this.reference = reference;
    this.#receivers = r;
    this.#queue = new PQueue({ concurrency: r.length });
  }

  run(faults: readonly Fault[]): Promise<readonly Disturbed[]> {
    return this.#queue.addAll(
      faults.map((fault) => async () => {
        const receiver = this.#receivers.pop();
        if (receiver === undefined) throw new Error("more runs at once than receivers");
        try {
          return await disturbed(this.build, this.world, this.reference, fault, receiver);
        } finally {
          this.#receivers.push(receiver);
        }
      }),
    );
  }

  async end(): Promise<void> {
    await Promise.all(this.#receivers.map((receiver) => receiver.close()));
    this.build.remove();
    this.world.remove();
  }
}

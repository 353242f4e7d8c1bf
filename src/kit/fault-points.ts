/**
 * Names of all points at which a drain can fail: every write, rename, commit, send, acknowledgement and delete, and every read
 * from outside. Add new ones here and run them through `step`; test/faults then makes them fail without further changes.
 */
export const FAULT_POINTS = [
  "state.make",
  "lock.note",
  "lock.make",
  "lock.take",
  "lock.take-note",
  "lock.release",
  "store.open",
  "store.set-aside",
  "store.name-aside",
  // A statement outside a transaction
  "store.write",
  "store.checkpoint",
  "store.close",
  "commit.schema",
  "commit.salvage",
  "commit.inbox",
  "commit.transcript",
  "commit.native",
  "commit.session",
  "commit.acknowledged",
  "commit.metrics",
  "commit.bridge",
  "commit.note",
  "inbox.list",
  "inbox.claim",
  "inbox.read",
  "inbox.reason",
  "inbox.quarantine",
  "inbox.settle",
  "transcript.look",
  "bridge.run",
  "spans.send",
  "logs.send",
  "metrics.send",
  "delivered.write",
  "statusline.write",
  "log.rotate",
  "log.write",
] as const;

/** The same of the receiver of native telemetry, and of what a drain does with the bodies that it keeps. */
export const NATIVE_FAULT_POINTS = [
  "native.create",
  "native.write",
  "native.keep",
  "native.settle",
  "native.refuse",
  "native.position",
  "native.empty",
  "forward.queue",
  "forward.send",
  "forward.settle",
] as const;

export type FaultPoint = (typeof FAULT_POINTS | typeof NATIVE_FAULT_POINTS)[number];

/**
 * Runs the work of a fault point.
 *
 * @param work may be asynchronous: the step ends when its promise settles
 * @returns what the work returns
 * @throws what the work throws
 */
export const step = <T>(_step: FaultPoint, work: () => T): T => work();

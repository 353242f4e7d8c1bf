/**
 * Where a drain can die or fail: every write, rename, commit, send, acknowledgement and delete, and what it reads from
 * outside. A new one gets its name here and is called through `at`; test/faults makes it fail from then on by itself.
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
  "commit.session",
  "commit.acknowledged",
  "commit.metrics",
  "commit.note",
  "inbox.list",
  "inbox.claim",
  "inbox.read",
  "inbox.reason",
  "inbox.quarantine",
  "inbox.settle",
  "transcript.look",
  "spans.send",
  "metrics.send",
  "log.rotate",
  "log.write",
] as const;

export type FaultPoint = (typeof FAULT_POINTS)[number];

/**
 * Does the work of a step.
 *
 * @param work may be asynchronous: the step ends when its promise does
 * @returns what the work returns
 * @throws what the work throws
 */
export const step = <T>(_step: FaultPoint, work: () => T): T => work();

const NOBODY_UID = 65_534;

/**
 * Runs `work` as an ordinary user if the test runs as root, for whom file permissions do not apply.
 *
 * @param work synchronous: the whole process has the other user id until it returns
 */
export function asOrdinaryUser<T>(work: () => T): T {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(NOBODY_UID);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

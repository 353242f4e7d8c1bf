const NOBODY = 65_534;

/**
 * Works as a user for whom owners and modes count: a superuser gets into everything.
 *
 * @param work at once, not later: the whole process is that user meanwhile
 */
export function asOrdinaryUser<T>(work: () => T): T {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(NOBODY);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

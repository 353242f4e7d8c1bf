// A umask such as 777 also takes the owner's rights: this program could not open the files and folders that it creates.
const given = process.umask();
const OWNER = 0o700;

/** Leaves the owner's rights on everything that this process creates. Others' rights stay as the umask has them. */
export function keepOwnerRights(): void {
  if ((given & OWNER) !== 0) process.umask(given & ~OWNER);
}

/** Runs synchronous work, such as starting a user's program, under the umask that this process was started with. */
export function withGivenUmask<T>(work: () => T): T {
  const own = process.umask(given);
  try {
    return work();
  } finally {
    process.umask(own);
  }
}

/** Runs the work so that all users can read what it writes: an administrator's umask can be 077. */
export async function withOpenUmask<T>(work: () => Promise<T>): Promise<T> {
  const before = process.umask(0o022);
  try {
    return await work();
  } finally {
    process.umask(before);
  }
}

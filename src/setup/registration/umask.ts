/** Runs the work so that all users can read what it writes: an administrator's umask can be 077. */
export async function withOpenUmask<T>(work: () => Promise<T>): Promise<T> {
  const before = process.umask(0o022);
  try {
    return await work();
  } finally {
    process.umask(before);
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The absolute path of one of Windows' own programs. By its name alone Windows would start a file of that name in the current
 * folder, which can be somebody else's repository.
 */
export const systemProgram = (name: string, env: Env): string => `${systemRootOf(env)}\\System32\\${name}`;

/** For a shell on Windows that starts a program by its name: it must not look in its current folder first. */
export const ONLY_FROM_PATH = { NoDefaultCurrentDirectoryInExePath: "1" } as const;

// --- internal ---

const systemRootOf = (env: Env): string => {
  const given = env["SystemRoot"] ?? env["SYSTEMROOT"] ?? env["windir"] ?? "";
  return /^[A-Za-z]:\\/.test(given) ? given.replace(/\\+$/, "") : "C:\\Windows";
};

/**
 * Folders of `test/` that `npm run test:windows` runs with vitest in Windows, with what they show there. Not those of code that
 * computes without files, processes and network, which is the same there.
 */
export const FOLDERS: Readonly<Record<string, string>> = {
  config: "settings, places, the recorded Node",
  capture: "how much of a fact is kept",
  transcripts: "names of transcript files, prompts",
  store: "SQLite: transactions, locks, migrations, damage",
  import: "recordings of every agent: import and hooks give the same",
  otlp: "sending, retries, limits",
  privacy: "redaction, projects that lower the level, preview",
  drain: "late lines, forks, ends, traces, CI jobs, advice",
  bridge: "registration files, environment of commands",
};

const COMMANDS = "its commands are for sh; cmd and Windows' programs cannot do the same";
const MINUTES = "takes minutes there; the same code stores, sends and redacts in the folder's other files";
const SLOW = "passed there on 2026-11-27, but takes a minute or more; the folder's other files drain and store too";

/** Files of these folders that do not run there, and why. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  "test/otlp/grpc.test.ts": "needs openssl",
  "test/otlp/proxy.test.ts": "needs openssl",
  "test/otlp/tls.test.ts": "needs openssl",
  "test/otlp/client-certificates.test.ts": "needs openssl",
  "test/bridge/deliver.test.ts": COMMANDS,
  "test/bridge/read-headers.test.ts": COMMANDS,
  "test/drain/idle.test.ts": "starts hook.sh, which Windows does not have; its hook.cjs is in program.windows.ts",
  ...Object.fromEntries(
    ["drain/root-totals", "privacy/linear", "privacy/recall"].map((name) => [`test/${name}.test.ts`, MINUTES]),
  ),
  ...Object.fromEntries(
    [
      ...["drain/capture", "drain/contained", "drain/instance", "drain/local-ids", "drain/rejected-points"],
      ...["drain/retry-quarantined", "drain/subsessions", "drain/traces", "privacy/packed-names"],
    ].map((name) => [`test/${name}.test.ts`, SLOW]),
  ),
};

/** Tests that fail there for a known reason: the file, the beginning of the full name, the reason. */
export const KNOWN: readonly (readonly [file: string, name: string, reason: string])[] = [
  ...[
    [
      "test/config/load.test.ts",
      "an invalid destination setting has no fallback a file without read permission stops all export",
    ],
    ["test/config/machine.test.ts", "its owner and mode a file of another user than root is refused"],
    ["test/config/machine.test.ts", "its owner and mode a file that others can write to is refused: mode"],
    ["test/config/machine.test.ts", "its owner and mode a file in a folder that others can write to is refused"],
    ["test/store/database.test.ts", "a new store is accessible to the user only"],
    ["test/store/database.test.ts", "a new store restricts the mode of an existing one"],
    ["test/store/lock.test.ts", "withDrainLock, in one process its files are accessible to the user only"],
    ["test/store/name-lock.test.ts", "between machines it is accessible to the user only"],
    ["test/bridge/registration-file.test.ts", "refused a folder that everyone can write to"],
    [
      "test/privacy/private.test.ts",
      "the state directory in a folder that others can write to is used, with a warning",
    ],
    ["test/privacy/private.test.ts", "the state directory gets private files; programs and links stay unchanged"],
    ["test/privacy/private.test.ts", "a drain restores private modes, and doctor reports others"],
    [
      "test/privacy/repository-variables.test.ts",
      "the record of the user's variables recognises values, contains none of them",
    ],
  ].map(([file = "", name = ""]) => [file, name, "Windows has no file modes, and none are set"] as const),
  ...[
    ["test/config/lasting-node.test.ts", "fnm: uses the version's own folder"],
    ["test/config/lasting-node.test.ts", "Scoop and WinGet: uses the link"],
    ["test/config/lasting-node.test.ts", "Homebrew"],
    ["test/config/machine.test.ts", "its owner and mode a link counts as its target"],
    [
      "test/import/copies.test.ts",
      "unchanged imports are read again on request, or if another version read them by another version, once, even if",
    ],
    ["test/import/copies.test.ts", "a session that cannot be read an unreadable folder is reported"],
    ["test/drain/read-processes.test.ts", "a link is not followed"],
    ["test/store/instance.test.ts", "fingerprints a store keeps its id with any spelling of the home folder"],
    ["test/bridge/registration-file.test.ts", "refused a link, a folder and a pipe"],
    [
      "test/bridge/registration-file.test.ts",
      "the project's file is the nearest one, up to the root of the repository",
    ],
    ["test/bridge/run-command.test.ts", "no repository adds programs through a link from elsewhere"],
    ["test/privacy/private.test.ts", "the state directory behind another user's link or a dangling link is refused"],
    ["test/privacy/project.test.ts", "the file that applies to a folder that of the link's target"],
    [
      "test/privacy/repository-variables.test.ts",
      "finds the variables that a repository's files name in a folder far above",
    ],
  ].map(
    ([file = "", name = ""]) => [file, name, "Wine makes no links: the call succeeds, and nothing is there"] as const,
  ),
  ...[
    "a command gets one line on stdin and runs in the file's folder",
    "a command of two lines is one script",
    "the reason says how a command failed",
    "a command that does not read its input does not fail",
    "a command that hangs is killed with everything it started",
    "what a command leaves in the background ends with it",
    "output is discarded, however much it is",
    "`bridge test` ends although a process outside the command's group keeps its output open",
  ].map((name) => ["test/bridge/run-command.test.ts", name, COMMANDS] as const),
  ...[
    ["test/privacy/private.test.ts", "the state directory may belong to this user, be missing"],
    ["test/privacy/private.test.ts", "the state directory of another user is used by root"],
  ].map(([file = "", name = ""]) => [file, name, "Windows has no owners, so nothing is checked there"] as const),
  ...[
    ["test/privacy/project.test.ts", "the file that applies to a folder an unreadable file, a link"],
    ["test/privacy/repository-variables.test.ts", "finds the variables that a repository's files name a pipe"],
  ].map(([file = "", name = ""]) => [file, name, "Windows has no mkfifo"] as const),
  ["test/privacy/project.test.ts", "the file that applies to a folder the worktree's copy in a worktree", "needs git"],
  [
    "test/store/initial-store.test.ts",
    "its figures are the same, also after a drain of the events that came since",
    "the store has paths of Linux",
  ],
  [
    "test/store/name-lock.test.ts",
    "between processes a suspended holder on this machine keeps the lock",
    "Windows has no signal that suspends a process",
  ],
];

/** Folders of `test/` that `npm run test:windows` runs with vitest in Windows, with what they show there. */
export const FOLDERS: Readonly<Record<string, string>> = {
  model: "payloads, names, merging",
  config: "settings, places, the recorded Node",
  capture: "how much of a fact is kept",
  transcripts: "names of transcript files, prompts",
  session: "turns, calls, subagents",
  telemetry: "spans, metrics, cost; everything that is sent, as text",
  convert: "OpenHook",
  store: "SQLite: transactions, locks, migrations, damage",
  import: "recordings of every agent: import and hooks give the same",
  otlp: "sending, retries, limits",
  report: "what reports and the page compute",
};

/** Files of these folders that cannot run there, and why. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  "test/otlp/grpc.test.ts": "needs openssl",
  "test/otlp/proxy.test.ts": "needs openssl",
  "test/otlp/tls.test.ts": "needs openssl",
};

/** Tests that fail there for a known reason: the file, the beginning of the full name, the reason. */
export const KNOWN: readonly (readonly [file: string, name: string, reason: string])[] = [
  ...[
    ["test/config/load.test.ts", "an invalid destination setting has no fallback nor one that cannot be read"],
    ["test/config/machine.test.ts", "who may have written it only root: another owner is refused"],
    ["test/config/machine.test.ts", "who may have written it nobody else: mode"],
    ["test/config/machine.test.ts", "who may have written it nor the folders above it"],
    ["test/store/database.test.ts", "a new store is accessible to the user only"],
    ["test/store/database.test.ts", "a new store restricts the mode of an existing one"],
    ["test/store/lock.test.ts", "withDrainLock, in one process its files are accessible to the user only"],
    ["test/store/name-lock.test.ts", "between machines it is accessible to the user only"],
  ].map(([file = "", name = ""]) => [file, name, "Windows has no file modes, and none are set"] as const),
  ...[
    ["test/config/lasting-node.test.ts", "fnm: uses the version's own folder"],
    ["test/config/lasting-node.test.ts", "Scoop and WinGet: uses the link"],
    ["test/config/lasting-node.test.ts", "Homebrew"],
    ["test/config/machine.test.ts", "who may have written it a link counts as its target"],
    [
      "test/import/copies.test.ts",
      "unchanged imports are read again on request, or if another version read them also once",
    ],
    ["test/import/copies.test.ts", "a session that cannot be read an unreadable folder is reported"],
    ["test/store/instance.test.ts", "fingerprints a store keeps its id with any spelling of the home folder"],
  ].map(
    ([file = "", name = ""]) => [file, name, "Wine makes no links: the call succeeds, and nothing is there"] as const,
  ),
  [
    "test/store/instance.test.ts",
    "a store with an earlier version's fingerprint is no copy",
    "a path without a drive is another path in Windows",
  ],
  [
    "test/store/name-lock.test.ts",
    "between processes a suspended holder on this machine keeps the lock",
    "Windows has no signal that suspends a process",
  ],
];

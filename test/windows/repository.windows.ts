import { existsSync, readFileSync, rmSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { table } from "#kit/text/table.ts";
import { CHECKOUT, checkOut } from "./checkout.ts";
import { NODE, newProfile, onDisk, run } from "./lab.ts";
import { FOLDERS, KNOWN, NOT_RUN } from "./selection.ts";

// This repository's own tests, run by vitest in Windows: all folders in one run, which compiles each source file once.

const RESULTS = "results.json";
/** On two cores that do nothing else it takes less than three. */
const MINUTES = 25;

let files: readonly FileResult[] = [];
beforeAll(() => {
  checkOut();
  const profile = newProfile("vitest");
  const path = onDisk("work", "repository", RESULTS);
  rmSync(path, { force: true });
  const { stdout, stderr } = run({
    argv: [
      ...[NODE, `${CHECKOUT}\\node_modules\\vitest\\vitest.mjs`, "run", "--config", "test/windows/inside.config.ts"],
      ...["--reporter=json", `--outputFile=${RESULTS}`, ...Object.keys(FOLDERS).map((folder) => `test/${folder}/`)],
    ],
    env: { ...profile.env, CI: "true" },
    cwd: CHECKOUT,
    ms: MINUTES * 60_000,
  });
  if (!existsSync(path)) throw new Error(`vitest ended without results:\n${stdout.slice(-5000)}${stderr.slice(-5000)}`);
  files = (JSON.parse(readFileSync(path, "utf8")) as { readonly testResults: readonly FileResult[] }).testResults;
  console.log(["", ...table(COLUMNS, Object.keys(FOLDERS).map(rowOf), TERMINAL), "", ...reasons()].join("\n"));
}, MINUTES * 60_000);

describe("this repository's tests in Windows", () => {
  test.each(Object.keys(FOLDERS))("%s", (folder) => {
    const { passed, failed, broken } = countsOf(folder);
    expect([...failed.filter((one) => reasonOf(one) === undefined).map(textOf), ...broken]).toEqual([]);
    expect(passed.length).toBeGreaterThan(0);
  });

  test("every test that is known to fail still does", () => {
    const failed = Object.keys(FOLDERS).flatMap((folder) => countsOf(folder).failed);
    const stale = KNOWN.filter((known) => !failed.some((one) => isKnown(one, known)));
    expect(stale).toEqual([]);
  });
});

// --- internal ---

/** What vitest's JSON reporter writes about one file. */
interface FileResult {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages: readonly string[];
  }[];
}

interface TestResult {
  readonly file: string;
  readonly name: string;
  readonly status: string;
  readonly message: string;
}

function countsOf(folder: string) {
  const own = files
    .map((file) => ({ ...file, path: file.name.slice(CHECKOUT.length + 1) }))
    .filter(({ path }) => path.startsWith(`test/${folder}/`));
  const tests = own.flatMap(({ path, assertionResults }) =>
    assertionResults.map(({ fullName, status, failureMessages }): TestResult => {
      return { file: path, name: fullName, status, message: failureMessages[0] ?? "" };
    }),
  );
  const having = (status: string): readonly TestResult[] => tests.filter((one) => one.status === status);
  return {
    passed: having("passed"),
    failed: having("failed"),
    skipped: tests.filter(({ status }) => status !== "passed" && status !== "failed"),
    /** Files that could not be loaded. */
    broken: own
      .filter(
        ({ status, assertionResults }) =>
          status === "failed" && !assertionResults.some((one) => one.status === "failed"),
      )
      .map(({ path, message }) => `${path}: ${message}`),
  };
}

const isKnown = (one: TestResult, [file, name]: (typeof KNOWN)[number]): boolean =>
  one.file === file && one.name.startsWith(name);
const reasonOf = (one: TestResult): string | undefined => KNOWN.find((known) => isKnown(one, known))?.[2];
const textOf = ({ file, name, message }: TestResult): string => `${file} > ${name}: ${message.split("\n")[0]}`;

const TERMINAL = { columns: 120, colour: false };
const COLUMNS = [
  { title: "folder", cell: ({ folder }: Row) => folder, rank: 1 },
  ...(["passed", "failed", "known to fail", "skipped"] as const).map((title) => ({
    title,
    cell: (row: Row) => String(row[title]),
    align: "right" as const,
    rank: 1,
  })),
  { title: "what", cell: ({ folder }: Row) => FOLDERS[folder] ?? "", rank: 1 },
];

type Row = ReturnType<typeof rowOf>;

function rowOf(folder: string) {
  const { passed, failed, skipped, broken } = countsOf(folder);
  const known = failed.filter((one) => reasonOf(one) !== undefined);
  return {
    folder,
    passed: passed.length,
    failed: failed.length - known.length + broken.length,
    "known to fail": known.length,
    skipped: skipped.length,
  };
}

/** Why tests did not run or are known to fail: each reason, then its tests. */
function reasons(): readonly string[] {
  const all = [...Object.entries(NOT_RUN).map(([file, reason]) => [file, "", reason] as const), ...KNOWN];
  const of = new Map<string, string[]>();
  for (const [file, name, reason] of all)
    of.set(reason, [...(of.get(reason) ?? []), name === "" ? `${file} (not run)` : `${file} > ${name}`]);
  const skipped = Object.keys(FOLDERS).flatMap((folder) => countsOf(folder).skipped);
  const BY_THEMSELVES = "skipped by the tests themselves, because they need another system or a program";
  if (skipped.length > 0)
    of.set(
      BY_THEMSELVES,
      skipped.map(({ file, name }) => `${file} > ${name}`),
    );
  return [...of].flatMap(([reason, tests]) => [reason, ...tests.map((one) => `  ${one}`)]);
}

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { knownPrograms, subcommandOf } from "#agents/shared/names/subcommand.ts";
import fc from "../../../support/properties.ts";
import { firstOf, runs } from "../../../support/whole.ts";
import { setups } from "../../cli-wrapper/wrapped.ts";

const PROGRAMS = ["gh", "kubectl", "docker", "podman", "aws", "git", "npm", "terraform", "ssh", "mysql", "unknown"];

/** Runs the wrapper's functions for many command lines in one process. */
function byWrapper(interpreter: string, lines: readonly (readonly [string, readonly string[]])[]): readonly string[][] {
  const source = readFileSync("src/collect/intake/wrapper.sh", "utf8");
  const functions = source.slice(source.indexOf("find_words() {"), source.indexOf("# The terminal's first process"));
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const calls = lines.map(
    ([name, args]) => `w_name=${name}\nfind_words ${args.map(quoted).join(" ")}\nprintf '[%s]\\n' "$w_words"\n`,
  );
  const [program = "", ...flags] = interpreter.split(" ");
  const input = `LC_ALL=C\nunset IFS\n${functions}\n${calls.join("")}`;
  const output = execFileSync(program, flags, { input, encoding: "utf8" }).split("\n");
  return output.filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** A command line and its sub-command. */
const KNOWN: readonly (readonly [string, string])[] = [
  ["gh pr create --title planted --body planted", "pr create"],
  ["gh -R planted/planted pr view 12", "pr view"],
  ["gh pr --repo=planted/planted list", "pr list"],
  ["gh api /repos/planted -f token=planted", "api"],
  ["gh auth login --with-token", "auth login"],
  ["gh secret set planted --body planted", "secret set"],
  ["gh --version", ""],
  ["gh", ""],
  ["kubectl -n planted get pods planted", "get pods"],
  ["kubectl -nplanted get secret planted -o yaml", "get secret"],
  ["kubectl --token planted --context=planted delete pod planted", "delete pod"],
  ["kubectl logs planted -f", "logs"],
  ["kubectl exec -it planted -- sh", "exec"],
  ["kubectl apply -f planted.yaml", "apply"],
  ["kubectl get planted/planted", "get"],
  ["kubectl get Planted", "get"],
  ["kubectl --planted planted get pods", ""],
  ["aws --profile planted s3 ls s3://planted", "s3 ls"],
  ["aws s3 cp planted planted", "s3 cp"],
  ["aws --region planted ec2 describe-instances --filters planted", "ec2 describe-instances"],
  ["aws secretsmanager get-secret-value --secret-id planted", "secretsmanager get-secret-value"],
  ["aws an-alias planted planted", "an-alias"],
  ["docker --context planted ps -a", "ps"],
  ["docker -H tcp://planted run --rm planted planted", "run"],
  ["docker run alpine planted", "run"],
  ["docker compose -f planted.yml --profile planted up -d planted", "compose up"],
  ["docker -D image ls", "image ls"],
  ["docker login -u planted -p planted", "login"],
  ["podman container ls", "container ls"],
  ["git commit -m planted", "commit"],
  ["git -C planted commit", ""],
  ["npm run planted", "run"],
  ["terraform apply -var planted", "apply"],
  ["ssh planted planted", ""],
  ["mysql planted", ""],
  ["toString planted", ""],
  ["__proto__ planted", ""],
];

describe("the words of a sub-command", () => {
  const lines = KNOWN.map(([line]): [string, string[]] => {
    const [name = "", ...args] = line.split(" ");
    return [name, args];
  });
  const expected = KNOWN.map(([, words]) => words.split(" ").filter((word) => word !== ""));

  test("are recognised", () => {
    expect(lines.map(([name, args]) => subcommandOf(name, args))).toEqual(expected);
  });

  test.each(firstOf(setups, 2))("are the same in the wrapper under $title", ({ interpreter }) => {
    expect(byWrapper(interpreter, lines)).toEqual(expected);
  });

  test("are known of the same programs in the wrapper", () => {
    const source = readFileSync("src/collect/intake/wrapper.sh", "utf8");
    const [, cases = ""] = /find_words\(\) \{[\s\S]*?case \$w_name in\n([\s\S]*?)\n {2}esac/.exec(source) ?? [];
    const named = [...cases.matchAll(/^ {4}([a-z][a-z0-9 |\\\n]*)\)/gm)].flatMap(([, names = ""]) =>
      names.split(/[\s|\\]+/),
    );
    expect(named.sort()).toEqual([...knownPrograms()].sort());
  });

  test("end at an argument that is not a string", () => {
    expect(subcommandOf("gh", ["pr", 7, "create"])).toEqual(["pr"]);
    expect(subcommandOf("gh", [null, "pr"])).toEqual([]);
  });
});

describe("any command line", () => {
  // User input, marked with a character that no sub-command has
  const secret = fc.oneof(
    fc.string().map((text) => `${text}S3CRET${text}`),
    fc.constantFrom(
      "hunter_2S3CRET",
      "S3CRET",
      "-pS3CRET",
      "--password=S3CRET",
      "a/S3CRET",
      "s3cret.S3CRET",
      "ü S3CRET",
    ),
  );
  const option = fc.constantFrom(
    ...[
      "-n",
      "-R",
      "--repo",
      "--namespace",
      "-v",
      "-D",
      "--debug",
      "--tls",
      "--profile",
      "--region",
      "-H",
      "-f",
      "-p",
      "--",
    ],
    ...[
      "--unknown",
      "-x",
      "-nprod",
      "-n=prod",
      "--namespace=prod",
      "--debug=1",
      "--unknown=1",
      "-vv",
      "-",
      "-ü",
      "-n ü",
    ],
  );
  const word = fc.constantFrom(
    ...[
      "pr",
      "create",
      "get",
      "pods",
      "s3",
      "ls",
      "compose",
      "up",
      "run",
      "config",
      "set",
      "describe-instances",
      "ec2",
    ],
    ...[
      "image",
      "auth",
      "login",
      "a",
      "x1",
      "-",
      "a-b",
      "1a",
      "A",
      "a_b",
      "aé",
      "x".repeat(30),
      "x".repeat(31),
      "",
      " ",
    ],
  );
  const line = fc.tuple(
    fc.constantFrom(...PROGRAMS),
    fc.array(fc.oneof(word, option, secret, fc.string()), { maxLength: 7 }).map((args) =>
      // Arguments cannot contain NUL
      args.map((text) => text.replaceAll("\0", "")),
    ),
  );

  test("never yields user input", () => {
    fc.assert(
      fc.property(line, ([name, args]) => {
        const words = subcommandOf(name, args);
        expect(words.length).toBeLessThanOrEqual(2);
        for (const text of words) {
          expect(text).toMatch(/^[a-z][a-z0-9-]{0,29}$/);
          expect(args).toContain(text);
        }
      }),
      { numRuns: runs(2000) },
    );
  });

  test("an option's value is never a word of the sub-command, wherever the option is", () => {
    const valued = { gh: ["-R", "--repo"], kubectl: ["-n", "--token"], docker: ["-H", "--config"], aws: ["--profile"] };
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.entries(valued)),
        fc.stringMatching(/^[a-z]{3,9}$/),
        ([name, options], value) => {
          for (const flag of options) {
            expect(subcommandOf(name, [flag, value])).toEqual([]);
            expect(subcommandOf(name, [flag, value, "auth", "--unknown", value])).toEqual(["auth"]);
          }
        },
      ),
    );
  });

  test.each(firstOf(setups, 2))("the wrapper under $title parses it as the adapter does", ({ interpreter }) => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 60, maxLength: 60 }), (lines) => {
        expect(byWrapper(interpreter, lines)).toEqual(lines.map(([name, args]) => subcommandOf(name, args)));
      }),
      { numRuns: 12 },
    );
  });
});

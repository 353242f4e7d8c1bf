// Slow: only `npm run test:all` runs it. Git in odd repositories; commands/outcomes.test.ts follows commits.
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { commitsOfEdits } from "#changes/edited-commits.ts";
import { followCommits } from "#changes/git/follow.ts";
import { findGit, Git } from "#changes/git/git.ts";
import { GitWorld, lines } from "../support/git-world.ts";

const TICKET = "[A-Z]+-\\d+";

const world = new GitWorld();
afterAll(() => world.remove());

const open = (folder: string, limitMs = 60_000): Git => {
  const program = findGit(process.env, { projects: [folder], home: world.home }) ?? "";
  return new Git({ program, folder, home: world.home, env: process.env, untilMs: performance.now() + limitMs });
};

test("nothing that a repository's settings name is started, and nothing is fetched", async () => {
  const repo = world.repository();
  const [ran, script] = [world.path("ran"), world.path("script")];
  writeFileSync(script, `#!/bin/sh\ntouch ${ran}\ncat\n`);
  chmodSync(script, 0o755);
  repo.write(".gitattributes", "* diff=odd filter=odd\n").write("src/tax.js", lines("tax", 10)).commit("tax");
  repo.git("update-ref", "refs/notes/ai", "HEAD");
  const programs = ["core.fsmonitor", "core.pager", "diff.external", "diff.odd.command", "diff.odd.textconv"];
  const more = ["filter.odd.clean", "filter.odd.smudge", "gpg.program", "core.editor", "core.sshCommand", "pager.log"];
  for (const name of [...programs, ...more]) repo.git("config", name, script);
  repo.git("config", "log.showSignature", "true");
  for (const hook of ["post-checkout", "pre-commit", "reference-transaction", "post-index-change"]) {
    repo.write(`.git/hooks/${hook}`, `#!/bin/sh\ntouch ${ran}\n`);
    chmodSync(`${repo.folder}/.git/hooks/${hook}`, 0o755);
  }
  const commits = [{ commit: world.commits.get("tax") ?? "", timeMs: world.nowMs }];
  expect(await followCommits(open(repo.folder), commits, world.nowMs, TICKET)).toMatchObject([{ fate: "merged" }]);
  expect(existsSync(ran)).toBe(false);
});

test("git that takes too long is ended", async () => {
  const repo = world.repository("late");
  await expect(
    followCommits(open(repo.folder, 0), [{ commit: "abcdef0", timeMs: 0 }], world.nowMs, TICKET),
  ).rejects.toThrow("took too long");
});

test("a file that a session edited 200,000 times is found in the user's commit", async () => {
  const repo = world.repository("many-edits");
  repo.write("src/tax.js", lines("tax", 10)).commit("edited");
  const edits = Array.from({ length: 200_000 }, (_, at) => ({ path: "src/tax.js", timeMs: world.nowMs - 1_000 - at }));
  const session = { session: 1, folder: repo.folder, edits, commits: [] };
  const found = await commitsOfEdits(open(repo.folder), `${repo.folder}/.git`, [session]);
  expect(found.map(({ entry }) => entry.commit)).toEqual([world.commits.get("edited")]);
});

test("sessions that git-ai and Entire recorded are reported", async () => {
  const repo = world.repository("attested");
  repo.write("src/tax.js", lines("tax", 10)).commit("tax", "Tax\n\nEntire-Checkpoint: a3b2c4d5e6f7\nRefs: #12\n");
  const agent = { tool: "claude", id: "11111111-2222", model: "claude-opus-5" };
  const body = { schema_version: "authorship/3.0.0", prompts: { abcd1234: { agent_id: agent } } };
  const note = `src/tax.js\n  abcd1234 1-3,7\n---\n${JSON.stringify(body)}\n`;
  repo.git("notes", "--ref=ai", "add", "-m", note);
  const commits = [{ commit: world.commits.get("tax") ?? "", timeMs: world.nowMs }];
  const [found] = await followCommits(open(repo.folder), commits, world.nowMs, TICKET);
  expect(found?.attested).toEqual([
    { by: "git-ai", name: "claude", id: "11111111-2222", lines: 4 },
    { by: "trailer", name: "Entire-Checkpoint", id: "a3b2c4d5e6f7" },
  ]);
});

test("a repository's folder in PATH does not bring another git", () => {
  const repo = world.repository("own-git");
  repo.write("bin/git", "#!/bin/sh\n");
  chmodSync(`${repo.folder}/bin/git`, 0o755);
  const env = { PATH: `${repo.folder}/bin:${process.env["PATH"]}` };
  expect(findGit(env, { projects: [repo.folder], home: world.home })).not.toContain(repo.folder);
});

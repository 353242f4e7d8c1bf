import { describe, expect, test } from "vitest";
import { changesOfShell } from "#agents/shared/changes/printed.ts";
import { COMPUTED, shellCommands } from "#agents/shared/changes/shell.ts";

const words = (text: string) => shellCommands(text)?.map(({ words, next }) => `${words.join(" ")} ${next}`.trim());

test("a command line is split into its programs", () => {
  expect(words(`cd /a && git add -A; git commit -m 'a; b' | tail -1`)).toEqual([
    "cd /a &&",
    "git add -A ;",
    "git commit -m a; b |",
    "tail -1",
  ]);
  const message = `git commit -m "$(cat <<'EOF'\nfix: it's "(odd" $x\n\nRefs: A-1\nEOF\n)" && git push`;
  expect(words(message)).toEqual([`git commit -m ${COMPUTED} &&`, "git push"]);
  expect(words(`bash -lc 'git add . && git commit -qm "x"' && ls`)).toEqual([
    "git add . &&",
    "git commit -qm x &&",
    "ls",
  ]);
  expect(words("if git commit -m x 2>&1 >/dev/null; then echo $((1+2)); fi")).toEqual([
    "git commit -m x ;",
    `echo ${COMPUTED} ;`,
  ]);
  expect(words("cat <<EOF > notes\n[main 1234567] x\nEOF\ngit status")).toEqual(["cat ;", "git status"]);
  for (const broken of [`git commit -m "x`, "echo 'x", "echo $(ls", "cat <<EOF\nx"])
    expect(words(broken)).toBe(undefined);
});

const ANSWER = "[main 1a2b3c4] subject\n 1 file changed, 1 insertion(+)";
const found = (command: string, output: string, cwd?: string) =>
  changesOfShell(command, output, cwd).commits.map(({ commit, certainty }) => `${commit} ${certainty}`);

describe("a commit is observed only if nothing else can have printed its id", () => {
  test.each([
    ["git commit -m x", ANSWER],
    ["git add -A && git commit -m x && git status", `${ANSWER}\nnothing to commit`],
    ["npm test && git commit -m x", `ok\n${ANSWER}`],
    [`/usr/bin/git -c user.name=me commit -am "x"`, ANSWER],
    ["git commit --amend --no-edit", ANSWER],
    ["git cherry-pick abc1234", ANSWER],
    ["git revert --no-edit HEAD", ANSWER],
  ])("%s", (command, output) => {
    expect(found(command, output)).toEqual(["1a2b3c4 observed"]);
  });

  test.each([
    ["git commit -m x; git status", ANSWER],
    ["git commit -m x | tail -3", ANSWER],
    ["git commit -m x || true", ANSWER],
  ])("it is inferred where the commit may have failed: %s", (command, output) => {
    expect(found(command, output)).toEqual(["1a2b3c4 inferred"]);
  });

  test.each([
    ["git log -1", ANSWER],
    ["cat notes.txt", ANSWER],
    ["echo git commit -m x", ANSWER],
    ["git commit -m x; cat notes.txt", ANSWER],
    ["npm test; git commit -m x", ANSWER],
    ["npm test && git commit -m x", `${ANSWER}\n${ANSWER}`],
    ["git commit --dry-run", ANSWER],
    ["git commit -m x", "On branch main\nnothing to commit, working tree clean"],
    ["git status", "[main 1a2b3c4] subject"],
    ["git merge feature", "Updating 1a2b3c4..2b3c4d5\nFast-forward"],
    ["git commit -q -m x && cat notes.txt", ANSWER],
  ])("no commit is found: %s", (command, output) => {
    expect(found(command, output)).toEqual([]);
  });

  test("several commits of one call are all found, and a quiet one by the id of HEAD", () => {
    const two = "[main 1a2b3c4] a\n[fix/x 2b3c4d5] b";
    expect(found("git commit -m a && git switch -c fix/x && git commit --allow-empty -m b", two)).toEqual([
      "1a2b3c4 observed",
      "2b3c4d5 observed",
    ]);
    const full = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d";
    expect(found("git commit -qm x && git rev-parse HEAD", `${full}\n`)).toEqual([`${full} observed`]);
    expect(found("git commit -qm x; git rev-parse HEAD", `${full}\n`)).toEqual([]);
  });

  test("a call in another folder may be in another repository", () => {
    const elsewhere = (command: string, cwd?: string) =>
      changesOfShell(command, ANSWER, cwd).commits.map((one) => one.isElsewhere === true);
    expect(elsewhere("git commit -m x", "/a")).toEqual([false]);
    expect(elsewhere("cd /a/ && git commit -m x", "/a")).toEqual([false]);
    expect(elsewhere("cd ../b && git commit -m x", "/a")).toEqual([true]);
    expect(elsewhere("git -C ../b commit -m x", "/a")).toEqual([true]);
    expect(elsewhere("GIT_DIR=/b/.git git commit -m x", "/a")).toEqual([true]);
    expect(elsewhere("git commit -C HEAD~1", "/a")).toEqual([false]);
  });
});

describe("pull requests and issues", () => {
  const PULL = "https://github.com/acme/shop/pull/12";
  const changes = (command: string, output: string) =>
    changesOfShell(command, output, undefined).changes.map(
      ({ changeKind, change, url, isCreated }) => `${changeKind} ${change} ${url}${isCreated ? " created" : ""}`,
    );

  test.each([
    ["gh pr create --title x --body y", `Creating pull request for x into main in acme/shop\n\n${PULL}\n`],
    ["git push -u origin x && gh pr create --fill", `remote: ${PULL.replace("/12", "/new/x")}\n${PULL}\n`],
    [`gh pr create --body "$(cat <<'EOF'\nlike https://github.com/acme/shop/pull/3\nEOF\n)"`, PULL],
    [
      "gh api repos/acme/shop/pulls -f title=x",
      `{"url":"https://api.github.com/repos/acme/shop/pulls/12","html_url":"${PULL}"}`,
    ],
    ["curl -d @body https://api.github.com/repos/acme/shop/pulls", `{"html_url": "${PULL}"}`],
  ])("a created pull request is found: %s", (command, output) => {
    expect(changes(command, output)).toEqual([`pull_request 12 ${PULL} created`]);
  });

  test("merge requests and issues are found", () => {
    const merge = "https://gitlab.example.com/a/b/shop/-/merge_requests/7";
    expect(changes("glab mr create --fill", `!7 x (y)\n ${merge}\n`)).toEqual([`pull_request 7 ${merge} created`]);
    const issue = "https://github.com/acme/shop/issues/5";
    expect(changes("gh issue create -t x -b y", issue)).toEqual([`issue 5 ${issue} created`]);
    expect(changes("gh issue view 5", `title:\tx\nurl:\t${issue}\n--\nsee ${PULL}`)).toEqual([`issue 5 ${issue}`]);
  });

  test.each([
    ["gh pr list", `12\tx\n${PULL}`],
    ["cat README.md", PULL],
    ["gh pr create --fill; cat README.md", PULL],
    ["gh pr view 12", `body\n${PULL}\n${PULL.replace("12", "13")}`],
    [
      "git push",
      `remote: Create a pull request for 'x' by visiting:\nremote:   https://github.com/acme/shop/pull/new/x`,
    ],
  ])("no pull request is found: %s", (command, output) => {
    expect(changes(command, output)).toEqual([]);
  });

  test("a pull request that exists already was not created", () => {
    const output = `a pull request for branch "x" into branch "main" already exists:\n${PULL}`;
    expect(changes("gh pr create --fill | tail -1", output)).toEqual([`pull_request 12 ${PULL}`]);
  });
});

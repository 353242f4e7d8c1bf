import type { Fate, Rewritten } from "#core/model/outcomes.ts";
import { type Checkout, type GitWorld, lines } from "../support/git-world.ts";

/** The right answer for one commit. */
export interface Answer {
  /** How certain the store must be that an agent made it; `unobserved`: at most inferred. Absent: not checked. */
  readonly fact?: "observed" | "inferred" | "none" | "unobserved";
  readonly fate: Fate;
  readonly rewritten?: readonly [label: string, how: Rewritten["how"]];
  /** Lines written, and those that are still there at the end. */
  readonly lines?: readonly [written: number, now: number];
}

export interface Situation {
  readonly name: string;
  /** Lets users and agents work. @returns the checkout whose commits are checked */
  readonly run: (world: GitWorld) => Checkout;
  /** By label. */
  readonly commits: Readonly<Record<string, Answer>>;
}

/** What can happen to commits of agents, and of others beside them. */
export const SITUATIONS: readonly Situation[] = [
  {
    name: "Claude Code commits on the default branch",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("tax"));
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "merged", lines: [10, 10] } },
  },
  {
    name: "Codex commits on the default branch",
    run: (world) => {
      const repo = world.repository();
      world.session("codex", repo).turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("tax"));
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "merged", lines: [10, 10] } },
  },
  {
    name: "the user commits what the agent edited, between two turns",
    run: (world) => {
      const repo = world.repository();
      const agent = world.session("claude-code", repo).turn((it) => it.write("src/tax.js", lines("tax", 4)));
      repo.commit("tax");
      agent.turn((it) => it.git("status"));
      return repo;
    },
    commits: { tax: { fact: "inferred", fate: "merged", lines: [4, 4] } },
  },
  {
    name: "the user commits what the agent edited, with other files",
    run: (world) => {
      const repo = world.repository();
      const agent = world.session("codex", repo).turn((it) => it.write("src/tax.js", lines("tax", 4)));
      repo.write("src/own.js", lines("own", 3)).commit("mixed");
      agent.turn((it) => it.git("status"));
      return repo;
    },
    commits: { mixed: { fact: "inferred", fate: "merged", lines: [7, 7] } },
  },
  {
    name: "the user commits what the agent edited in parts, and goes on",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((it) => {
        it.write("src/tax.js", lines("tax", 4)).write("src/vat.js", lines("vat", 3));
      });
      repo.write("src/own.js", lines("own", 3)).git("add", "src/own.js");
      repo.git("commit", "-qm", "Own");
      repo.mark("own").git("add", "src/tax.js");
      repo.git("commit", "-qm", "Tax");
      repo.mark("tax").commit("vat");
      return repo.append("src/vat.js", "more\n").commit("later");
    },
    commits: {
      own: { fact: "none", fate: "merged" },
      tax: { fact: "inferred", fate: "merged" },
      vat: { fact: "inferred", fate: "merged" },
      later: { fact: "none", fate: "merged" },
    },
  },
  {
    name: "the user commits after the session, days later and too late",
    run: (world) => {
      const repo = world.repository();
      const agent = world.session("claude-code", repo).turn((it) => {
        it.write("src/tax.js", lines("tax", 4)).write("src/vat.js", lines("vat", 3));
      });
      agent.end();
      world.days(3);
      repo.git("add", "src/tax.js");
      repo.git("commit", "-qm", "Tax");
      repo.mark("tax");
      world.days(5);
      return repo.commit("vat");
    },
    commits: { tax: { fact: "inferred", fate: "merged" }, vat: { fact: "none", fate: "merged" } },
  },
  {
    name: "the user amends the agent's commit with what the agent edited next",
    run: (world) => {
      const repo = world.repository();
      const agent = world.session("claude-code", repo).turn((it) => {
        it.write("src/tax.js", lines("tax", 10)).commit("first");
      });
      agent.turn((it) => it.write("src/tax.js", lines("tax", 12)));
      repo.git("commit", "-qa", "--amend", "-m", "Second");
      repo.mark("second").git("commit", "-q", "--amend", "-m", "Better words");
      return repo.mark("third");
    },
    commits: {
      first: { fact: "observed", fate: "merged", rewritten: ["third", "amend"], lines: [10, 10] },
      second: { fact: "inferred", fate: "merged", rewritten: ["third", "patch"] },
      third: { fact: "none", fate: "merged" },
    },
  },
  {
    name: "the user commits files of the same names in another worktree",
    run: (world) => {
      const repo = world.repository();
      const side = repo.worktree("side", "side");
      const agent = world.session("claude-code", repo).turn((it) => it.write("src/tax.js", lines("tax", 4)));
      side.write("src/tax.js", lines("own", 4)).commit("own");
      agent.turn((it) => it.git("status"));
      return repo.commit("tax");
    },
    commits: { own: { fact: "none", fate: "open" }, tax: { fact: "inferred", fate: "merged" } },
  },
  {
    name: "another agent commits what the agent edited",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((it) => it.write("src/tax.js", lines("tax", 4)));
      world.session("codex", repo).turn((it) => it.commit("tax"));
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "merged", lines: [4, 4] } },
  },
  {
    name: "the user cherry-picks, reverts and merges commits with files that the agent edited",
    run: (world) => {
      const repo = world.repository();
      repo.git("switch", "-qc", "feature");
      repo.append("src/cart.js", "theirs\n").commit("theirs");
      repo.git("switch", "-q", "main");
      const agent = world.session("claude-code", repo).turn((it) => it.write("src/cart.js", lines("cart", 30)));
      repo.git("cherry-pick", "feature");
      repo.mark("picked").git("revert", "--no-edit", "HEAD");
      repo.mark("taken").git("merge", "-q", "--no-ff", "-m", "Merge", "feature");
      repo.mark("merge");
      agent.turn((it) => it.git("status"));
      return repo;
    },
    commits: {
      picked: { fact: "none", fate: "reverted" },
      taken: { fact: "none", fate: "merged" },
      merge: { fact: "none", fate: "merged" },
    },
  },
  {
    name: "the user commits other files between two turns",
    run: (world) => {
      const repo = world.repository();
      const agent = world.session("claude-code", repo).turn((it) => it.git("status"));
      repo.write("src/own.js", lines("own", 4)).commit("own");
      agent.turn((it) => it.git("status"));
      return repo;
    },
    commits: { own: { fact: "none", fate: "merged" } },
  },
  {
    name: "the user commits while the agent works",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => {
        agent.git("status");
        repo.write("src/own.js", lines("own", 4)).commit("own");
        agent.git("status");
      });
      return repo;
    },
    commits: { own: { fact: "unobserved", fate: "merged" } },
  },
  {
    name: "the agent amends its commit",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => {
        agent.write("src/tax.js", lines("tax", 10)).commit("first");
        agent.write("src/tax.js", lines("tax", 12)).git("add", "-A").git("commit", "--amend", "-m", "Better");
        repo.mark("second");
      });
      return repo;
    },
    commits: {
      first: { fact: "observed", fate: "merged", rewritten: ["second", "amend"], lines: [10, 10] },
      second: { fact: "observed", fate: "merged", lines: [12, 12] },
    },
  },
  {
    name: "the user amends the agent's commit twice",
    run: (world) => {
      const repo = world.repository();
      world.session("codex", repo).turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("first"));
      repo.append("src/tax.js", "more\n").git("commit", "-qa", "--amend", "-m", "Second");
      repo.append("src/tax.js", "and more\n").git("commit", "-qa", "--amend", "-m", "Third");
      return repo.mark("third");
    },
    commits: {
      first: { fact: "observed", fate: "merged", rewritten: ["third", "amend"], lines: [10, 10] },
      third: { fact: "unobserved", fate: "merged", lines: [12, 12] },
    },
  },
  {
    name: "a branch is merged with a merge commit",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => {
        agent.git("switch", "-c", "feature").write("src/tax.js", lines("tax", 10)).commit("tax");
      });
      repo.git("switch", "-q", "main");
      repo.write("src/own.js", lines("own", 4)).commit("own");
      repo.git("merge", "-q", "--no-ff", "-m", "Merge", "feature");
      repo.mark("merge");
      return repo;
    },
    commits: {
      tax: { fact: "observed", fate: "merged", lines: [10, 10] },
      own: { fact: "none", fate: "merged" },
      merge: { fact: "none", fate: "merged" },
    },
  },
  {
    name: "a branch is merged by a fast-forward",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => {
        agent.git("switch", "-c", "feature").write("src/tax.js", lines("tax", 10)).commit("tax");
      });
      repo.git("switch", "-q", "main");
      repo.git("merge", "-q", "--ff-only", "feature");
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "merged", lines: [10, 10] } },
  },
  {
    name: "the user rebases a branch and merges it",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => {
        agent.git("switch", "-c", "feature").write("src/tax.js", lines("tax", 10)).commit("tax");
        agent.write("src/vat.js", lines("vat", 5)).commit("vat");
      });
      repo.git("switch", "-q", "main");
      repo.write("src/own.js", lines("own", 4)).commit("own");
      repo.git("rebase", "-q", "main", "feature");
      repo.git("switch", "-q", "main");
      repo.git("merge", "-q", "--ff-only", "feature");
      return repo.mark("new tax", "HEAD~").mark("new vat");
    },
    commits: {
      tax: { fact: "observed", fate: "merged", rewritten: ["new tax", "patch"], lines: [10, 10] },
      vat: { fact: "observed", fate: "merged", rewritten: ["new vat", "patch"], lines: [5, 5] },
      "new tax": { fact: "unobserved", fate: "merged" },
      "new vat": { fact: "unobserved", fate: "merged" },
    },
  },
  {
    name: "a branch is squashed, and stays",
    run: (world) => squash(world, (repo) => repo.git("merge", "-q", "--squash", "feature")),
    commits: {
      tax: { fact: "observed", fate: "merged", rewritten: ["squash", "squash"], lines: [10, 10] },
      vat: { fact: "observed", fate: "merged", rewritten: ["squash", "squash"], lines: [5, 5] },
      squash: { fact: "none", fate: "merged" },
    },
  },
  {
    name: "a branch is squashed, and deleted",
    run: (world) => {
      const repo = squash(world, (it) => it.git("merge", "-q", "--squash", "feature"));
      repo.git("branch", "-qD", "feature");
      return repo;
    },
    commits: {
      tax: { fact: "observed", fate: "merged", rewritten: ["squash", "squash"], lines: [10, 10] },
      vat: { fact: "observed", fate: "merged", rewritten: ["squash", "squash"], lines: [5, 5] },
    },
  },
  {
    name: "a branch is squashed after the user added a commit, and deleted",
    run: (world) => {
      const repo = squash(world, (it) => {
        it.git("switch", "-q", "feature");
        it.write("src/more.js", lines("more", 3)).commit("more");
        it.git("switch", "-q", "main");
        it.git("merge", "-q", "--squash", "feature");
      });
      repo.git("branch", "-qD", "feature");
      return repo;
    },
    commits: {
      tax: { fact: "observed", fate: "merged", rewritten: ["squash", "squash"], lines: [10, 10] },
      more: { fact: "unobserved", fate: "merged", rewritten: ["squash", "squash"] },
    },
  },
  {
    name: "a squash whose message lists the commits, with other content",
    run: (world) =>
      squash(world, (repo) => {
        repo.git("merge", "-q", "--squash", "feature");
        repo.append("src/vat.js", "mended while merging\n");
        return `Squash\n\nSquashed commit of the following:\n\ncommit ${world.commits.get("tax")}\n`;
      }),
    commits: { tax: { fact: "observed", fate: "merged", rewritten: ["squash", "message"], lines: [10, 10] } },
  },
  {
    name: "the agent's commit is cherry-picked onto the default branch",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => {
        agent.git("switch", "-c", "feature").write("src/tax.js", lines("tax", 10)).commit("tax");
      });
      repo.git("switch", "-q", "main");
      repo.write("src/own.js", lines("own", 4)).commit("own");
      repo.git("cherry-pick", "feature");
      return repo.mark("picked");
    },
    commits: {
      tax: { fact: "observed", fate: "merged", rewritten: ["picked", "patch"], lines: [10, 10] },
      picked: { fact: "none", fate: "merged" },
    },
  },
  {
    name: "the user reverts the agent's commit",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("tax"));
      repo.git("revert", "--no-edit", "HEAD");
      return repo.mark("revert");
    },
    commits: {
      tax: { fact: "observed", fate: "reverted", lines: [10, 0] },
      revert: { fact: "unobserved", fate: "merged" },
    },
  },
  {
    name: "the agent reverts its commit",
    run: (world) => {
      const repo = world.repository();
      world.session("codex", repo).turn((agent) => {
        agent.write("src/tax.js", lines("tax", 10)).commit("tax").git("revert", "--no-edit", "HEAD");
        repo.mark("revert");
      });
      return repo;
    },
    commits: {
      tax: { fact: "observed", fate: "reverted", lines: [10, 0] },
      revert: { fact: "observed", fate: "merged" },
    },
  },
  ...["stays", "is deleted"].map(
    (what): Situation => ({
      name: `the user rebases the agent's branch, which is then squashed and ${what}`,
      run: (world) => {
        const repo = world.repository();
        repo.git("checkout", "-qb", "fix");
        world.session("claude-code", repo).turn((agent) => {
          agent.write("src/tax.js", lines("tax", 10)).commit("tax").write("src/vat.js", lines("vat", 5)).commit("vat");
        });
        repo.git("checkout", "-q", "main");
        repo.write("src/own.js", lines("own", 3)).commit("own");
        repo.git("checkout", "-q", "fix");
        repo.git("rebase", "-q", "main");
        repo.git("checkout", "-q", "main");
        repo.git("merge", "-q", "--squash", "fix");
        repo.commit("squash", "Fix (#12)");
        if (what === "is deleted") repo.git("branch", "-qD", "fix");
        return repo;
      },
      commits: {
        tax: { fact: "observed", fate: "merged", rewritten: ["squash", "squash"], lines: [10, 10] },
        vat: { fact: "observed", fate: "merged", rewritten: ["squash", "squash"], lines: [5, 5] },
      },
    }),
  ),
  {
    name: "a reverted commit is cherry-picked again",
    run: (world) => {
      const repo = world.repository();
      world.session("codex", repo).turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("tax"));
      repo.git("revert", "--no-edit", "HEAD");
      repo.git("cherry-pick", "HEAD~1");
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "merged", lines: [10, 10] } },
  },
  {
    name: "a revert is reverted",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("tax"));
      repo.git("revert", "--no-edit", "HEAD");
      repo.git("revert", "--no-edit", "HEAD");
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "merged", lines: [10, 10] } },
  },
  {
    name: "a commit is reverted with another message",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("tax"));
      repo.git("revert", "--no-commit", "HEAD");
      return repo.commit("We do without");
    },
    commits: { tax: { fact: "observed", fate: "reverted", lines: [10, 0] } },
  },
  {
    name: "the merge of a branch is reverted",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => {
        agent.git("switch", "-c", "feature").write("src/tax.js", lines("tax", 10)).commit("tax");
        agent.write("src/vat.js", lines("vat", 5)).commit("vat");
      });
      repo.git("switch", "-q", "main");
      repo.git("merge", "-q", "--no-ff", "-m", "Merge", "feature");
      repo.git("revert", "--no-edit", "-m", "1", "HEAD");
      return repo;
    },
    commits: { tax: { fate: "reverted", lines: [10, 0] }, vat: { fate: "reverted", lines: [5, 0] } },
  },
  {
    name: "somebody pushes over the default branch",
    run: (world) => {
      const repo = world.cloned();
      world.session("claude-code", repo).turn((agent) => {
        agent.write("src/tax.js", lines("tax", 10)).commit("tax").git("push", "-q");
      });
      const other = world.clone("shop.git", "other");
      other.git("reset", "-q", "--hard", "HEAD~");
      other.write("src/own.js", lines("own", 4)).commit("own");
      other.git("push", "-qf");
      repo.git("fetch", "-q");
      repo.git("reset", "-q", "--hard", "origin/main");
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "gone" }, own: { fact: "none", fate: "merged" } },
  },
  {
    name: "a branch is deleted without a merge",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => {
        agent.git("switch", "-c", "feature").write("src/tax.js", lines("tax", 10)).commit("tax");
      });
      repo.git("switch", "-q", "main");
      repo.git("branch", "-qD", "feature");
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "gone" } },
  },
  {
    name: "a branch is not merged yet",
    run: (world) => {
      const repo = world.cloned();
      world.session("codex", repo).turn((agent) => {
        agent.git("switch", "-c", "feature").write("src/tax.js", lines("tax", 10)).commit("tax");
        agent.git("push", "-q", "-u", "origin", "feature");
      });
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "open" } },
  },
  {
    name: "a commit is only on the local default branch, and not pushed",
    run: (world) => {
      const repo = world.cloned();
      world.session("claude-code", repo).turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("tax"));
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "open" } },
  },
  {
    name: "two agents work in two worktrees at the same time",
    run: (world) => {
      const repo = world.repository();
      const [left, right] = [repo.worktree("left", "left"), repo.worktree("right", "right")];
      const [one, two] = [world.session("claude-code", left), world.session("codex", right)];
      one.turn((agent) => {
        agent.write("src/tax.js", lines("tax", 10));
        two.turn((other) => other.write("src/vat.js", lines("vat", 5)).commit("vat"));
        agent.commit("tax");
      });
      repo.git("merge", "-q", "--no-ff", "-m", "Merge", "left");
      return repo;
    },
    commits: {
      tax: { fact: "observed", fate: "merged", lines: [10, 10] },
      vat: { fact: "observed", fate: "open" },
    },
  },
  {
    name: "two agents commit on one branch in turn",
    run: (world) => {
      const repo = world.repository();
      const [one, two] = [world.session("claude-code", repo), world.session("codex", repo)];
      one.turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("tax"));
      two.turn((agent) => agent.write("src/vat.js", lines("vat", 5)).commit("vat"));
      one.turn((agent) => agent.write("src/tax.js", lines("tax", 11)).commit("more"));
      return repo;
    },
    commits: {
      tax: { fact: "observed", fate: "merged", lines: [10, 10] },
      vat: { fact: "observed", fate: "merged", lines: [5, 5] },
      more: { fact: "observed", fate: "merged", lines: [1, 1] },
    },
  },
  {
    name: "the agent works in a submodule",
    run: (world) => {
      const [repo, part] = [world.repository(), world.repository("part")];
      repo.git("submodule", "--quiet", "add", part.folder, "part");
      repo.commit("with part");
      const inside = world.checkout("shop/part");
      world.session("claude-code", inside).turn((agent) => agent.write("tax.js", lines("tax", 10)).commit("tax"));
      world.commits.delete("with part");
      return inside;
    },
    // The submodule's own remote does not have it yet
    commits: { tax: { fact: "observed", fate: "open" } },
  },
  {
    name: "the agent works in a shallow clone and pushes",
    run: (world) => {
      const repo = world.cloned("shop", "--depth=1");
      world.session("claude-code", repo).turn((agent) => {
        agent.write("src/tax.js", lines("tax", 10)).commit("tax").git("push", "-q");
      });
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "merged", lines: [10, 10] } },
  },
  {
    name: "a shallow clone does not have the commit",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("tax"));
      repo.write("src/own.js", lines("own", 4)).commit("own");
      return world.clone("shop", "shallow", "--depth=1");
    },
    commits: { tax: { fact: "observed", fate: "unknown" }, own: { fact: "unobserved", fate: "merged" } },
  },
  {
    name: "the agent works in a clone without old files",
    run: (world) => {
      const repo = world.repository();
      repo.git("config", "uploadpack.allowFilter", "true");
      repo.write("src/cart.js", lines("wagon", 30)).commit("wagon");
      const partial = world.clone("shop", "partial", "--filter=blob:none");
      world.session("claude-code", partial).turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("tax"));
      partial.git("push", "-q", "origin", "HEAD:feature");
      partial.git("branch", "-q", "kept");
      partial.git("update-ref", "refs/remotes/origin/main", "HEAD");
      return partial;
    },
    commits: { tax: { fact: "observed", fate: "merged", lines: [10, 10] } },
  },
  {
    name: "a merge queue makes new commits",
    run: (world) => {
      const repo = world.cloned();
      world.session("claude-code", repo).turn((agent) => {
        agent.git("switch", "-c", "feature").write("src/tax.js", lines("tax", 10)).commit("tax");
        agent.git("push", "-q", "-u", "origin", "feature");
      });
      const queue = world.clone("shop.git", "queue");
      queue.write("src/own.js", lines("own", 4)).commit("own");
      queue.git("cherry-pick", "origin/feature");
      queue.mark("queued");
      queue.git("push", "-q");
      queue.git("push", "-q", "origin", ":feature");
      repo.git("fetch", "-q", "--prune");
      return repo;
    },
    commits: {
      tax: { fact: "observed", fate: "merged", rewritten: ["queued", "patch"], lines: [10, 10] },
      queued: { fact: "none", fate: "merged" },
    },
  },
  {
    name: "a subagent commits",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => {
        agent.subagent((it) => it.write("src/tax.js", lines("tax", 10)).commit("tax"));
      });
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "merged", lines: [10, 10] } },
  },
  {
    name: "git commit fails, because a hook of the repository refuses",
    run: (world) => {
      const repo = world.repository().mark("begin");
      repo.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
      world.session("claude-code", repo).turn((agent) => {
        agent.shell("chmod +x .git/hooks/pre-commit", () => world.chmod(`${repo.folder}/.git/hooks/pre-commit`));
        agent.write("src/tax.js", lines("tax", 10)).git("add", "-A").git("commit", "-m", "No");
      });
      return repo;
    },
    commits: { begin: { fact: "none", fate: "merged" } },
  },
  {
    name: "git commit has nothing to commit",
    run: (world) => {
      const repo = world.repository().mark("begin");
      world.session("codex", repo).turn((agent) => agent.git("commit", "-m", "Nothing"));
      return repo;
    },
    commits: { begin: { fact: "none", fate: "merged" } },
  },
  {
    name: "the agent commits in another repository",
    run: (world) => {
      const [repo, other] = [world.repository(), world.repository("other")];
      world.session("claude-code", repo).turn((agent) => {
        agent.write("tax.js", lines("tax", 10), other.folder).commit("tax", "Tax", other.folder);
      });
      return other;
    },
    commits: { tax: { fact: "observed", fate: "merged", lines: [10, 10] } },
  },
  {
    name: "a file is renamed and edited later",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("tax"));
      world.days(10);
      repo.move("src/tax.js", "src/rates/tax.js").write("src/rates/tax.js", `${lines("tax", 7)}own\n`);
      return repo.commit("moved");
    },
    commits: { tax: { fact: "observed", fate: "merged", lines: [10, 7] }, moved: { fact: "none", fate: "merged" } },
  },
  {
    name: "the agent renames a file and changes two lines",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => {
        agent
          .git("mv", "src/cart.js", "src/basket.js")
          .write("src/basket.js", `${lines("cart", 28)}a\nb\n`)
          .commit("basket");
      });
      return repo;
    },
    commits: { basket: { fact: "observed", fate: "merged", lines: [2, 2] } },
  },
  {
    name: "the user rewrites half of the lines",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("tax"));
      repo.write("src/tax.js", lines("tax", 5) + lines("own", 20)).commit("own");
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "merged", lines: [10, 5] } },
  },
  {
    name: "the agent commits on a detached HEAD",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => {
        agent.git("checkout", "--detach").write("src/tax.js", lines("tax", 10)).commit("tax");
      });
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "open" } },
  },
  {
    name: "git commit -q prints nothing",
    run: (world) => {
      const repo = world.repository();
      world.session("codex", repo).turn((agent) => {
        agent.write("src/tax.js", lines("tax", 10)).git("add", "-A").git("commit", "-qm", "tax");
        repo.mark("tax");
      });
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "merged", lines: [10, 10] } },
  },
  {
    name: "the agent shows commits of others",
    run: (world) => {
      const repo = world.repository();
      repo.write("src/own.js", lines("own", 4)).commit("own");
      world
        .session("claude-code", repo)
        .turn((agent) => agent.git("log", "-3").git("show", "HEAD").git("log", "--oneline"));
      return repo;
    },
    commits: { own: { fact: "none", fate: "merged" } },
  },
  {
    name: "the agent pulls and checks out commits of others",
    run: (world) => {
      const repo = world.cloned();
      const other = world.clone("shop.git", "other");
      other.write("src/own.js", lines("own", 4)).commit("own");
      other.git("push", "-q");
      world.session("claude-code", repo).turn((agent) => {
        agent.git("pull", "-q").git("checkout", "-q", "HEAD~").git("checkout", "-q", "main");
      });
      return repo;
    },
    commits: { own: { fact: "none", fate: "merged" } },
  },
  {
    name: "the agent merges the user's branch",
    run: (world) => {
      const repo = world.repository();
      repo.git("switch", "-qc", "feature");
      repo.write("src/own.js", lines("own", 4)).commit("own");
      repo.git("switch", "-q", "main");
      world.session("claude-code", repo).turn((agent) => {
        agent.git("merge", "--no-ff", "-m", "Merge", "feature");
        repo.mark("merge");
      });
      return repo;
    },
    commits: { own: { fact: "none", fate: "merged" }, merge: { fact: "observed", fate: "merged" } },
  },
  {
    name: "the agent cherry-picks the user's commit",
    run: (world) => {
      const repo = world.repository();
      repo.git("switch", "-qc", "feature");
      repo.write("src/own.js", lines("own", 4)).commit("own");
      repo.git("switch", "-q", "main");
      repo.write("src/more.js", lines("more", 4)).commit("more");
      world.session("claude-code", repo).turn((agent) => {
        agent.git("cherry-pick", "-x", "feature");
        repo.mark("picked");
      });
      return repo;
    },
    commits: {
      own: { fact: "none", fate: "merged", rewritten: ["picked", "patch"] },
      picked: { fact: "observed", fate: "merged" },
    },
  },
  {
    name: "the same change was made by somebody else before",
    run: (world) => {
      const repo = world.repository();
      repo.git("branch", "-q", "feature");
      repo.write("src/tax.js", lines("tax", 10)).commit("own");
      repo.git("switch", "-q", "feature");
      world.session("claude-code", repo).turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("tax"));
      return repo;
    },
    commits: { own: { fact: "none", fate: "merged" }, tax: { fact: "observed", fate: "open" } },
  },
  {
    name: "the agent undoes its commit and makes another one",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => {
        agent.write("src/tax.js", lines("tax", 10)).commit("first").git("reset", "--hard", "HEAD~");
        agent.write("src/vat.js", lines("vat", 5)).commit("second");
      });
      return repo;
    },
    commits: { first: { fact: "observed", fate: "gone" }, second: { fact: "observed", fate: "merged", lines: [5, 5] } },
  },
  {
    name: "the agent stashes and applies its work",
    run: (world) => {
      const repo = world.repository().mark("begin");
      world.session("claude-code", repo).turn((agent) => {
        agent.write("src/cart.js", lines("wagon", 3)).git("stash").git("stash", "pop").commit("tax");
      });
      return repo;
    },
    commits: { begin: { fact: "none", fate: "merged" }, tax: { fact: "observed", fate: "merged", lines: [3, 3] } },
  },
  {
    name: "an empty commit",
    run: (world) => {
      const repo = world.repository();
      world.session("codex", repo).turn((agent) => {
        agent.git("commit", "--allow-empty", "-m", "Again");
        repo.mark("again");
      });
      return repo;
    },
    commits: { again: { fact: "observed", fate: "merged" } },
  },
  {
    name: "files with unusual names and contents",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => {
        agent.write('a "b" ü\t.txt', lines("tax", 3)).write("-- x", "@@ -1 +1 @@\n+++ b/x\n--- a/x\n").commit("odd");
      });
      return repo;
    },
    commits: { odd: { fact: "observed", fate: "merged", lines: [6, 6] } },
  },
  {
    name: "the agent works in a worktree that is removed afterwards",
    run: (world) => {
      const repo = world.repository();
      const side = repo.worktree("side", "side");
      world.session("claude-code", side).turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("tax"));
      repo.git("merge", "-q", "side");
      repo.git("worktree", "remove", "--force", side.folder);
      repo.git("branch", "-qd", "side");
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "merged", lines: [10, 10] } },
  },
  {
    name: "only a tag has the commit",
    run: (world) => {
      const repo = world.repository();
      world.session("claude-code", repo).turn((agent) => {
        agent
          .git("switch", "-c", "feature")
          .write("src/tax.js", lines("tax", 10))
          .commit("tax")
          .git("tag", "-am", "t", "v1");
      });
      repo.git("switch", "-q", "main");
      repo.git("branch", "-qD", "feature");
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "open" } },
  },
  {
    name: "a repository whose default branch is unknown",
    run: (world) => {
      const repo = world.repository();
      repo.git("branch", "-qm", "main", "one");
      repo.git("branch", "-q", "two");
      world.session("claude-code", repo).turn((agent) => agent.write("src/tax.js", lines("tax", 10)).commit("tax"));
      return repo;
    },
    commits: { tax: { fact: "observed", fate: "unknown" } },
  },
];

/** An agent's branch with two commits, squashed by the user in a given way. */
function squash(world: GitWorld, merge: (repo: Checkout) => unknown): Checkout {
  const repo = world.repository();
  world.session("claude-code", repo).turn((agent) => {
    agent.git("switch", "-c", "feature").write("src/tax.js", lines("tax", 10)).commit("tax");
    agent.write("src/vat.js", lines("vat", 5)).commit("vat");
  });
  repo.git("switch", "-q", "main");
  repo.write("src/own.js", lines("own", 4)).commit("own");
  const message = merge(repo);
  return repo.commit("squash", typeof message === "string" && message.startsWith("Squash") ? message : "Taxes (#12)");
}

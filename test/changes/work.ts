import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "#core/model/agent.ts";
import { InboxFixture, ACME as PLAIN } from "../support/inbox-fixture.ts";
import { removeFolder } from "../support/remove.ts";

/** An agent whose tool calls have a command line and an output. */
export const ACME: Agent = {
  ...PLAIN,
  emits: ["prompt.submit", "tool.start", "tool.end", "turn.end", "session.end"],
  toContent: (payload, { events }) => {
    const { command, output } = payload as { readonly command?: string; readonly output?: string };
    const fact = events[0]?.id ?? "";
    return command === undefined
      ? []
      : [
          { fact, part: "arguments", value: { command } },
          { fact, part: "result", value: { stdout: output } },
        ];
  },
};

/** Agents that work in real repositories: their tool calls run real commands, and hooks report them to a real drain. */
export class Work {
  readonly home = mkdtempSync(join(tmpdir(), "openhook-changes-"));
  readonly inbox = new InboxFixture();
  #events = 0;

  folder(name = "shop"): string {
    const path = join(this.home, name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  repository(name = "shop", url = "https://github.com/acme/shop.git"): string {
    const path = this.folder(name);
    // The log of HEAD has whole seconds: do not commit in the second of the first call
    this.run("git init -q -b main && GIT_COMMITTER_DATE=@1700000000 git commit -q --allow-empty -m first", path);
    this.run(`git remote add origin ${url}`, path);
    return path;
  }

  run(command: string, cwd: string) {
    const { stdout, stderr, status } = spawnSync("sh", ["-c", command], {
      cwd,
      encoding: "utf8",
      env: { PATH: `${join(this.home, "bin")}:${process.env["PATH"]}`, HOME: this.home, ...GIT },
    });
    return { output: `${stdout}${stderr}`, status };
  }

  head = (cwd: string): string => this.run("git rev-parse HEAD", cwd).output.trim();

  event(session: string, type: string, cwd: string, data: object = {}, extensions: object = {}) {
    this.#events++;
    const time = new Date().toISOString();
    const id = `${session}-${this.#events}`;
    const isEnvelope = !type.startsWith("turn.");
    return {
      ...(isEnvelope && { openhook: "0.1", data }),
      id,
      source: "acme",
      type,
      time,
      session_id: session,
      cwd,
      extensions,
    };
  }

  put(event: ReturnType<Work["event"]>, more: object = {}): void {
    this.inbox.put({ events: [event], ...more });
  }

  /** One prompt, some command lines as tool calls, one model call before each and one at the end. @returns their outputs */
  turn(session: string, cwd: string, commands: readonly string[], agentId?: string): readonly string[] {
    this.put(this.event(session, "prompt.submit", cwd, { prompt_length: 3 }), this.modelCall(session));
    const of = agentId === undefined ? {} : { agent_id: agentId };
    const outputs = commands.map((command) => {
      const tool_call_id = `call-${this.#events}`;
      const start = this.event(session, "tool.start", cwd, { tool_name: "Shell", tool_call_id }, of);
      this.put(start);
      const { output, status } = this.run(command, cwd);
      const end = { tool_name: "Shell", tool_call_id, status: status === 0 ? "success" : "error" };
      this.put(this.event(session, "tool.end", cwd, end, of), { command, output, ...this.modelCall(session) });
      return output;
    });
    this.put(this.event(session, "turn.end", cwd));
    return outputs;
  }

  modelCall(session: string) {
    // After the call that it follows: in the same millisecond it would belong to that call's commit
    const timeMs = Date.now() + 1;
    const key = `response:${session}-${this.#events}:`;
    const usage = { input: 1_000 + this.#events, output: 100 };
    const model = "claude-sonnet-4-5";
    return { entries: [{ kind: "model_call", key, timeMs, endMs: timeMs, model, usage, complete: true }] };
  }

  drain = () => this.inbox.drain({}, [ACME]);

  remove(): void {
    this.inbox.remove();
    removeFolder(this.home);
  }
}

// --- internal ---

const GIT = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Dev",
  GIT_AUTHOR_EMAIL: "dev@example.com",
  GIT_COMMITTER_NAME: "Dev",
  GIT_COMMITTER_EMAIL: "dev@example.com",
};

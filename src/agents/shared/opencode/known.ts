// The types of @opencode-ai/plugin 1.18.33 and recordings of 1.18.33, read 2026-11-21
import { asObject, asString } from "../payload/json.ts";
import { knownNames } from "../payload/known.ts";

/** Each of them is an event of a session. */
const ALWAYS_NEEDED = `tool.execute.before tool.execute.after session.resumed event:session.idle event:session.error
  event:session.compacted`;

/** Not needed, or not in every payload: messages and sessions are reported again with every change. */
const OTHERS = `plugin.init config dispose tool auth provider chat.message chat.params chat.headers permission.ask
  command.execute.before tool.definition shell.env experimental.chat.messages.transform
  experimental.chat.system.transform experimental.session.compacting experimental.compaction.autocontinue
  experimental.text.complete event:server.connected event:server.heartbeat event:server.instance.disposed
  event:global.disposed event:installation.updated event:installation.update-available event:project.updated
  event:catalog.updated event:integration.updated event:reference.updated event:plugin.added event:ide.installed
  event:lsp.updated event:lsp.client.diagnostics event:mcp.tools.changed event:mcp.browser.open.failed
  event:command.executed event:file.edited event:file.watcher.updated event:vcs.branch.updated event:worktree.ready
  event:worktree.failed event:pty.created event:pty.updated event:pty.exited event:pty.deleted event:tui.prompt.append
  event:tui.command.execute event:tui.toast.show event:tui.session.select event:todo.updated event:question.asked
  event:question.replied event:question.rejected event:permission.asked event:permission.updated
  event:permission.replied event:session.created event:session.updated event:session.deleted event:session.status
  event:session.diff event:session.drained event:message.updated event:message.removed event:message.part.updated event:message.part.removed
  event:message.part.delta`;

/** Names of hooks, and of bus events with `event:` before them. Other plugins may forward all bus events. */
export const KNOWN = knownNames(`${ALWAYS_NEEDED} ${OTHERS}`, "input output directory plugin worktree project", {
  eventOf: (payload, intake) => {
    const type = asString(asObject(asObject(asObject(payload)?.["input"])?.["event"])?.["type"]);
    return type === undefined ? intake.event : `event:${type}`;
  },
  notNeeded: OTHERS,
});

// openhook-otel plugin for Amp
//
// Written by `openhook-otel enable amp`, removed by `openhook-otel disable amp`; changes to it are lost.
//
// Passes Amp's plugin events to openhook-otel: writes one small file per event, and starts a drain when a turn ends. Amp waits
// for its plugins, and what a handler returns can change a prompt or a tool's result. So this file awaits nothing, returns
// nothing that changes anything, catches every error, and does nothing if openhook-otel is not installed. It does not listen to
// `tool.call`, where a plugin must decide whether a tool may run. It writes only names, ids, times and lengths: no prompt, no
// argument, no output.
import {
  ignoringErrors,
  list,
  numberOf,
  pathOf,
  startDrain,
  textOf,
  versionBeside,
  writeEvent,
} from "../shared/plugin/inbox.js";

/** Amp calls it once, in a process for all threads. */
export default function openhookOtel(amp) {
  ignoringErrors(() => {
    const listen = (name, handle, answer) =>
      amp.on(name, async (event) => {
        ignoringErrors(() => handle(amp, event ?? {}));
        return answer;
      });
    // A plugin must answer it; an empty answer adds nothing
    listen("agent.start", started, {});
    listen("tool.result", called);
    listen("agent.end", ended);
  });
}

function started(amp, { thread, id, message }) {
  const length = typeof message === "string" ? message.length : undefined;
  write(amp, thread, { type: "agent.start", id: idOf(id), length });
}

function called(amp, event) {
  write(amp, event.thread, {
    type: "tool.result",
    toolUseID: textOf(event.toolUseID),
    tool: textOf(event.tool),
    status: textOf(event.status),
    output: { exitCode: numberOf(event.output?.exitCode) },
    files: event.status === "done" ? filesOf(amp, event) : undefined,
  });
}

function ended(amp, { thread, id, status }) {
  write(amp, thread, { type: "agent.end", id: idOf(id), status: textOf(status) });
  startDrain();
}

function write(amp, thread, event) {
  const id = textOf(thread?.id);
  if (id === undefined) return;
  const cwd = ignoringErrors(() => pathOf(amp.helpers.filePathFromURI(amp.system.workspaceRoot)));
  const extension = { at: Date.now(), version: versionBeside(process.argv[1]) };
  const payload = { event: { ...event, thread: { id } }, context: { cwd }, extension };
  writeEvent({ source: "amp", keptEnv: ["AMP_DATA_DIR", "XDG_DATA_HOME"], cwd, event: event.type }, payload);
}

/** Numbers in older threads, texts in others. */
const idOf = (id) => numberOf(id) ?? textOf(id);

/** The files that a call changed, as Amp itself reads them from the call. */
const filesOf = (amp, event) =>
  ignoringErrors(() =>
    list(amp.helpers.filesModifiedByToolCall(event)).flatMap((file) => pathOf(amp.helpers.filePathFromURI(file)) ?? []),
  );

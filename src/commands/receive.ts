import { DrainLog } from "#collect/drain/log.ts";
import { runReceiver } from "#collect/native/run-receiver.ts";
import type { Context } from "#config/context.ts";
import { messageOf } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";

interface ReceiveOptions {
  /** Print nothing; problems go to the log only. For the receiver that hooks start. */
  readonly quiet: boolean;
}

/**
 * `openhook-otel receive`: receives agents' own telemetry until none has come for ten minutes.
 *
 * @returns exit code: 0, also if no agent exports or a receiver is running already; 1 if it cannot listen
 */
export async function receive(
  { quiet }: ReceiveOptions,
  context: Pick<Context, "places" | "env" | "now" | "stdout" | "nodePath" | "programPath">,
): Promise<number> {
  const tell = (text: string): void => {
    if (!quiet) context.stdout.write(`${text}\n`);
  };
  const fail = async (why: string): Promise<number> => {
    tell(`not received: ${why}`);
    const log = new DrainLog(context);
    log.line(`native telemetry is not received: ${why}`);
    await log.flush();
    return 1;
  };
  try {
    const end = await runReceiver({
      ...context,
      stateDir: context.places.stateDir,
      onListening: ({ port, agents }) =>
        tell(`receives on 127.0.0.1:${port} from ${agents.join(", ")} until nothing has come for ten minutes`),
    });
    if (end === "taken") return await fail("another program has the receiver's port");
    if (end === "off") tell(`no agent exports to the receiver: see ${suggest("enable --help")}`);
    if (end === "running") tell("a receiver is running already");
    return 0;
  } catch (error) {
    return await fail(messageOf(error));
  }
}

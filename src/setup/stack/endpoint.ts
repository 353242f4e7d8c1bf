import { join } from "node:path";
import type { Context } from "#config/context.ts";
import { loadConfig } from "#config/load.ts";

/** The Collector of the stack, as compose.yaml publishes it. */
export const STACK_ENDPOINT = "http://127.0.0.1:4318";
export const COMPOSE_FILE = join("collector-config", "compose.yaml");

/** `otlp.endpoint` in the user's file. Only the file is changed and restored; environment variables override it. */
export const endpointOfFile = async ({ places }: Context): Promise<string | undefined> =>
  (await loadConfig({ places, env: {} })).config.otlp.endpoint;

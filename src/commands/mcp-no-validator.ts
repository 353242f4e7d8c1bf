/**
 * Replaces `@modelcontextprotocol/server/_shims` in the built program. The server needs a validator of JSON Schemas only to check what it
 * asks a user through the client, which ours never does, and it brings 150 KB.
 */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("the program has no validator of JSON Schemas");
  }
}

export { default as process } from "node:process";

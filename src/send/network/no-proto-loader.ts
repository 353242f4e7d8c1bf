/**
 * Replaces `@grpc/proto-loader` in the built program: grpc-js needs it only for servers that offer channelz or load reports, and it
 * brings 400 KB of protobufjs.
 */
export const loadSync = (): never => {
  throw new Error("the program has no reader for .proto files");
};

export * from "../model/shrink.ts";

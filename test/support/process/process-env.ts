/** What every process of the tests is started with, beside what it is told. */
export const PROCESS_ENV: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  // It loads what others have compiled: commands keep nothing, nor does who is killed.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};

/**
 * Of Node, for servers and commands that end soon, where it is not their start that is tested. The code of the embedded
 * database is compiled once, when it is called, and not again for a speed that would come too late: a third of what
 * such a process takes.
 */
export const ENDS_SOON = ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];

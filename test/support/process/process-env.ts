/** What every process of the tests is started with, beside what it is told. */
export const PROCESS_ENV: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  // It loads what others have compiled: commands keep nothing, nor does who is killed.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};

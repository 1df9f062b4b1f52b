/** Environment variables of every process that tests start, in addition to the test's own. */
export const PROCESS_ENV: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  SANDBOX: 'true',
  // Processes read the compile cache of the run. Short commands and killed processes write none.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};

/** Reads the environment of a peer's process. */
export function readEnvironment() {
  const { PORT, DATABASE_URL, POOL_SIZE, PROJECT_ID } = process.env;
  if (!PORT || !DATABASE_URL || !POOL_SIZE || !PROJECT_ID) {
    throw new Error('A peer is started by the benchmark.');
  }
  return {
    port: Number(PORT),
    databaseUrl: DATABASE_URL,
    poolSize: Number(POOL_SIZE),
    /** The only project that this caller may see. */
    projectId: PROJECT_ID,
  };
}

/** PostgreSQL's own parser, as WebAssembly. A process whose database is on a single server never loads it. */
let parser: typeof import('libpg-query') | null = null;

/** Must have ended before `parseSql` is called. */
export async function loadParser(): Promise<void> {
  const loaded = await import('libpg-query');
  await loaded.loadModule();
  parser = loaded;
}

/** The syntax tree of one statement or several. Throws for what PostgreSQL can't read. */
export function parseSql(text: string): unknown {
  if (!parser) throw new Error('Bug: the SQL parser is not loaded.');
  return parser.parseSync(text);
}

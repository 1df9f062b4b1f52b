/** PostgreSQL's own parser, as WebAssembly. Processes without a cluster never load it. */
import type { ParseResult } from 'libpg-query';

let parser: typeof import('libpg-query') | null = null;

/** Must resolve before `parseSql` is called. */
export async function loadParser(): Promise<void> {
  const module = await import('libpg-query');
  await module.loadModule();
  parser = module;
}

/** Returns the syntax tree of one or several statements. Throws for a syntax error. */
export function parseSql(text: string): ParseResult {
  if (!parser) throw new Error('Bug: the SQL parser is not loaded.');
  return parser.parseSync(text);
}

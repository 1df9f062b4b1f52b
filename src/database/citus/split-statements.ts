/** Quoted text and comments, in which a semicolon ends nothing, and semicolons. */
const PART = /--[^\n]*|\/\*[\s\S]*?\*\/|'[^']*'|"[^"]*"|\$(\w*)\$[\s\S]*?\$\1\$|;/g;

/** The statements of an SQL text, without the comments before them. */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let statement = '';
  let end = 0;
  for (const { 0: part, index } of sql.matchAll(PART)) {
    statement += sql.slice(end, index);
    end = index + part.length;
    if (part === ';') {
      statements.push(statement.trim());
      statement = '';
    } else if (!part.startsWith('--') && !part.startsWith('/*')) {
      statement += part;
    }
  }
  return [...statements, (statement + sql.slice(end)).trim()].filter(Boolean);
}

/** Quoted or bare, and what ends it. */
const VALUE = /(?:"((?:[^"\\]|""|\\[\s\S])*)"|([^,"()]*))([,)])/gy;

/** The columns of a row that PostgreSQL has written as one text: `(a,"b, c",)`. */
export function compositeValues(row: string): (string | null)[] {
  const values: (string | null)[] = [];
  VALUE.lastIndex = 1;
  for (let match = VALUE.exec(row); match; match = VALUE.exec(row)) {
    const [, quoted, bare, end] = match;
    values.push(quoted === undefined ? bare || null : quoted.replace(/(["\\])([\s\S])/g, '$2'));
    if (end === ')') break;
  }
  return values;
}

/** JSON texts that are expensive to parse, to validate or to explain. */

export const MIB = 1024 * 1024;

/** Returns how much CPU time a message may use in an iteration of the event loop, in milliseconds. */
export function toStallMsMax(bytes: number): number {
  return Math.max(50, (10 * bytes) / MIB);
}

const repeatItem = (item: string, bytes: number) =>
  `[${Array.from({ length: Math.floor(bytes / (item.length + 1)) }, () => item).join(',')}]`;

/** Returns members with different names. */
function createMembers(bytes: number): string {
  const members = Array.from({ length: Math.floor(bytes / 14) }, (_, index) => `"name${index}":1`);
  return `{${members.join(',').slice(0, bytes)}`.replace(/,[^,]*$/, '}');
}

/** Returns texts of about this size. Those with a limit in their name are the largest that are parsed. */
export function createHostileTexts(bytes: number): { name: string; text: string }[] {
  const levels = Math.floor(bytes / 2) - 10;
  const mebibytes = Math.max(1, bytes / MIB);
  const padding = `"${'x'.repeat(Math.max(0, bytes - 49_000 * 3 * mebibytes - 200))}"`;
  const lists = '[],'.repeat(Math.min(49_000 * mebibytes, bytes / 3));
  const numbers = '1,'.repeat(Math.min(240_000 * mebibytes, bytes / 2 - 30));
  const rest = 'x'.repeat(Math.max(0, bytes - numbers.length - 30));
  return [
    { name: 'lists', text: repeatItem('[]', bytes) },
    { name: 'objects', text: repeatItem('{}', bytes) },
    { name: 'numbers', text: repeatItem('1', bytes) },
    { name: 'different names', text: createMembers(bytes) },
    { name: 'nested lists', text: '['.repeat(levels) + ']'.repeat(levels) },
    { name: 'records of another form', text: repeatItem('{"id":1,"properties":[]}', bytes) },
    { name: 'quotes', text: JSON.stringify('"'.repeat(levels)) },
    { name: 'lists up to the limit', text: `[${lists}${padding}]` },
    {
      name: 'numbers up to the limit, and an id',
      text: `[${numbers}12345678901234567890,"${rest}"]`,
    },
    { name: 'marks', text: JSON.stringify(`${'!'.repeat(bytes - 10)}@`) },
  ];
}

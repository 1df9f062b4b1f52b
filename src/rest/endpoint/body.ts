/** Reads request bodies: JSON only, uncompressed. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createScanner } from 'jsonc-parser';
import { addIssues, issueAt } from '../../domain/issues.ts';
import { DomainError, type Issue, invalidInput } from '../../errors.ts';

export function registerBodyParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, readJson);
}

async function readJson({ headers }: FastifyRequest, text: string | Buffer): Promise<unknown> {
  if (headers['content-encoding']) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the body uncompressed.');
  }
  return text === '' ? undefined : parseJson(String(text));
}

/** A member named __proto__ is an ordinary member here, which validation refuses. */
function parseJson(text: string): unknown {
  const value = parseText(text);
  // Without this, `null` would count as an empty body, which for some endpoints means "all".
  if (value === null) {
    throw invalidInput([{ in: 'body', name: 'body', detail: 'must be a JSON object.' }]);
  }
  const issues = listRepeatedMembers(text);
  if (issues.length > 0) throw invalidInput(issues);
  return value;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DomainError('BAD_USER_INPUT', 'The body is not JSON.');
  }
}

/** An object or array that contains the scanner's position. */
interface Open {
  names: Set<string>;
  /** The name of the current member of an object, or the index of the current item of an array. */
  at: string | number;
}

/** JSON.parse silently uses the last of several members with one name. `text` is valid JSON of any depth. */
function listRepeatedMembers(text: string): Issue[] {
  const issues: Issue[] = [];
  const open: Open[] = [];
  const scanner = createScanner(text, true);
  let isName = false;
  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    const token = text[scanner.getTokenOffset()];
    const inner = open.at(-1);
    if (token === '{') open.push({ names: new Set(), at: '' });
    else if (token === '[') open.push({ names: NO_NAMES, at: 0 });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && typeof inner?.at === 'number') inner.at += 1;
    else if (isName && inner) {
      inner.at = scanner.getTokenValue();
      if (inner.names.has(inner.at)) addIssues(issues, [duplicateIssue(open.map(({ at }) => at))]);
      inner.names.add(inner.at);
    }
    isName = (token === '{' || token === ',') && typeof open.at(-1)?.at === 'string';
  }
  return issues;
}

const NO_NAMES = new Set<string>();

function duplicateIssue(path: PropertyKey[]): Issue {
  return issueAt(path, 'appears more than once in the object.');
}

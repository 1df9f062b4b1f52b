/** Parses request bodies, which must be uncompressed JSON. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createScanner } from 'jsonc-parser';
import { addIssues, createInputIssue } from '../../domain/issues.ts';
import { DomainError, type Issue, invalidInput } from '../../errors.ts';

export function registerBodyParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, readBody);
}

async function readBody({ headers }: FastifyRequest, text: string | Buffer): Promise<unknown> {
  if (headers['content-encoding']) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send the body uncompressed.');
  }
  return text === '' ? undefined : parseUnambiguousJson(String(text));
}

/** Needs no protection from `__proto__`: `JSON.parse` creates an ordinary member, which validation refuses. */
function parseUnambiguousJson(text: string): unknown {
  const value = parseSyntax(text);
  // A `null` would count as an empty body, which for some endpoints means "all".
  if (value === null) {
    throw invalidInput([{ in: 'body', name: 'body', detail: 'must be a JSON object.' }]);
  }
  const issues = listRepeatedMembers(text);
  if (issues.length > 0) throw invalidInput(issues);
  return value;
}

function parseSyntax(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DomainError('BAD_USER_INPUT', 'The body is not JSON.');
  }
}

/** An object or array that contains the scanner's position. */
interface Container {
  names: Set<string>;
  /** The name of the current member of an object, or the index of the current item of an array. */
  key: string | number;
}

/**
 * Lists members that occur twice in an object, of which `JSON.parse` silently uses the last. `text` is valid JSON. It
 * is scanned without recursion, because deep nesting would overflow the stack.
 */
function listRepeatedMembers(text: string): Issue[] {
  const issues: Issue[] = [];
  const containers: Container[] = [];
  const scanner = createScanner(text, true);
  let isName = false;
  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    const token = text[scanner.getTokenOffset()];
    const inner = containers.at(-1);
    if (token === '{') containers.push({ names: new Set(), key: '' });
    else if (token === '[') containers.push({ names: new Set(), key: 0 });
    else if (token === '}' || token === ']') containers.pop();
    else if (token === ',' && typeof inner?.key === 'number') inner.key += 1;
    else if (isName && inner) {
      inner.key = scanner.getTokenValue();
      if (inner.names.has(inner.key)) {
        const path = containers.map(({ key }) => key);
        addIssues(issues, [createInputIssue(path, 'appears more than once in the object.')]);
      }
      inner.names.add(inner.key);
    }
    isName = (token === '{' || token === ',') && typeof containers.at(-1)?.key === 'string';
  }
  return issues;
}

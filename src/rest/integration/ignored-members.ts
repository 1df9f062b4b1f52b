/** Members of a manifest that the reference API accepts and ignores. */
import { pathName } from '../../domain/issues.ts';
import type { Parts, RestRequest } from '../endpoint/endpoint.ts';

type Json = Record<string, unknown>;

/** The reference API watches fields of updates alone, and its manifests have no deletions of objects. */
const IGNORED = ['delete', 'createEvent.watchFieldsAuto', 'deleteEvent.watchFieldsAuto'];

export const WARNED =
  'A `Warning` header names each member that is ignored, and each field that a later one replaces.';

/** Drops the ignored members of the contents at `path` in the body, with a warning for each. */
export function withoutIgnored(
  parts: Parts,
  path: readonly string[],
  { warnings }: Pick<RestRequest, 'warnings'>,
): Parts {
  const body = structuredClone(parts.body) as Json | undefined;
  const found = path.reduce<unknown>((inner, name) => (inner as Json | undefined)?.[name], body);
  const contents = Array.isArray(found) ? found : [found];
  for (const [index, content] of contents.entries()) {
    const at = Array.isArray(found) ? [...path, index] : path;
    for (const block of ['read', 'write', 'subscribe']) {
      const objects = memberOf(memberOf(content, block), 'objects');
      if (!Array.isArray(objects)) continue;
      for (const [position, object] of objects.entries()) {
        drop(object, [...at, block, 'objects', position], warnings);
      }
    }
  }
  return { ...parts, body };
}

function drop(object: unknown, at: readonly PropertyKey[], warnings: string[]): void {
  for (const name of IGNORED) {
    const members = name.split('.');
    const last = members.pop() as string;
    const holder = members.reduce(memberOf, object);
    if (memberOf(holder, last) === undefined) continue;
    delete (holder as Json)[last];
    warnings.push(`${pathName([...at, ...members, last])}: is ignored.`);
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Json)[name]
    : undefined;
}
